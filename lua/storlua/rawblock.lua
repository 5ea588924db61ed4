-- SPDX-License-Identifier: MIT
--- Eight tests of a device or file: sequential and random, write and read,
--- each in two severities. Severe: every write is synced (O_SYNC). Less
--- severe: one flush at the end. All of them past the page cache.

local errors = require("storlua.errors")
local fs = require("storlua.fs")
local medium = require("storlua.workload.medium")
local quantity = require("storlua.quantity")
local reader = require("storlua.report.reader")
local room_in = require("storlua.room")
local storlua = require("storlua")
local target_of = require("storlua.target")
local task = require("storlua.task")
local watch = require("storlua.watch")

local rawblock = {
  SEVERITIES = { "severe", "less_severe" },
  TESTS = {
    { id = "seq_write", operation = "write", order = "sequential" },
    { id = "seq_read", operation = "read", order = "sequential" },
    { id = "rand_write", operation = "write", order = "random" },
    { id = "rand_read", operation = "read", order = "random" },
  },
  FILE_NAME = "storlua.rawblock",
}

--- The tests that the options leave: {id, severity, test, index} in order.
---@param opt table read_only
---@return table[]
function rawblock.cases(opt)
  local cases = {}
  for _, severity in ipairs(rawblock.SEVERITIES) do
    for _, test in ipairs(rawblock.TESTS) do
      if test.operation == "read" or not opt.read_only then
        cases[#cases + 1] = {
          id = severity .. "." .. test.id, severity = severity, test = test, index = #cases,
        }
      end
    end
  end
  return cases
end

-- A place to start at that each run and each severity has of its own; reads
-- begin half the target away from the writes of the same run.
local function first_visit(plan, case, run, records)
  local mixed = plan.seed + run * 2 + (case.severity == "severe" and 1 or 0)
  mixed = (mixed * 6364136223846793005 + 1442695040888963407) >> 33
  local half = case.test.operation == "read" and records // 2 or 0
  return (mixed + half) % records
end

