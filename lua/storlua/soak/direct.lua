-- SPDX-License-Identifier: MIT
--- Whether a soak reads and writes past the page cache: as asked for, and as
--- the file system and the sizes of the records allow.

local fs = require("storlua.fs")
local storlua = require("storlua")
local workload = require("storlua.workload")

local direct = {}

-- No file system wants larger blocks, and most of them want these.
local PROBE_MAX_BYTES = 65536
local BLOCK_BYTES = 4096

-- One small transfer on the test file itself, because not every file system
-- tells. What an earlier part promised is only read; else nothing of it stays.
local function probe(t, plan)
  local bytes, stat = BLOCK_BYTES, fs.try_stat(plan.path)
  if plan.record_bytes % BLOCK_BYTES == 0 then
    bytes = math.min(plan.record_bytes, PROBE_MAX_BYTES)
  end
  local spec = { path = plan.path, direct = true, limit_records = 1 }
  local there_bytes = stat and stat.kind == "file" and stat.size_bytes or 0
  if there_bytes >= BLOCK_BYTES then
    spec.operation = "read"
    spec.record_bytes = math.min(bytes, there_bytes - there_bytes % BLOCK_BYTES)
    return workload.try_run(spec)
  end
  local _ <close> = t:scratch_file(plan.path)
  spec.operation, spec.record_bytes, spec.size_bytes = "write", bytes, bytes
  return workload.try_run(spec)
end

-- Why direct I/O cannot be had; nil when it can.
local function obstacle(t, plan)
  local result, err = probe(t, plan)
  if not result then
    if err.code ~= "EINVAL" then error(err, 0) end
    return err.message
  end
  local unit = result.target.offset_align or 1
  local record = plan.record_bytes % unit ~= 0 and "--record is " .. plan.record_bytes
    or plan.random_bytes % unit ~= 0 and "--random-record is " .. plan.random_bytes
  return record and ("direct I/O on %s needs multiples of %d bytes: %s"):format(plan.path, unit,
    record) or nil
end

--- Decides for the file of a plan. "auto" goes through the page cache where it
--- has to, and "on" is refused there.
---@async
---@param t storlua.Run
---@param opt table
---@param plan storlua.SoakPlan
function direct.choose(t, opt, plan)
  if opt.direct == "off" then
    plan.direct = false
    return
  end
  plan.cached_why = obstacle(t, plan)
  plan.direct = plan.cached_why == nil
  if plan.cached_why and opt.direct == "on" then
    storlua.usage(("--direct on: %s; --direct auto does without"):format(plan.cached_why))
  end
end

return direct
