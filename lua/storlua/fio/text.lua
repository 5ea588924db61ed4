-- SPDX-License-Identifier: MIT
--- The figures of jobs as fio prints them for people.

local fio_results = require("storlua.fio.results")

local fio_text = {}

-- As string.format, with a point in numbers whatever the locale.
local function f(format, ...) return (format:format(...):gsub("(%d),(%d)", "%1.%2")) end

-- Four digits at most, as fio shortens: 7076KiB, 13.8MiB, 257k.
local function short(value, base, units)
  local at = 1
  while value >= 9999.5 and at < #units do
    value, at = value / base, at + 1
  end
  if at > 1 and value < 99.95 then return f("%.1f%s", value, units[at]) end
  return f("%.0f%s", value, units[at])
end

local IEC = { "B", "KiB", "MiB", "GiB", "TiB", "PiB" }
local SI = { "B", "kB", "MB", "GB", "TB", "PB" }
local COUNT = { "", "k", "M", "G" }

-- fio begins with KiB and kB.
local function rate(bytes_s)
  return short(bytes_s / 1024, 1024, { table.unpack(IEC, 2) }) .. "/s",
    short(bytes_s / 1000, 1000, { table.unpack(SI, 2) }) .. "/s"
end

local function bytes_text(bytes)
  return short(bytes, 1024, IEC), short(bytes, 1000, SI)
end

-- The unit of a line of latencies, and what divides nanoseconds into it.
local function unit_of(min, max)
  if min > 2000000 and max > 99999999 then return "msec", 1000000 end
  if min > 2000 and max > 99999 then return "usec", 1000 end
  return "nsec", 1
end

