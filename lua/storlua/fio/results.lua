-- SPDX-License-Identifier: MIT
--- The jobs of a run in the figures of fio: bytes over the time of the whole
--- job, flushes at its end included.

local errno = require("storlua.core.errno")
local histogram = require("storlua.histogram")

local fio_results = {}

-- The least value of a bucket of the histogram, and its width.
local function bucket(index)
  if index < 128 then return index, 1 end
  local shift = (index >> 7) - 1
  return (index - (shift << 7)) << shift, 1 << shift
end

--- Calls visit(middle_ns, count, width_ns) for each bucket that is not empty.
---@param h storlua.Histogram
---@param visit fun(middle_ns: number, count: integer, width_ns: integer)
function fio_results.each_bucket(h, visit)
  local list = h:sparse()
  for i = 1, #list, 2 do
    local low, width = bucket(list[i])
    visit(low + (width - 1) / 2, list[i + 1], width)
  end
end

-- Standard deviation from the buckets: within their width.
local function deviation(h, mean)
  local sum, count = 0, 0
  fio_results.each_bucket(h, function(middle, n)
    sum, count = sum + (middle - mean) ^ 2 * n, count + n
  end)
  return count > 1 and math.sqrt(sum / (count - 1)) or 0
end

local function stats(values)
  local count, sum, min, max = #values, 0, math.huge, 0
  for _, value in ipairs(values) do
    sum, min, max = sum + value, math.min(min, value), math.max(max, value)
  end
  if count == 0 then return { min = 0, max = 0, mean = 0.0, squares = 0.0, count = 0 } end
  local mean, squares = sum / count, 0
  for _, value in ipairs(values) do squares = squares + (value - mean) ^ 2 end
  return { min = min, max = max, mean = mean, count = count, squares = squares }
end

-- Rates of jobs that ran together add up, as fio adds them.
local function add_stats(into, values)
  for name, value in pairs(stats(values)) do into[name] = into[name] + value end
end

local function with_deviation(s)
  return { min = s.min, max = s.max, mean = s.mean, count = s.count,
           deviation = s.count > 1 and math.sqrt(s.squares / (s.count - 1)) or 0.0 }
end

-- Rates of the whole intervals; runs of an older version have one series for
-- both directions.
local function samples(series, name, share)
  local seconds = series.interval_ns / 1e9
  local own = series.directions and series.directions[name]
  local of = own or series
  local bw, iops = {}, {}
  if own then share = 1 end
  for i = 1, #of.bytes - 1 do
    bw[i] = math.floor(of.bytes[i] * share / 1024 / seconds)
    iops[i] = math.floor(of.operations[i] * share / seconds)
  end
  return bw, iops
end

--- One direction of which nothing is known yet.
---@param h? storlua.Histogram
---@return table
function fio_results.new_direction(h)
  return { bytes = 0, ios = 0, short = 0, runtime_ms = 0, histogram = h or histogram.new(),
           bw = stats {}, iops = stats {}, rates = {} }
end

fio_results.DIRECTIONS = { "read", "write", "trim" }

