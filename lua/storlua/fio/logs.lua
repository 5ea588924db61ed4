-- SPDX-License-Identifier: MIT
--- Log files of fio, laid out as by fio 3.33: NAME_bw.N.log and its like, with
--- a line for each interval and direction,
---   milliseconds, value, 0 read | 1 write | 2 trim, 0, 0
--- The values are those of the series of the result.

local core = require("storlua.core.run_dir")
local errors = require("storlua.errors")
local fs = require("storlua.fs")
local job_wait = require("storlua.job")
local words = require("storlua.fio.words")

local logs = {
  -- Operations of two directions; a series tells them apart only when asked to.
  BOTH = { mixed = true, trim_write = true },
}

local DIRECTIONS <const> = { "read", "write", "trim" }
-- Option of the job, and the files it makes.
local KINDS = { { "bw_log", { "bw" } }, { "iops_log", { "iops" } },
                { "lat_log", { "slat", "clat", "lat" } } }

local function is_log(path)
  local file = io.open(path, "rb")
  if not file then return false end
  local line = file:read(200)
  file:close()
  return line == nil or line:find("^%d+, %d+, [012], %d+, ") ~= nil
end

--- Refuses logs that could not be written at the end; a file of somebody else
--- is left alone.
---@async
---@param job table
---@param opt table of storlua.fio.arguments
function logs.check(job, opt)
  for _, log in ipairs(job.logs) do
    local stat = fs.try_stat(log.path)
    if stat and stat.kind ~= "file" then
      words.usage("job %s: %s is no file: a log cannot be written there", job.name, log.path)
    end
    local ok, err = errors.try(job_wait.wait_on, log.path, core.can_replace(log.path))
    if not ok then
      words.usage("job %s: the log %s cannot be written: %s", job.name, log.path, err.message)
    end
    if stat and not opt.overwrite and not is_log(log.path) then
      words.usage("job %s: %s is there and is no log of fio: --overwrite replaces it", job.name,
        log.path)
    end
  end
end

--- Which logs each job writes: `logs` of a job, a list of {kind, path}. Raises
--- usage errors.
---@param opt table of storlua.fio.arguments, its jobs checked
function logs.plan(opt)
  local taken = {}
  for number, job in ipairs(opt.jobs) do
    job.logs = {}
    for _, kind in ipairs(KINDS) do
      local name = job[kind[1]]
      if name == true then name = job.name:gsub("/", "_") end
      for _, part in ipairs(name and kind[2] or {}) do
        local path = job.per_job_logs == false and ("%s_%s.log"):format(name, part)
          or ("%s_%s.%d.log"):format(name, part, number)
        if taken[path] then
          words.usage("job %s: %s is the log of another job: per_job_logs=1 keeps them apart",
            job.name, path)
        end
        taken[path] = true
        table.insert(job.logs, { kind = part, path = path })
      end
    end
    if job.logs[1] and not job.log_avg_ms then
      words.usage("job %s: log_avg_msec= is needed: single operations are not logged", job.name)
    end
    if job.log_max and job.lat_log and logs.BOTH[job.operation] then
      words.usage("job %s: log_max_value: of two directions at once one maximum is kept",
        job.name)
    end
  end
end

-- The intervals of all streams of a result together.
local function intervals(result)
  local all = {}
  for _, one in ipairs(result.streams or { result }) do
    local series = one.series
    for i = 1, #series.bytes do
      all[i] = all[i] or { max_ns = 0, of = {} }
      all[i].max_ns = math.max(all[i].max_ns, series.max_ns[i])
      for name, lists in pairs(series.directions) do
        local sum = all[i].of[name] or { bytes = 0, operations = 0, latency_ns = 0 }
        for field in pairs(sum) do sum[field] = sum[field] + lists[field][i] end
        all[i].of[name] = sum
      end
    end
  end
  return all
end

local VALUES = {}
function VALUES.bw(one, ns) return one.bytes * 1000000000 // ns // 1024 end
function VALUES.iops(one, ns) return one.operations * 1000000000 // ns end
function VALUES.lat(one, _, max_ns)
  if one.operations == 0 then return nil end
  return max_ns or one.latency_ns // one.operations
end
VALUES.clat = VALUES.lat
function VALUES.slat() return nil end -- there is no submission apart from the call

-- The last interval ends with the job.
local function text_of(kind, result, job)
  local lines, first = {}, result.streams and result.streams[1] or result
  local interval_ns, total_ns = first.series.interval_ns, result.total_ns
  for i, point in ipairs(intervals(result)) do
    local end_ns = math.min(i * interval_ns, math.max(total_ns, (i - 1) * interval_ns + 1))
    local length_ns = end_ns - (i - 1) * interval_ns
    for number, name in ipairs(DIRECTIONS) do
      local one = point.of[name]
      local value = one and VALUES[kind](one, length_ns, job.log_max and point.max_ns)
      if value then
        lines[#lines + 1] = ("%d, %d, %d, 0, 0\n"):format(end_ns // 1000000, value, number - 1)
      end
    end
  end
  return table.concat(lines)
end

--- Writes the logs of a job that has ended.
---@async
---@param t storlua.Run
---@param job table
---@param result table
function logs.write(t, job, result)
  local first = result.streams and result.streams[1] or result
  local interval_ms = first.series and first.series.interval_ns // 1000000
  for _, log in ipairs(job.logs) do
    if interval_ms then
      job_wait.wait_on(log.path, core.replace(log.path, text_of(log.kind, result, job)))
    end
  end
  if job.logs[1] and interval_ms ~= job.log_avg_ms then
    t:note("fio.log_avg_msec." .. job.case_id,
      ("%d ms, not %d: so many intervals are not kept"):format(interval_ms or 0, job.log_avg_ms))
  end
end

return logs