local function latency_line(add, name, l)
  local unit, by = unit_of(l.min, l.max)
  local limit = by == 1 and short(l.max, 1000, COUNT) or f("%d", l.max // by)
  add(f("    %s (%s): min=%s, max=%s, avg=%.2f, stdev=%.2f", name, unit,
    by == 1 and short(l.min, 1000, COUNT) or f("%d", l.min // by), limit, l.mean / by,
    l.deviation / by))
end

local function percentile_lines(add, name, h, list)
  if h:count() == 0 then return end
  local unit, by = unit_of(h:min(), h:max())
  add(("    %s percentiles (%s):"):format(name, unit))
  local row = {}
  for i, percent in ipairs(list) do
    local last = i == #list
    row[#row + 1] = f("%5.2fth=[%5d]", percent, h:percentile(percent) // by) .. (last and "" or ",")
    if last or #row == 4 then
      add("     | " .. table.concat(row, " "))
      row = {}
    end
  end
end

local function direction_lines(add, job, name)
  local d = fio_results.figures(job[name])
  if d.ios == 0 then return end
  local kib, kb = rate(d.bytes_s)
  add(("  %s: IOPS=%s, BW=%s (%s)(%s/%dmsec)%s"):format(name, short(d.iops, 1000, COUNT), kib, kb,
    (bytes_text(d.bytes)), d.runtime_ms, name == "write" and "; 0 zone resets" or ""))
  latency_line(add, "clat", d.latency)
  latency_line(add, " lat", d.latency)
  if job.said.clat_percentiles then
    percentile_lines(add, "clat", d.histogram, job.said.percentiles)
  end
  if job.said.lat_percentiles then
    percentile_lines(add, "lat", d.histogram, job.said.percentiles)
  end
  if d.bw.count > 0 then
    add(f("   bw (  KiB/s): min=%5d, max=%5d, per=%.2f%%, avg=%.2f, stdev=%.2f, samples=%d",
      d.bw.min, d.bw.max, math.min(100, d.bw.mean * 1024 / math.max(1, d.bytes_s) * 100),
      d.bw.mean, d.bw.deviation, d.bw.count))
    add(f("   iops        : min=%5d, max=%5d, avg=%.2f, stdev=%.2f, samples=%d",
      d.iops_samples.min, d.iops_samples.max, d.iops_samples.mean, d.iops_samples.deviation,
      d.iops_samples.count))
  end
end

local function share_lines(add, job)
  local shares = fio_results.shares(job)
  for _, unit in ipairs { { "nsec", 1 }, { "usec", 1000 }, { "msec", 1000000 } } do
    local row = {}
    for _, value in ipairs { 2, 4, 10, 20, 50, 100, 250, 500, 750, 1000 } do
      local percent = shares[value * unit[2]]
      if percent then row[#row + 1] = f("%d=%.2f%%", value, math.max(percent, 0.01)) end
    end
    if unit[1] == "msec" then
      local more = shares[2000000000]
      if more then row[#row + 1] = f("2000=%.2f%%", math.max(more, 0.01)) end
      if shares[0] then row[#row + 1] = f(">=2000=%.2f%%", math.max(shares[0], 0.01)) end
    end
    if row[1] then add(("  lat (%s)   : %s"):format(unit[1], table.concat(row, ", "))) end
  end
end

local function depth_name(depth)
  for _, bound in ipairs { 1, 2, 4, 8, 16, 32 } do
    if depth <= bound then return bound end
  end
  return 64
end

local function depth_line(depth)
  local parts = {}
  for _, bound in ipairs { 1, 2, 4, 8, 16, 32, 64 } do
    parts[#parts + 1] = ("%s%s=%s"):format(bound == 64 and ">=" or "", bound,
      depth_name(depth) == bound and "100.0%" or "0.0%")
  end
  return "  IO depths    : " .. table.concat(parts, ", ")
end

local function job_lines(add, job)
  add(("%s: (groupid=%d, jobs=%d): err=%2d: pid=0: %s"):format(job.name, job.group, job.count,
    job.error, job.wall or ""))
  local about = job.said.options.description
  if about then add(("  Description  : [%s]"):format(about)) end
  for _, name in ipairs(fio_results.DIRECTIONS) do direction_lines(add, job, name) end
  share_lines(add, job)
  local syncs = job.flush_histogram
  if syncs:count() > 0 then
    add("  fsync/fdatasync/sync_file_range:")
    latency_line(add, "sync", fio_results.figures(fio_results.new_direction(syncs)).latency)
    percentile_lines(add, "sync", syncs, job.said.percentiles)
  end
  local u = fio_results.usage(job)
  add(f("  cpu          : usr=%.2f%%, sys=%.2f%%, ctx=%d, majf=%d, minf=%d", u.usr_percent,
    u.sys_percent, u.context_switches, u.major_faults, u.minor_faults))
  add(depth_line(job.said.iodepth))
  local depths = "0=0.0%, 4=100.0%, 8=0.0%, 16=0.0%, 32=0.0%, 64=0.0%, >=64=0.0%"
  add("     submit    : " .. depths)
  add("     complete  : " .. depths)
  add(("     issued rwts: total=%d,%d,%d,%d short=%d,%d,0,0 dropped=0,0,0,0"):format(
    job.read.ios, job.write.ios, job.trim.ios, job.flushes, job.read.short, job.write.short))
  add(("     latency   : target=0, window=0, percentile=100.00%%, depth=%d"):format(
    job.said.iodepth))
end

local function group_line(add, jobs, name)
  local bytes, lowest, highest, least_ms, most_ms = 0, nil, nil, nil, nil
  for _, job in ipairs(jobs) do
    local d = job[name]
    for _, one in ipairs(d.rates) do
      lowest, highest = math.min(lowest or one, one), math.max(highest or one, one)
    end
    if d.ios > 0 then
      bytes = bytes + d.bytes
      least_ms = math.min(least_ms or d.runtime_ms, d.runtime_ms)
      most_ms = math.max(most_ms or d.runtime_ms, d.runtime_ms)
    end
  end
  if bytes == 0 then return end
  local kib, kb = rate(bytes * 1000 // most_ms)
  local low_kib, low_kb = rate(lowest)
  local high_kib, high_kb = rate(highest)
  local iec, si = bytes_text(bytes)
  add(("%7s: bw=%s (%s), %s-%s (%s-%s), io=%s (%s), run=%d-%dmsec"):format(name:upper(), kib, kb,
    low_kib, high_kib, low_kb, high_kb, iec, si, least_ms, most_ms))
end

local function disk_lines(add, results)
  local disk = results:disk()
  if not disk then return end
  add("")
  add("Disk stats (read/write):")
  add(f("  %s: ios=%d/%d, merge=0/0, ticks=0/0, in_queue=%d, util=%.2f%%", results.device,
    disk.read_operations, disk.write_operations, disk.busy_ns // 1000000, disk.util_percent))
end

--- All lines.
---@param results storlua.FioResults
---@return string[]
function fio_text.lines(results)
  local lines = {}
  local function add(line) lines[#lines + 1] = line end
  for _, job in ipairs(results.jobs) do
    local most = job.said.record_bytes
    local least = job.said.least_bytes or most
    add(("%s: (g=%d): rw=%s, bs=(R) %dB-%dB, (W) %dB-%dB, (T) %dB-%dB, ioengine=%s, iodepth=%d")
      :format(job.name, job.group, job.said.options.rw or job.said.options.readwrite or "read",
        least, most, least, most, least, most, job.said.engine, job.said.iodepth))
  end
  add(("storlua-%s"):format(results.version or "?"))
  add("")
  local groups, last = {}, -1
  for _, job in ipairs(results.jobs) do
    job_lines(add, job)
    groups[job.group] = groups[job.group] or {}
    table.insert(groups[job.group], job)
    last = math.max(last, job.group)
  end
  for group = 0, last do
    if groups[group] then
      add("")
      add(("Run status group %d (all jobs):"):format(group))
      for _, name in ipairs(fio_results.DIRECTIONS) do group_line(add, groups[group], name) end
    end
  end
  disk_lines(add, results)
  return lines
end

return fio_text