--- The workload of one test in one run.
---@param plan table path, size_bytes, record_bytes, random_bytes, runtime_seconds, direct, seed,
--- in_memory
---@param case table of rawblock.cases
---@param run integer from 1
---@return table spec
function rawblock.spec(plan, case, run)
  local test = case.test
  local writes, random = test.operation == "write", test.order == "random"
  local severe = case.severity == "severe"
  local record = random and plan.random_bytes or plan.record_bytes
  local records = math.max(1, (plan.size_bytes + record - 1) // record)
  return {
    path = plan.path, operation = test.operation, order = test.order, record_bytes = record,
    range_bytes = plan.size_bytes, direct = plan.direct, limit_seconds = plan.runtime_seconds,
    -- What is read again through the page cache comes from there.
    limit_records = not writes and not plan.direct and not plan.in_memory and records or nil,
    -- Reads have an order of their own: they do not follow the writes.
    seed = (plan.seed + run * 16 + case.index) & math.maxinteger,
    first_visit = not random and first_visit(plan, case, run, records) or 0,
    open_sync = writes and severe and "full" or "none",
    flush = writes and not severe and "end" or "none",
    cold = not writes and not plan.direct and "drop" or nil,
  }
end

-- Tests that an earlier part of a resumed run has done.
local function done_before(t)
  local done = {}
  if not t.resume then return done end
  reader.read(t.run_dir, function(fields)
    if fields.kind == "measure" and fields.verdict == "pass" then
      done[("%s %s"):format(fields.case_id, fields.labels and fields.labels.run or 0)] = true
    end
  end)
  return done
end

-- A row of the tables is of one test: a resume does not change it.
local function check_resume(t, opt)
  local before = t.resume and t.resume.options or opt
  for _, name in ipairs { "record", "random_record", "size", "direct" } do
    if before[name] ~= opt[name] then
      storlua.usage(("--%s was %s when the run began, it cannot be %s now: a new run can"):format(
        name:gsub("_", "-"), before[name] or "not given", opt[name]))
    end
  end
end

-- What was issued must have reached the device; only while nobody else can
-- have used it, for then its counters are ours. A page cache takes several
-- writes of a record for one, and reads ahead.
local function check_counters(t, self, case, result)
  if not self.target.grant or not self.plan.direct then return end
  local counted, name = result.device, case.test.operation
  if counted.reason then return t:note(case.id .. ".device_counters", counted.reason) end
  local issued, seen = result[name].bytes, counted[name .. "_bytes"]
  local slack = math.max(1 << 20, issued // 100)
  t:check(case.id .. ".device_counters", math.abs(seen - issued) <= slack,
    "%d bytes were issued and the device counted %d", issued, seen)
end

-- A read of what no medium holds is no read, nor is one that a cache answers.
local function check_backed(t, case, result)
  if medium.was_passed_by(result) then
    t:check(case.id .. ".from_medium", false, "not all of it came from the medium: %s",
      result.cache.medium_reason)
  end
  local unbacked = result.read and result.cache.unbacked_before_bytes
  if not unbacked then return end
  t:check(case.id .. ".on_medium", unbacked == 0,
    "%d bytes of the range are holes or unwritten extents: reading them is no I/O", unbacked)
end

-- Ends the tests when the target is not what it was.
local function need_target(t, self, case, run, otherwise)
  local why = self.target:gone() or otherwise
  if why then t:abort("%s in run %d: %s", case.id, run, why) end
end

local function measure(t, self, case, run)
  need_target(t, self, case, run)
  local dropped = self.target:drop_cache()
  dropped.case_id = case.id
  t:event("x_cache_drop", dropped)
  local ok, result = pcall(t.measure, t, case.id, rawblock.spec(self.plan, case, run), {
    labels = { run = run, severity = case.severity, test = case.test.id },
  })
  if not ok then
    if errors.is(result) then need_target(t, self, case, run) end
    error(result, 0)
  end
  if result["end"] ~= "complete" or result.errors_total > 0 then
    need_target(t, self, case, run, "the first failure ends the tests")
  end
  check_counters(t, self, case, result)
  check_backed(t, case, result)
end

-- Writes all of it once: reading what was never written is no test of the
-- medium.
local function fill(t, self)
  local plan = self.plan
  t:phase("fill", 0, plan.size_bytes)
  local result = t:measure("fill", {
    path = plan.path, operation = "write", record_bytes = plan.record_bytes,
    size_bytes = not self.target.is_device and plan.size_bytes or nil,
    range_bytes = plan.size_bytes, direct = plan.direct, flush = "end",
  })
  t:phase(nil)
  if result["end"] ~= "complete" or result.errors_total > 0 then
    t:abort("fill: %s", self.target:gone() or "the target could not be written once")
  end
end

local function check_room(path, size_bytes)
  local stat = fs.try_stat(path)
  local own_bytes = stat and stat.allocated_bytes or 0
  local dir = path:match("^.*/") or "."
  if not fs.is_writable(dir) then
    storlua.usage(("%s: no file can be made in %s: no permission, or it is read-only"):format(path,
      dir))
  end
  local room = room_in.directory(dir)
  if size_bytes <= room.bytes + own_bytes then return end
  storlua.usage(("there is room for %s (%s) and %s are asked for; use --size"):format(
    quantity.size_text(room.bytes + own_bytes), room.limit, quantity.size_text(size_bytes)))
end

local function memory_kind(target)
  local kind = not target.is_device and target.found and target.found.mount
    and target.found.mount.type
  return (kind == "tmpfs" or kind == "ramfs") and kind or nil
end

-- The sectors that direct I/O moves, as far as that is known before the file is
-- open.
local function unit_of(target, opt)
  if opt.direct == "off" then return 1 end
  local found, kind = target.found, memory_kind(target)
  if kind then
    storlua.usage(("%s keeps %s in memory: there is no direct I/O; --direct off does without")
      :format(kind, target.path))
  end
  local unit = found and found.single and found.single.logical_block_bytes or 512
  for _, name in ipairs { "record", "random_record", "size" } do
    local bytes = opt[name] or 0
    if bytes % unit ~= 0 then
      storlua.usage(("--%s %d: direct I/O on %s needs multiples of %d bytes (%d is one)"):format(
        name:gsub("_", "-"), bytes, target.path, unit, math.max(unit, bytes - bytes % unit)))
    end
  end
  return unit
end

-- How much of it is used: all of a device or of an existing file that is only
-- read, in whole sectors, else --size.
local function size_of(target, opt)
  target:need_medium()
  local unit = unit_of(target, opt)
  local is_new = not target.is_device and not opt.read_only
  local size_bytes = is_new and (opt.size or 1 << 30) or target.size_bytes
  if not is_new and opt.size then
    if opt.size > size_bytes then
      storlua.usage(("--size %d is more than %s has: %d bytes"):format(opt.size, target.path,
        size_bytes))
    end
    size_bytes = opt.size
  end
  size_bytes = size_bytes - size_bytes % unit
  local record = math.max(opt.record, opt.random_record)
  if size_bytes < record then
    storlua.usage(("%s: %d bytes are less than one record of %d"):format(target.path, size_bytes,
      record))
  end
  if is_new then check_room(target.path, size_bytes) end
  return size_bytes
end

--- Runs all tests `opt.runs` times, one run after the other.
---@async
---@param t storlua.Run
---@param opt table target, runtime, runs, size, record, random_record, direct, read_only, fill,
--- keep, force_signature
function rawblock.run(t, opt)
  check_resume(t, opt)
  local path = target_of.resolve(opt.target, t.board, rawblock.FILE_NAME)
  local target = target_of.look(path)
  if opt.read_only and not fs.try_stat(path) then
    storlua.usage(path .. ": there is nothing to read")
  end
  local plan = {
    path = path, size_bytes = size_of(target, opt), record_bytes = opt.record,
    random_bytes = opt.random_record, runtime_seconds = opt.runtime, direct = opt.direct == "on",
    seed = t.seed, in_memory = memory_kind(target) ~= nil,
  }
  local self = { target = target, plan = plan }
  local _ <close> = task.defer(function() target:close() end)
  if not opt.read_only then target:open(t, opt) end
  if opt.keep and target.file then target.file:keep("kept by --keep") end
  local watchers <close> = task.scope()
  watch.device(t, watchers, path)
  local facts = target:facts()
  facts.range_bytes = plan.size_bytes
  t:event("x_rawblock_target", facts)
  local done = done_before(t)
  local fills = not target.is_device or opt.fill and not done["fill 0"]
  if not opt.read_only and fills then fill(t, self) end
  for run = 1, opt.runs do
    for _, case in ipairs(rawblock.cases(opt)) do
      if not done[("%s %d"):format(case.id, run)] then measure(t, self, case, run) end
    end
  end
  -- What lies behind a loop device has grown by what was written.
  facts = target:facts()
  facts.range_bytes = plan.size_bytes
  t:event("x_rawblock_target", facts)
end

return rawblock
