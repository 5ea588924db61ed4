-- SPDX-License-Identifier: MIT
--- A soak that was cut off: what its ledger says was promised, and whether the
--- medium kept it.

local soak = require("storlua.soak")

local soak_resume = {}

--- Files of an earlier part with promises of which none of the paths is one:
--- these would stay unchecked.
---@param earlier storlua.Resume
---@param paths table<string, boolean>
---@return string|nil
function soak_resume.unmatched(earlier, paths)
  for _, ledger in ipairs { earlier.flushed, earlier.writing } do
    for path, passes in pairs(ledger) do
      if passes[1] and not paths[path] then return path end
    end
  end
end

-- The newest generation of the passes that cover a byte, 0 for none.
local function newest(passes, offset)
  local generation = 0
  for _, pass in ipairs(passes) do
    if pass.range_offset <= offset and offset < pass.range_offset + pass.range_bytes then
      generation = math.max(generation, pass.generation)
    end
  end
  return generation
end

-- Cuts the file where the passes of the ledger begin and end, and says for each
-- piece what was promised and what was under way.
local function legal_of(flushed, writing, size_bytes)
  local edges, seen = {}, {}
  local function edge(offset)
    if offset >= 0 and offset <= size_bytes and not seen[offset] then
      seen[offset] = true
      edges[#edges + 1] = offset
    end
  end
  edge(0)
  edge(size_bytes)
  for _, list in ipairs { flushed, writing } do
    for _, pass in ipairs(list) do
      edge(pass.range_offset)
      edge(pass.range_offset + pass.range_bytes)
    end
  end
  table.sort(edges)
  local legal, begun_bytes = {}, 0
  for i = 1, #edges - 1 do
    local promised, begun = newest(flushed, edges[i]), newest(writing, edges[i])
    local length = edges[i + 1] - edges[i]
    if begun > promised then begun_bytes = begun_bytes + length end
    legal[#legal + 1] = { offset = edges[i], length = length, generation_min = promised,
                          generation_max = math.max(promised, begun) }
  end
  return legal, begun_bytes
end

local function newest_generation(passes)
  local generation = 0
  for _, pass in ipairs(passes) do generation = math.max(generation, pass.generation) end
  return generation
end

local function verify_spec(plan, legal, size_bytes)
  return {
    path = plan.path, operation = "read", verify = true, record_bytes = plan.record_bytes,
    range_bytes = size_bytes, direct = plan.direct, cold = not plan.direct and "drop" or nil,
    target_id = plan.target_id, generation = legal[1].generation_min, legal = legal,
  }
end

--- Whether an earlier part promised something of a file that is there still.
---@param earlier storlua.Resume
---@param path string
---@return boolean
function soak_resume.is_promised(earlier, path)
  local passes = earlier.flushed[path]
  return passes ~= nil and passes[1] ~= nil
end

--- Takes up the ledger of the part that was cut and verifies what its last
--- completed flush promised. Everything that is lost is a failed check.
---@async
---@param t storlua.Run
---@param plan storlua.SoakPlan
function soak_resume.verify_promises(t, plan)
  local earlier, id = t.resume, plan.prefix .. "resume"
  local flushed, writing = earlier.flushed[plan.path] or {}, earlier.writing[plan.path] or {}
  -- Generations go on: a stale sector of an earlier part stays recognisable.
  plan.generation = earlier.newest[plan.path] or 0
  plan.is_verified = earlier.rounds_ended > 0
  t:check(id .. ".same_boot", not earlier.rebooted, "the machine was started anew during the run")
  t:note(id .. ".soaked_seconds", earlier.soaked_ns // 1000000000)
  if earlier.removed[plan.path] then
    t:note(id .. ".promised", "the earlier part was stopped and removed its file")
    return
  end
  if not flushed[1] then
    t:note(id .. ".promised", "nothing was flushed before the cut")
    return
  end
  local size_bytes = earlier.sizes[plan.path]
  if (plan.found_bytes or 0) < size_bytes then plan.keep(nil) end
  if not t:check(id .. ".file", (plan.found_bytes or 0) >= size_bytes,
    plan.found_bytes and "%s: %d bytes were flushed, and the file has %d"
      or "%s: %d bytes were flushed, and the file is gone", plan.path, size_bytes,
    plan.found_bytes) then return end
  local legal, begun_bytes = legal_of(flushed, writing, size_bytes)
  id = id .. ".verify"
  local result = t:measure(id, verify_spec(plan, legal, size_bytes),
    { on_result = soak.keeper(t, plan, id) })
  if result["end"] ~= "complete" then
    t:abort("%s did not complete (%s): not all was verified, %s is kept", id, result["end"],
      plan.path)
  end
  local verify = result.verify
  if not soak.has_bad(verify) then plan.keep(nil) end
  soak.check_source(t, id, result)
  local begun_sectors = begun_bytes // 512 - verify.old_sectors - verify.bad_sectors
  t:note(plan.prefix .. "resume.promised", ("generation %d of %d bytes; %d sectors verified, %d "
    .. "of the pass that was cut, %d lost"):format(newest_generation(flushed), size_bytes,
    verify.sectors, math.max(0, begun_sectors), verify.bad_sectors))
  soak.end_if_bad(t, plan, id, verify)
  plan.is_verified = plan.is_verified or size_bytes == plan.size_bytes
end

return soak_resume