local function add_direction(into, result, name)
  local tally = result[name]
  if type(tally) ~= "table" or tally.operations == 0 then return end
  local runtime_ms = math.max(1, (result.total_ns + 500000) // 1000000)
  into.bytes, into.ios = into.bytes + tally.bytes, into.ios + tally.operations
  into.short = into.short + tally.short_calls
  into.runtime_ms = math.max(into.runtime_ms, runtime_ms)
  into.rates[#into.rates + 1] = tally.bytes * 1000 // runtime_ms
  if type(tally.latency) == "table" and tally.latency.count > 0 then
    into.histogram:merge(histogram.from_summary(tally.latency))
  end
  local all = 0
  for _, one in ipairs(fio_results.DIRECTIONS) do
    all = all + (result[one] and result[one].bytes or 0)
  end
  local bw, iops = samples(result.series, name, all > 0 and tally.bytes / all or 1)
  add_stats(into.bw, bw)
  add_stats(into.iops, iops)
end

-- What was stopped from outside has met no error.
local ENDS_WELL = { complete = true, cancelled = true, stonewall = true }

local function error_number(result)
  if result.verify and result.verify.bad_sectors > 0 then return errno.number("EILSEQ") end
  local first = type(result.error) == "table" and result.error.code
    or result.errors and result.errors[1] and result.errors[1].code
  if first then return errno.number(first) or errno.number("EIO") end
  return ENDS_WELL[result["end"]] and 0 or errno.number("EIO")
end

---@class storlua.FioResults
local Results = {}
Results.__index = Results

---@return storlua.FioResults
function fio_results.new()
  return setmetatable({ jobs = {}, by_case = {}, groups = {} }, Results)
end

-- Clones and jobs of a group that are reported together are one.
local function job_of(self, fields)
  local last = self.jobs[#self.jobs]
  if last and fields.group_reporting and last.group == fields.group
    and last.said.group_reporting then
    last.count = last.count + 1
    return last
  end
  local job = {
    name = fields.name, group = fields.group, count = 1, said = fields, error = 0,
    read = fio_results.new_direction(), write = fio_results.new_direction(),
    trim = fio_results.new_direction(), flushes = 0,
    flush_histogram = histogram.new(), elapsed_ns = 0, run_ns = 0,
    cpu = { user_ns = 0, system_ns = 0, minor_faults = 0, major_faults = 0,
            voluntary_switches = 0, involuntary_switches = 0 },
  }
  self.jobs[#self.jobs + 1] = job
  return job
end

local kinds = {}

function kinds.start(self, fields)
  self.version, self.wall, self.options = fields.version, self.wall or fields.wall, fields.options
  local conditions = type(fields.conditions) == "table" and fields.conditions or {}
  local identity = conditions.device_identity
  self.device = type(identity) == "table" and identity.name or nil
end

function kinds.x_fio_job(self, fields)
  -- Told again after a resume: the newer one counts.
  if not self.by_case[fields.case_id] then self.by_case[fields.case_id] = job_of(self, fields) end
end

function kinds.x_fio_group(self, fields)
  self.groups[fields.group] = fields
end

function kinds.measure(self, fields)
  local job = self.by_case[fields.case_id]
  local verified = not job and self.by_case[(fields.case_id:gsub("%.verify$", ""))]
  local result = fields.result
  if not job then
    if verified and type(result) == "table" and error_number(result) ~= 0 then
      verified.error = error_number(result)
    end
    return
  end
  job.wall = fields.wall
  -- In memory another engine runs than the one that was asked for.
  if type(result) == "table" and result.engine and result.engine ~= fields.spec.engine then
    job.said.engine, job.said.iodepth = result.engine, result.queue_depth
  end
  if type(result) ~= "table" then
    -- The message of an error begins with its name.
    local name = type(fields.reason) == "string" and fields.reason:match("^(E%w+):")
    job.error = name and errno.number(name) or errno.number("EINVAL")
    return
  end
  for _, one in ipairs(result.streams or { result }) do
    for _, name in ipairs(fio_results.DIRECTIONS) do add_direction(job[name], one, name) end
  end
  job.elapsed_ns = math.max(job.elapsed_ns, result.total_ns)
  if job.error == 0 then job.error = error_number(result) end
  if type(result.flush) == "table" and fields.spec.flush == "every" then
    job.flushes = job.flushes + result.flush.count
    job.flush_histogram:merge(histogram.from_summary(result.flush.latency))
  end
  for name, value in pairs(result.cpu or {}) do job.cpu[name] = job.cpu[name] + value end
  job.run_ns = job.run_ns + result.total_ns
end

--- Takes one event.
---@param fields table
function Results:add(fields)
  local add = kinds[fields.kind]
  if add then add(self, fields) end
end

--- The figures of one direction.
---@param direction table
---@return table
function fio_results.figures(direction)
  local h, ms = direction.histogram, direction.runtime_ms
  local mean = h:count() > 0 and h:mean() or 0
  return {
    bytes = direction.bytes, ios = direction.ios, short = direction.short, runtime_ms = ms,
    bytes_s = ms > 0 and direction.bytes * 1000 // ms or 0,
    iops = ms > 0 and direction.ios * 1000 / ms or 0.0, rates = direction.rates, histogram = h,
    latency = { min = h:min() or 0, max = h:max() or 0, mean = mean + 0.0,
                deviation = deviation(h, mean) + 0.0, count = h:count() },
    bw = with_deviation(direction.bw), iops_samples = with_deviation(direction.iops),
  }
end

--- What a job used of the processor, in percent of the time of its clones.
---@param job table
---@return table
function fio_results.usage(job)
  local cpu, run_ns = job.cpu, math.max(job.run_ns, 1)
  return {
    usr_percent = cpu.user_ns / run_ns * 100, sys_percent = cpu.system_ns / run_ns * 100,
    minor_faults = cpu.minor_faults, major_faults = cpu.major_faults,
    context_switches = cpu.voluntary_switches + cpu.involuntary_switches,
  }
end

--- What the first disk did while the groups were at work.
---@return table|nil nil when nothing counts it
function Results:disk()
  if not self.device then return nil end
  local all, elapsed_ns
  for _, group in pairs(self.groups) do
    local device = group.device
    if device and device.read_operations then
      all = all or { read_operations = 0, write_operations = 0, busy_ns = 0 }
      for name, value in pairs(all) do all[name] = value + (device[name] or 0) end
      elapsed_ns = (elapsed_ns or 0) + group.elapsed_ns
    end
  end
  if not all then return nil end
  all.util_percent = math.min(100.0, all.busy_ns / math.max(elapsed_ns, 1) * 100)
  return all
end

--- Shares of all operations of a job by latency: percent by upper bound in ns,
--- the bounds being those of fio.
---@param job table
---@return table<integer, number> by bound; bound 0: all above the last
function fio_results.shares(job)
  local bounds = {}
  for _, unit in ipairs { 1, 1000, 1000000 } do
    for _, value in ipairs { 2, 4, 10, 20, 50, 100, 250, 500, 750, 1000 } do
      bounds[#bounds + 1] = value * unit
    end
  end
  bounds[#bounds + 1] = 2000000000
  local counts, all = {}, 0
  for _, name in ipairs(fio_results.DIRECTIONS) do
    fio_results.each_bucket(job[name].histogram, function(middle, n)
      local at = 0
      for _, bound in ipairs(bounds) do
        if middle < bound then
          at = bound
          break
        end
      end
      counts[at], all = (counts[at] or 0) + n, all + n
    end)
  end
  for bound, n in pairs(counts) do counts[bound] = n / all * 100 end
  return counts
end

return fio_results
