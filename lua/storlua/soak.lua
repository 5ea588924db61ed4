-- SPDX-License-Identifier: MIT
--- What every soak shares: passes over one file whose every sector says when
--- it was written, and a ledger of what the medium has promised, which
--- storlua.soak_resume checks after a crash.
---
--- A pass that writes is announced (`writing`) before it starts and confirmed
--- (`flushed`) after its flush returned; both are on disk before the next step.
--- Whoever resumes can tell from them which generations are legal: the one that
--- was promised, and the one that was under way.

local device = require("storlua.device")
local fs = require("storlua.fs")
local limits = require("storlua.memory.limits")

local soak = {}

---@class storlua.SoakPlan
---@field path string the test file
---@field size_bytes integer
---@field record_bytes integer of sequential passes
---@field random_bytes integer of random passes
---@field direct boolean
---@field engine string
---@field generation integer newest generation that was begun
---@field flushed_generation integer newest one that is on the medium
---@field seconds number how long in all
---@field write_limit_bytes? integer over all parts of the run
---@field cut? table what a pass that was cut by the time left: bytes (rewritten),
--- generation_min (of the rest, 0: never written)
---@field is_verified? boolean the whole file was, at least once
---@field keep? fun(reason: string) makes the file stay when the run ends

soak.TARGET_ID = 1 -- one file per soak; part of every stamp

--- Makes the plan of a soak from its options.
---@param fields table path, size_bytes, record_bytes, random_bytes, direct, engine
---@return storlua.SoakPlan
function soak.plan(fields)
  fields.generation = 0
  fields.flushed_generation = 0
  return fields
end

