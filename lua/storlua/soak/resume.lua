-- SPDX-License-Identifier: MIT
--- A soak that was cut off: what its ledger says was promised, and whether the
--- medium kept it.

local fs = require("storlua.fs")
local soak = require("storlua.soak")

local soak_resume = {}

--- The size of the test file in an earlier part; nil when it wrote nothing.
---@param earlier storlua.Resume
---@param path string
---@return integer|nil
function soak_resume.earlier_size(earlier, path)
  local size_bytes
  for _, list in ipairs { earlier.flushed[path] or {}, earlier.writing[path] or {} } do
    for _, pass in ipairs(list) do
      size_bytes = math.max(size_bytes or 0, pass.range_offset + pass.range_bytes)
    end
  end
  return size_bytes
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

local function newest_generation(...)
  local generation = 0
  for _, list in ipairs { ... } do
    for _, pass in ipairs(list) do generation = math.max(generation, pass.generation) end
  end
  return generation
end

local function verify_spec(plan, legal, size_bytes)
  return {
    path = plan.path, operation = "read", verify = true, record_bytes = plan.record_bytes,
    range_bytes = size_bytes, direct = plan.direct, cold = not plan.direct and "drop" or nil,
    target_id = plan.target_id, generation = legal[1].generation_min, legal = legal,
  }
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
  plan.generation = newest_generation(flushed, writing)
  plan.is_verified = earlier.rounds_ended > 0
  t:check(id .. ".same_boot", not earlier.rebooted, "the machine was started anew during the run")
  t:note(id .. ".soaked_seconds", earlier.soaked_ns // 1000000000)
  if earlier.interrupted then
    t:note(id .. ".promised", "the earlier part was stopped and removed its file")
    return
  end
  if not flushed[1] then
    t:note(id .. ".promised", "nothing was flushed before the cut")
    return
  end
  local size_bytes = soak_resume.earlier_size(earlier, plan.path)
  local stat = fs.try_stat(plan.path)
  local found_bytes = stat and stat.size_bytes or 0
  if not t:check(id .. ".file", found_bytes >= size_bytes,
    "%s: %d bytes were flushed, and the file has %d", plan.path, size_bytes,
    found_bytes) then return end
  local legal, begun_bytes = legal_of(flushed, writing, size_bytes)
  local result = t:measure(id .. ".verify", verify_spec(plan, legal, size_bytes))
  soak.check_source(t, id .. ".verify", result)
  local verify = result.verify
  t:note(id .. ".promised", ("generation %d of %d bytes; %d sectors verified, %d of the pass "
    .. "that was cut, %d lost"):format(newest_generation(flushed), size_bytes, verify.sectors,
    math.max(0, begun_bytes // 512 - verify.old_sectors - verify.bad_sectors),
    verify.bad_sectors))
  soak.keep_evidence(t, plan, id .. ".verify", verify)
  plan.is_verified = plan.is_verified or size_bytes == plan.size_bytes
end

return soak_resume
