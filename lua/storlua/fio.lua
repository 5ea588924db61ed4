-- SPDX-License-Identifier: MIT
--- Runs jobs of fio: one group after the other, those of a group at once, when
--- what they read is laid out.

local counters = require("storlua.counters")
local fio_job = require("storlua.fio.job")
local fs = require("storlua.fs")
local gate = require("storlua.gate")
local layout = require("storlua.fio.layout")
local logs = require("storlua.fio.logs")
local loop = require("storlua.core.loop")
local target_of = require("storlua.target")
local task = require("storlua.task")
local verify = require("storlua.fio.verify")
local watch = require("storlua.watch")

local fio = {}

-- One target for each path, devices granted when a job writes to them.
local function open_targets(t, opt)
  local targets = {}
  table.move(opt.destroy, 1, #opt.destroy, #t.destroy + 1, t.destroy)
  for _, job in ipairs(opt.jobs) do
    for _, path in ipairs(job.paths or {}) do
      local it = targets[path] or target_of.look(path)
      if not targets[path] then
        targets[path] = it
        it.may_write = not it.is_device and layout.may_write(path, it.size_bytes, opt)
      end
      if it.is_device and job.operation ~= "read" and not it.grant then
        it.grant = gate.open(path, { consents = t.destroy,
                                         force_signature = opt.force_signature })
      end
    end
  end
  return targets
end

-- What a job was not allowed to write it does not remove either.
local function close_targets(opt, targets)
  for _, it in pairs(targets) do it:close() end
  for _, job in ipairs(opt.jobs) do
    for _, path in ipairs(job.unlink and job.has_run and job.paths or {}) do
      if targets[path].may_write then layout.remove(path) end
    end
  end
end

local function announce(t, job, opt)
  local given = {}
  for _, option in ipairs(job.given) do given[option[1]] = option[2] end
  given.name = job.name
  t:event("x_fio_job", {
    case_id = job.case_id, name = job.name, group = job.told_group, clone = job.clone,
    options = given, percentiles = job.percentiles, group_reporting = job.group_reporting or false,
    lat_percentiles = job.lat_percentiles or false, iodepth = job.iodepth, engine = job.engine,
    clat_percentiles = job.clat_percentiles ~= false, bins = opt.bins or false,
    operation = job.operation, order = job.order, record_bytes = job.block_bytes,
    least_bytes = job.least_bytes,
  })
  if job.capped or job.many then t:note("fio." .. job.case_id, job.capped or job.many) end
  for name, why in pairs(job.without_effect) do
    t:note("fio.without_effect." .. name, why ~= "" and why or "nothing to do here")
  end
end

local function check_rates(t, job, result)
  for _, name in ipairs { "read", "write", "trim" } do
    local tally = result[name]
    if tally and tally.operations > 0 then
      local seconds = result.total_ns / 1e9
      if job.rate_min then
        t:check(job.case_id .. ".rate_min", tally.bytes / seconds >= job.rate_min,
          "%s: %.0f bytes/s, at least %d are asked for", name, tally.bytes / seconds, job.rate_min)
      end
      if job.rate_iops_min then
        t:check(job.case_id .. ".rate_iops_min", tally.operations / seconds >= job.rate_iops_min,
          "%s: %.0f operations/s, at least %d are asked for", name, tally.operations / seconds,
          job.rate_iops_min)
      end
    end
  end
  local unbacked = result.read and result.cache and result.cache.unbacked_before_bytes
  if unbacked and job.operation == "read" then
    t:check(job.case_id .. ".on_medium", unbacked == 0,
      "%d bytes of the range are holes or unwritten extents: reading them is no I/O", unbacked)
  end
end

local function run_job(t, opt, job, targets, seed)
  local it = targets[job.path]
  local offset, size = fio_job.extent(job, it and it.size_bytes or 1 << 40, it and it.is_device)
  announce(t, job, opt)
  if job.startdelay then task.sleep(job.startdelay) end
  local spec = fio_job.spec(job, offset, size, it and it.is_device, seed)
  if job.pre_read and it and it.size_bytes >= offset + size then
    t:measure(job.case_id .. ".pre_read", fio_job.pre_read_spec(job, offset, size))
  end
  local result = t:measure(job.case_id, spec, { on_result = function() job.has_run = true end })
  for _, path in ipairs(result["end"] ~= "complete" and job.paths or {}) do
    local gone = targets[path]:gone()
    if gone then t:abort("%s: %s", job.case_id, gone) end
  end
  logs.write(t, job, result)
  check_rates(t, job, result)
  if job.verify and job.do_verify ~= false and result["end"] == "complete" then
    spec.generation = 1
    local back = verify.spec(spec, result)
    if back then t:measure(job.case_id .. ".verify", back) end
  end
end

-- What the disk did while the jobs of a group were at work: each job's own
-- counters have the requests of the others too.
local function count_group(t, group, it)
  local counting, began_ns = it and it.found and counters.start(it.found), loop.now_ns()
  return task.defer(function()
    t:event("x_fio_group", { group = group, elapsed_ns = loop.now_ns() - began_ns,
                             device = counting and counting:result() or nil })
  end)
end

local function run_group(t, opt, jobs, targets)
  for _, job in ipairs(jobs) do
    for at, path in ipairs(job.paths or {}) do
      local it = targets[path]
      -- An earlier group may have made the file.
      local stat = not it.is_device and fs.try_stat(path)
      if stat then it.size_bytes = stat.size_bytes end
      local offset, size = fio_job.extent(job, it.size_bytes, it.is_device)
      layout.write(t, job, at, it, offset + size)
    end
  end
  local _ <close> = count_group(t, jobs[1].group, targets[opt.jobs[1].path])
  local scope <close> = task.scope()
  for i, job in ipairs(jobs) do
    -- Each job, also each clone, has an order of its own.
    local seed = (t.seed + (job.group * 64 + i) * 2654435761) & math.maxinteger
    scope:spawn(job.case_id, run_job, t, opt, job, targets, seed)
  end
  scope:join()
end

--- Runs all jobs.
---@async
---@param t storlua.Run
---@param opt table of storlua.fio.arguments
function fio.run(t, opt)
  if opt.parse_only then t:skip("--parse-only: %d jobs are understood", #opt.jobs) end
  local targets = open_targets(t, opt)
  local _ <close> = task.defer(function() close_targets(opt, targets) end)
  local watchers <close> = task.scope()
  if opt.jobs[1].path then watch.device(t, watchers, opt.jobs[1].path) end
  local groups = {}
  for _, job in ipairs(opt.jobs) do
    groups[job.group + 1] = groups[job.group + 1] or {}
    table.insert(groups[job.group + 1], job)
  end
  for _, jobs in ipairs(groups) do run_group(t, opt, jobs, targets) end
end

return fio