-- For files that lie in memory: half of what is free stays so, and never less
-- than what limits.read() keeps for others.
local function memory_room_bytes()
  local l = limits.read()
  return math.min(l.free_bytes // 2, l.room_bytes)
end

--- How large a new file may become in a directory.
---@async
---@param dir string
---@return table bytes, limit (in words), in_memory
function soak.room(dir)
  local mount = device.of_path(dir).mount
  local in_memory = mount ~= nil and (mount.type == "tmpfs" or mount.type == "ramfs")
  local room = {
    bytes = fs.space(dir).available_bytes, limit = "free space", in_memory = in_memory,
  }
  local memory_bytes = in_memory and memory_room_bytes()
  -- ramfs reports no size at all: there the memory is the only limit.
  if memory_bytes and (memory_bytes < room.bytes or mount.type == "ramfs") then
    room.bytes, room.limit = memory_bytes, "half of the free memory"
  end
  return room
end

local function workload_spec(plan, pass, generation)
  local reads = pass.operation == "read"
  local null = plan.engine == "null"
  return {
    path = not null and plan.path or nil,
    engine = plan.engine,
    operation = pass.operation,
    order = pass.order,
    seed = plan.seed + generation,
    record_bytes = pass.order == "random" and plan.random_bytes or plan.record_bytes,
    size_bytes = not reads and plan.size_bytes or nil,
    range_bytes = plan.size_bytes,
    direct = plan.direct,
    flush = reads and "none" or "end",
    stamp = not reads,
    verify = reads and not null,
    cold = reads and not plan.direct and not null and "drop" or nil,
    generation = generation,
    target_id = soak.TARGET_ID,
    rate_bytes_s = plan.rate_bytes_s,
    virtual_op_ns = null and 1000000 or nil,
  }
end

local function ledger(plan, generation)
  return {
    target = plan.path, generation = generation,
    range_offset = 0, range_bytes = plan.size_bytes,
  }
end

--- Writes the whole file once and flushes it; past `seconds` it stops, and
--- plan.cut says how far it came.
---@async
---@param t storlua.Run
---@param plan storlua.SoakPlan
---@param pass table id, order
---@param labels table
---@param seconds? number
---@return table result of the workload
function soak.write(t, plan, pass, labels, seconds)
  local generation = plan.generation + 1
  plan.generation = generation
  t:event("writing", ledger(plan, generation))
  local spec = workload_spec(plan, pass, generation)
  if seconds then
    spec.limit_records = (plan.size_bytes - 1) // spec.record_bytes + 1 -- one pass
    spec.limit_seconds = math.max(seconds, 0.001)
  end
  local result = t:measure(pass.id, spec, { labels = labels })
  if result["end"] ~= "complete" then
    t:abort("the pass %s did not complete (%s): nothing more is written", pass.id, result["end"])
  end
  if result.write.bytes < plan.size_bytes then
    plan.cut = { bytes = result.write.bytes, generation_min = plan.flushed_generation }
    return result
  end
  plan.flushed_generation = generation
  t:event("flushed", ledger(plan, generation))
  return result
end

--- True when one more pass of writing stays below the limit.
---@param plan storlua.SoakPlan
---@return boolean
function soak.may_write(plan)
  if not plan.write_limit_bytes then return true end
  return (plan.generation + 1) * plan.size_bytes <= plan.write_limit_bytes
end

--- The next pass would overwrite what a verification found: bad sectors are the
--- last thing of a run, and the file stays.
---@param t storlua.Run
---@param plan storlua.SoakPlan
---@param id string case id of the measure
---@param verify table
function soak.keep_evidence(t, plan, id, verify)
  if not verify or verify.bad_sectors == 0 then return end
  local kinds = {}
  for kind, count in pairs(verify.damage) do
    if count > 0 then kinds[#kinds + 1] = ("%d %s"):format(count, kind) end
  end
  table.sort(kinds)
  local what = ("%s: %d bad sectors (%s), the first at byte %d"):format(id, verify.bad_sectors,
    table.concat(kinds, ", "), verify.bad[1].offset)
  if plan.keep then plan.keep(what) end
  t:note("evidence", ("%s is kept; remove it and its .owner file when done"):format(plan.path))
  t:abort("%s; %s is kept as evidence", what, plan.path)
end

-- What a pass that was cut left: both generations in a file that was whole
-- before, else the beginning of one.
local function expect_cut(plan, spec)
  if plan.cut.generation_min == 0 then
    spec.range_bytes = plan.cut.bytes
    return
  end
  spec.legal = { {
    offset = 0, length = plan.size_bytes, generation_min = plan.cut.generation_min,
    generation_max = plan.generation,
  } }
end

-- As both generations are legal anywhere, how many sectors hold the older one
-- tells whether a rewrite was lost.
local function check_cut(t, plan, id, verify)
  if plan.cut.generation_min == 0 then return end
  local expected = (plan.size_bytes - plan.cut.bytes) // 512
  t:check(id .. ".rewritten", verify.old_sectors == expected,
    "%d sectors hold what was there before the pass that the time cut, %d were left to it",
    verify.old_sectors, expected)
end

--- Reads the whole file once and compares every sector.
---@async
---@param t storlua.Run
---@param plan storlua.SoakPlan
---@param pass table id, order
---@param labels table
---@return table result of the workload
function soak.verify(t, plan, pass, labels)
  local spec = workload_spec(plan, pass, plan.cut and plan.generation or plan.flushed_generation)
  if plan.cut and spec.verify then expect_cut(plan, spec) end
  local result = t:measure(pass.id, spec, { labels = labels })
  if plan.engine == "null" then return result end
  soak.check_source(t, pass.id, result)
  soak.keep_evidence(t, plan, pass.id, result.verify)
  if plan.cut then check_cut(t, plan, pass.id, result.verify) end
  plan.is_verified = plan.is_verified or spec.range_bytes == plan.size_bytes
  if result["end"] ~= "complete" then
    t:abort("the pass %s did not complete (%s): not all was verified", pass.id, result["end"])
  end
  return result
end

--- A verification that was served from memory says nothing about the medium.
---@param t storlua.Run
---@param id string case id of the measure
---@param result table
function soak.check_source(t, id, result)
  local target, cache = result.target, result.cache
  if target.ram_backed then
    t:note("cold_reads", "no cold read was possible: the file system lies in memory")
    return
  end
  if target.direct then return end
  t:check(id .. ".from_medium", cache.cold == true,
    cache.resident_before_bytes
      and "%s bytes of the file were in the page cache: not all of it came from the medium"
      or "residency is unknown here (%s): use direct I/O",
    cache.resident_before_bytes or cache.source)
end

return soak
