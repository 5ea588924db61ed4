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
  for _, list in ipairs { earlier.flushed[path] or {}, earlier.writing[path] or {} } do
    if list[1] then return list[#list].range_bytes end
  end
end

--- What the earlier part promised and what it was at, for the test file: the
--- newest generation that was flushed and the newest that was begun, 0 for none.
---@param earlier storlua.Resume
---@param path string
---@return integer flushed, integer begun, integer size_bytes
local function promises(earlier, path)
  local flushed, begun, size_bytes = 0, 0, 0
  for _, pass in ipairs(earlier.flushed[path] or {}) do
    if pass.generation > flushed then
      flushed, size_bytes = pass.generation, pass.range_bytes
    end
  end
  for _, pass in ipairs(earlier.writing[path] or {}) do
    begun = math.max(begun, pass.generation)
  end
  return flushed, math.max(begun, flushed), size_bytes
end

local function verify_spec(plan, flushed, begun, size_bytes)
  return {
    path = plan.path, operation = "read", verify = true, record_bytes = plan.record_bytes,
    range_bytes = size_bytes, direct = plan.direct, cold = not plan.direct and "drop" or nil,
    target_id = soak.TARGET_ID, generation = flushed,
    -- A rewrite that was cut in the middle leaves either generation.
    legal = { {
      offset = 0, length = size_bytes, generation_min = flushed, generation_max = begun,
    } },
  }
end

--- Takes up the ledger of the part that was cut and verifies what its last
--- completed flush promised. Everything that is lost is a failed check.
---@async
---@param t storlua.Run
---@param plan storlua.SoakPlan
function soak_resume.verify_promises(t, plan)
  local earlier = t.resume
  local flushed, begun, size_bytes = promises(earlier, plan.path)
  -- Generations go on: a stale sector of an earlier part stays recognisable.
  plan.generation = begun
  plan.is_verified = earlier.rounds_ended > 0
  t:check("resume.same_boot", not earlier.rebooted, "the machine was started anew during the run")
  t:note("resume.soaked_seconds", earlier.soaked_ns // 1000000000)
  if earlier.interrupted then
    t:note("resume.promised", "the earlier part was stopped and removed its file")
    return
  end
  if flushed == 0 then
    t:note("resume.promised", "nothing was flushed before the cut")
    return
  end
  local stat = fs.try_stat(plan.path)
  local found_bytes = stat and stat.size_bytes or 0
  if not t:check("resume.file", found_bytes >= size_bytes,
    "%s: generation %d was flushed over %d bytes, and the file has %d", plan.path, flushed,
    size_bytes, found_bytes) then return end
  local result = t:measure("resume.verify", verify_spec(plan, flushed, begun, size_bytes))
  soak.check_source(t, "resume.verify", result)
  local verify = result.verify
  t:note("resume.promised", ("generation %d of %d bytes; %d sectors verified, %d of the pass "
    .. "that was cut, %d lost"):format(flushed, size_bytes, verify.sectors,
    begun > flushed and verify.sectors - verify.old_sectors - verify.bad_sectors or 0,
    verify.bad_sectors))
  soak.keep_evidence(t, plan, "resume.verify", verify)
  plan.is_verified = plan.is_verified or size_bytes == plan.size_bytes
end

return soak_resume
