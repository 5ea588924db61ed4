-- SPDX-License-Identifier: MIT
--- tools/bench io: storlua against fio, dd and a bare loop, in turn within one
--- run. Ratios travel between machines, rates do not.

local cases = require("io_cases")
local costs = require("io_costs")
local dkjson = require("dkjson")
local peers = require("peers")
local process = require("storlua.process")
local queue_cases = require("queue_cases")
local report = require("report")
local rounds = require("rounds")
local storlua = require("storlua")
local task = require("storlua.task")
local workload = require("storlua.workload")

local MIB <const> = 1 << 20

-- The first line of a file.
local function line_of(path)
  local file = io.open(path)
  local text = file and file:read("l") or "unknown"
  if file then file:close() end
  return text
end

-- A file of `mib` MiB in a new folder below `parent`, and a function that
-- brings it back into the page cache.
local function prepare(parent, mib)
  local folder = process.run { "mktemp", "-d", parent .. "/storlua-bench.XXXXXX" }.stdout
    :gsub("\n", "")
  local file = { path = folder .. "/data", size_bytes = mib * MIB }
  file.where = process.run { "stat", "-f", "-c", "%T", folder }.stdout:gsub("\n", "")
  file.guard = task.defer(function() process.run { "rm", "-rf", folder } end)
  workload.run { path = file.path, operation = "write", record_bytes = MIB,
    size_bytes = file.size_bytes, flush = "end", stamp = true }
  function file.warm()
    workload.run { path = file.path, operation = "read", record_bytes = MIB }
  end
  return setmetatable(file, { __close = getmetatable(file.guard).__close })
end

local function with(file, fields)
  for name, value in pairs(file) do
    if fields[name] == nil then fields[name] = value end
  end
  return fields
end

-- The plan: what belongs to which target, in the order of the table.
local function plan(opt, here, ram, disk)
  local base = { seconds = opt.seconds, rounds = opt.rounds, here = here,
    storlua = os.getenv("STORLUA_RELEASE"), static = os.getenv("STORLUA_STATIC") }
  local function timed(make, context)
    return function() return make(with(base, context)) end
  end
  local function small(file) return with(file, {}) end
  local function queued(ids, depth, direct)
    return { ids = ids, case = timed(queue_cases.random_queued,
      with(disk, { depth = depth, direct = direct })) }
  end
  return {
    { ids = { "T1", "T2", "T3" }, case = timed(cases.random_cached, small(ram)) },
    { ids = { "T1", "T2", "T3" }, case = timed(cases.random_cached, small(disk)) },
    { ids = { "T5" }, case = timed(cases.null, {}) },
    { ids = { "T6" }, cost = function() return costs.instructions(with(base, small(ram))) end },
    queued({ "T10" }, 16, false), queued({ "T11" }, 64, false),
    queued({ "T12" }, 1, true), queued({ "T13" }, 16, true), queued({ "T13" }, 64, true),
    { ids = { "T14" }, case = timed(queue_cases.tasks, with(disk, { depth = 16 })) },
    { ids = { "T15", "T17" },
      case = timed(cases.write_verify, with(ram, { record_bytes = 4096 })) },
    { ids = { "T16" }, case = timed(cases.write_verify, with(ram, { record_bytes = MIB })) },
    { ids = { "T18" }, case = timed(cases.sequential_cached, small(ram)) },
    { ids = { "T19" }, case = timed(cases.sequential_direct, small(disk)) },
    { ids = { "T21" }, cost = function() return costs.start_up(with(base, small(ram))) end },
  }
end

local function wanted(entry, only)
  if #only == 0 then return true end
  for _, id in ipairs(entry.ids) do
    for _, asked in ipairs(only) do
      if id == asked then return true end
    end
  end
  return false
end

local function write_json(path, opt, all)
  local file = assert(io.open(path, "w"))
  assert(file:write(dkjson.encode({ machine = line_of("/proc/version"),
    load = line_of("/proc/loadavg"), rounds = opt.rounds, lines = all }, { indent = true }), "\n"))
  assert(file:close())
end

return storlua.procedure {
  summary = "Measure storlua against fio, dd and a bare loop; print ratios.",
  description = [[
Variants of a case run in turn (A B C, C B A, …), so that what else the machine
does hits all of them. A line reads: A / B = median of the rounds' own ratios
(their quartiles), what is wanted, and whether it was met. More than 1 means
that A does more per second, except for start-up, where less is better. A line
without a number and a target shows what the machine leaves room for. A peer
that is not installed is reported as not measured.]],
  informational = true,
  options = {
    { name = "rounds", type = "count", default = 9, min = 1, help = "how often each variant runs" },
    { name = "seconds", type = "duration", default = "0.4", help = "length of a timed run" },
    { name = "only", type = "string", help = "targets to measure, such as T1,T5" },
    { name = "json", type = "string", help = "also write the lines to this file" },
    { name = "dir", type = "string", default = "/var/tmp", help = "folder on a real disk" },
    { name = "ram-dir", type = "string", default = "/dev/shm", help = "folder in memory" },
  },
  run = function(t, opt)
    peers.programs = os.getenv("STORLUA_PEERS")
    local only = {}
    for id in (opt.only or ""):gmatch("[^,%s]+") do only[#only + 1] = id:upper() end
    print(("machine: %s"):format(line_of("/proc/version")))
    print(("load:    %s; %d rounds; storlua and its peers in turn"):format(
      line_of("/proc/loadavg"), opt.rounds))
    local load, cpus = tonumber(line_of("/proc/loadavg"):match("^[%d.]+")),
      tonumber(process.run { "nproc" }.stdout)
    if load and load > cpus / 2 then
      print("warning: the machine is busy; ratios are rough and absolute figures worthless")
    end
    local ram <close> = prepare(opt.ram_dir, 256)
    local disk <close> = prepare(opt.dir, 256)
    local all, judged, missed = {}, 0, 0
    for _, entry in ipairs(plan(opt, t.dir, ram, disk)) do
      if wanted(entry, only) then
        local case, samples, missing
        if entry.case then
          case = entry.case()
          samples, missing = rounds.measure(case.variants, opt.rounds, case.before)
        else
          case, samples, missing = entry.cost()
        end
        local lines = report.compare(case, samples, missing)
        report.print(case, samples, missing, lines)
        for _, line in ipairs(lines) do
          all[#all + 1] = line
          if line.ok ~= nil then judged = judged + 1 end
          if line.ok == false then missed = missed + 1 end
        end
      end
    end
    print(("\n%d targets, %d missed"):format(judged, missed))
    if opt.json then write_json(opt.json, opt, all) end
  end,
}
