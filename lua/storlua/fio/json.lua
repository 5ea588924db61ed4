-- SPDX-License-Identifier: MIT
--- The figures of jobs in the JSON document of fio 3.33.

local event = require("storlua.event")
local fio_results = require("storlua.fio.results")

local fio_json = {}

local function latency_of(l)
  return { min = l.min, max = l.max, mean = l.mean, stddev = l.deviation, N = l.count }
end

local NONE = { min = 0, max = 0, mean = 0.0, deviation = 0.0, count = 0 }

local function percentiles_of(h, list)
  local all = event.object {}
  for _, percent in ipairs(list) do
    local key = (("%.6f"):format(percent):gsub(",", "."))
    all[key] = h:count() > 0 and h:percentile(percent) or 0
  end
  return all
end

local function bins_of(h)
  local bins = event.object {}
  fio_results.each_bucket(h, function(middle, n)
    local key = ("%d"):format(math.floor(middle))
    bins[key] = (bins[key] or 0) + n
  end)
  return bins
end

local function direction_of(job, direction)
  local d = fio_results.figures(direction)
  local clat, lat = latency_of(d.latency), latency_of(d.latency)
  if d.ios > 0 then
    if job.said.clat_percentiles then
      clat.percentile = percentiles_of(d.histogram, job.said.percentiles)
    end
    if job.said.lat_percentiles then
      lat.percentile = percentiles_of(d.histogram, job.said.percentiles)
    end
    if job.said.bins then clat.bins = bins_of(d.histogram) end
  end
  return {
    io_bytes = d.bytes, io_kbytes = d.bytes >> 10, bw_bytes = d.bytes_s, bw = d.bytes_s >> 10,
    iops = d.iops + 0.0, runtime = d.runtime_ms, total_ios = d.ios, short_ios = d.short,
    drop_ios = 0, slat_ns = latency_of(NONE), clat_ns = clat, lat_ns = lat,
    bw_min = d.bw.min, bw_max = d.bw.max,
    bw_agg = d.bytes_s > 0 and math.min(100.0, d.bw.mean * 1024 / d.bytes_s * 100) + 0.0 or 0.0,
    bw_mean = d.bw.mean + 0.0, bw_dev = d.bw.deviation + 0.0, bw_samples = d.bw.count,
    iops_min = d.iops_samples.min, iops_max = d.iops_samples.max,
    iops_mean = d.iops_samples.mean + 0.0, iops_stddev = d.iops_samples.deviation + 0.0,
    iops_samples = d.iops_samples.count,
  }
end

local function shares_of(job)
  local shares = fio_results.shares(job)
  local tables = {}
  for unit, factor in pairs { latency_ns = 1, latency_us = 1000, latency_ms = 1000000 } do
    local by_bound = event.object {}
    for _, value in ipairs { 2, 4, 10, 20, 50, 100, 250, 500, 750, 1000 } do
      by_bound[("%d"):format(value)] = (shares[value * factor] or 0) + 0.0
    end
    tables[unit] = by_bound
  end
  tables.latency_ms["2000"] = (shares[2000000000] or 0) + 0.0
  tables.latency_ms[">=2000"] = (shares[0] or 0) + 0.0
  return tables
end

local function depths(level)
  local all = event.object {}
  for _, name in ipairs(level) do all[name] = 0.0 end
  return all
end

local function level_of(depth)
  local all = depths { "1", "2", "4", "8", "16", "32", ">=64" }
  for _, bound in ipairs { 1, 2, 4, 8, 16, 32 } do
    if depth <= bound then
      all[("%d"):format(bound)] = 100.0
      return all
    end
  end
  all[">=64"] = 100.0
  return all
end

local function submits()
  local all = depths { "0", "4", "8", "16", "32", "64", ">=64" }
  all["4"] = 100.0
  return all
end

local function job_of(job)
  local shares, u = shares_of(job), fio_results.usage(job)
  local flush, h = latency_of(NONE), job.flush_histogram
  if h:count() > 0 then
    flush = latency_of(fio_results.figures(fio_results.new_direction(h)).latency)
    flush.percentile = percentiles_of(h, job.said.percentiles)
  end
  return {
    jobname = job.name, desc = job.said.options.description, groupid = job.group,
    error = job.error, eta = 0,
    elapsed = (job.elapsed_ns + 999999999) // 1000000000,
    ["job options"] = event.object(job.said.options),
    read = direction_of(job, job.read), write = direction_of(job, job.write),
    trim = direction_of(job, job.trim),
    sync = { total_ios = job.flushes, lat_ns = flush },
    job_runtime = job.run_ns // 1000000, usr_cpu = u.usr_percent, sys_cpu = u.sys_percent,
    ctx = u.context_switches, majf = u.major_faults, minf = u.minor_faults,
    iodepth_level = level_of(job.said.iodepth), iodepth_submit = submits(),
    iodepth_complete = submits(), latency_ns = shares.latency_ns, latency_us = shares.latency_us,
    latency_ms = shares.latency_ms, latency_depth = job.said.iodepth, latency_target = 0,
    latency_percentile = 100.0, latency_window = 0,
  }
end

local function disk_util(results)
  local list, disk = event.list {}, results:disk()
  if not disk then return list end
  list[1] = { name = results.device, read_ios = disk.read_operations,
              write_ios = disk.write_operations, read_merges = 0, write_merges = 0,
              read_ticks = 0, write_ticks = 0, in_queue = disk.busy_ns // 1000000,
              util = disk.util_percent }
  return list
end

--- The document as text.
---@param results storlua.FioResults
---@return string
function fio_json.text(results)
  local jobs = event.list {}
  for i, job in ipairs(results.jobs) do jobs[i] = job_of(job) end
  local seconds = os.time()
  return event.encode {
    ["fio version"] = ("storlua-%s (layout of fio-3.33)"):format(results.version or "?"),
    timestamp = seconds, timestamp_ms = seconds * 1000, time = os.date("!%a %b %d %H:%M:%S %Y"),
    jobs = jobs, disk_util = disk_util(results),
  }
end

return fio_json
