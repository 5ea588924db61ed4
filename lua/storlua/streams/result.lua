-- SPDX-License-Identifier: MIT
--- One result of the results of several streams.

local histogram = require("storlua.histogram")

local parts = {}

local MIB = 1048576
local SUMS = { "operations", "calls", "short_calls", "bytes" }

-- min, max, mean and sum of the rates of the streams, each over its own time.
local function spread(rates)
  if #rates == 0 then return nil end
  local sum, min, max = 0, math.huge, 0
  for _, rate in ipairs(rates) do
    sum, min, max = sum + rate, math.min(min, rate), math.max(max, rate)
  end
  return { min = min, max = max, mean = sum / #rates, sum = sum, count = #rates }
end

-- Bytes of all over the longest time of one.
local function direction(results, name)
  local tally, latencies, rates = { io_ns = 0 }, {}, {}
  for _, key in ipairs(SUMS) do tally[key] = 0 end
  for _, r in ipairs(results) do
    local one = r[name]
    if not one then return nil end
    for _, key in ipairs(SUMS) do tally[key] = tally[key] + one[key] end
    tally.io_ns = math.max(tally.io_ns, one.io_ns)
    latencies[#latencies + 1] = histogram.from_summary(one.latency)
    rates[#rates + 1] = one.mib_s or 0
  end
  tally.latency = histogram.merged(latencies):summary()
  tally.streams_mib_s = spread(rates)
  if tally.io_ns > 0 and tally.bytes > 0 then
    tally.mib_s = tally.bytes / MIB / (tally.io_ns / 1e9)
    tally.iops = tally.operations / (tally.io_ns / 1e9)
  end
  return tally
end

-- What was moved while all were at work. Without such a time, or when one of
-- them never ran, there is no rate.
local function window(group)
  local start_ns, end_ns, shares = group:window()
  if not start_ns then return nil end
  local w = { ns = math.max(end_ns - start_ns, 0), bytes = 0, operations = 0, streams = shares }
  local first = start_ns
  for _, share in ipairs(shares) do
    w.bytes, w.operations = w.bytes + share.bytes, w.operations + share.operations
    first = math.min(first, share.start_ns)
    share.start_ns, share.end_ns = share.start_ns - start_ns, share.end_ns - start_ns
  end
  w.start_skew_ns = start_ns - first
  if w.ns > 0 and w.bytes > 0 then
    w.mib_s, w.iops = w.bytes / MIB / (w.ns / 1e9), w.operations / (w.ns / 1e9)
  end
  return w
end

-- The worst end, worst first; a stonewall is a good one.
local WORST = { "error", "too_slow", "no_space", "cancelled", "not_cold", "end_of_device" }

local function whole_end(results)
  local seen = {}
  for _, r in ipairs(results) do seen[r["end"]] = true end
  for _, name in ipairs(WORST) do
    if seen[name] then return name end
  end
  return "complete"
end

local function verify(results)
  local all
  for _, r in ipairs(results) do
    local one = r.verify
    if one then
      all = all or { sectors = 0, bad_sectors = 0, zero_sectors = 0, old_sectors = 0,
        damage = {}, bad = {} }
      for _, key in ipairs { "sectors", "bad_sectors", "zero_sectors", "old_sectors" } do
        all[key] = all[key] + one[key]
      end
      for kind, count in pairs(one.damage) do
        all.damage[kind] = (all.damage[kind] or 0) + count
      end
      table.move(one.bad, 1, #one.bad, #all.bad + 1, all.bad)
    end
  end
  return all
end

local function flush(results)
  local all, latencies
  for _, r in ipairs(results) do
    if r.flush then
      all, latencies = all or { count = 0, ns = 0 }, latencies or {}
      all.count, all.ns = all.count + r.flush.count, math.max(all.ns, r.flush.ns)
      latencies[#latencies + 1] = histogram.from_summary(r.flush.latency)
    end
  end
  if all then all.latency = histogram.merged(latencies):summary() end
  return all
end

-- What was resident before any of them; they may lie on one file.
local function cache(results)
  local first = results[1].cache
  if not first then return nil end
  local all = { source = first.source, cold = first.cold, resident_before_bytes = 0,
                unbacked_before_bytes = 0 }
  for _, r in ipairs(results) do
    all.cold = all.cold and r.cache.cold
    for _, key in ipairs { "resident_before_bytes", "unbacked_before_bytes" } do
      all[key] = all[key] and r.cache[key] and all[key] + r.cache[key]
    end
  end
  return all
end

local function notes(results)
  local list, seen = {}, {}
  for _, r in ipairs(results) do
    for _, note in ipairs(r.notes) do
      if not seen[note] then list[#list + 1], seen[note] = note, true end
    end
  end
  return list
end

local function cpu(results)
  local all = {}
  for _, r in ipairs(results) do
    for key, value in pairs(r.cpu) do all[key] = (all[key] or 0) + value end
  end
  return all
end

--- The result of all streams, with those of the single ones in `streams` and
--- what was done at the same time in `window`.
---@param results table[]
---@param group userdata of storlua.core.streams
---@return table
function parts.joined(results, group)
  local first = results[1]
  local all = {
    ["end"] = whole_end(results), streams = results, window = window(group),
    read = direction(results, "read"), write = direction(results, "write"),
    trim = direction(results, "trim"),
    engine = first.engine, queue_depth = first.queue_depth,
    flush = flush(results), verify = verify(results), notes = notes(results),
    clock = first.clock, clock_off_ns = 0,
    cpu = cpu(results), target = first.target, cache = cache(results), device = first.device,
    total_ns = 0, fill_ns = 0, verify_ns = 0, pace_ns = 0, open_ns = 0,
    errors = {}, errors_total = 0, visits = 0, passes = math.maxinteger,
    boot_start_ns = first.boot_start_ns, generation_last = first.generation_last,
  }
  for _, r in ipairs(results) do
    for _, key in ipairs { "total_ns", "open_ns", "clock_off_ns" } do
      all[key] = math.max(all[key], r[key])
    end
    for _, key in ipairs { "fill_ns", "verify_ns", "pace_ns", "errors_total", "visits" } do
      all[key] = all[key] + r[key]
    end
    all.passes = math.min(all.passes, r.passes)
    all.error = all.error or r.error
    table.move(r.errors, 1, #r.errors, #all.errors + 1, all.errors)
  end
  return all
end

return parts
