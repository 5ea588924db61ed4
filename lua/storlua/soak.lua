-- SPDX-License-Identifier: MIT
--- What every soak shares: passes over one file whose every sector says when
--- it was written, a ledger of what the medium has promised, and the check of
--- those promises after a crash.
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
---@field write_limit_bytes? integer over all parts of the run
---@field keep? fun(reason: string) makes the file stay when the run ends

local TARGET_ID = 1 -- one file per soak; part of every stamp

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
    target_id = TARGET_ID,
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

--- Writes the whole file once and flushes it.
---@async
---@param t storlua.Run
---@param plan storlua.SoakPlan
---@param pass table id, order
---@param labels table
---@return table result of the workload
function soak.write(t, plan, pass, labels)
  local generation = plan.generation + 1
  plan.generation = generation
  t:event("writing", ledger(plan, generation))
  local result = t:measure(pass.id, workload_spec(plan, pass, generation), { labels = labels })
  if result["end"] ~= "complete" then
    t:abort("the pass %s did not complete (%s): nothing more is written", pass.id, result["end"])
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

-- The next pass would overwrite what a verification found: it is the last
-- thing of the run, and the file stays.
local function keep_evidence(t, plan, id, verify)
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

--- Reads the whole file once and compares every sector.
---@async
---@param t storlua.Run
---@param plan storlua.SoakPlan
---@param pass table id, order
---@param labels table
---@return table result of the workload
function soak.verify(t, plan, pass, labels)
  local spec = workload_spec(plan, pass, plan.flushed_generation)
  local result = t:measure(pass.id, spec, { labels = labels })
  if plan.engine == "null" then return result end
  soak.check_source(t, pass.id, result)
  keep_evidence(t, plan, pass.id, result.verify)
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
      or "residency is unknown here (%s): use --direct on",
    cache.resident_before_bytes or cache.source)
end

--- The size of the test file in an earlier part; nil when it wrote nothing.
---@param earlier storlua.Resume
---@param path string
---@return integer|nil
function soak.earlier_size(earlier, path)
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
    target_id = TARGET_ID, generation = flushed,
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
function soak.verify_promises(t, plan)
  local earlier = t.resume
  local flushed, begun, size_bytes = promises(earlier, plan.path)
  -- Generations go on: a stale sector of an earlier part stays recognisable.
  plan.generation = begun
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
  keep_evidence(t, plan, "resume.verify", verify)
end

return soak
