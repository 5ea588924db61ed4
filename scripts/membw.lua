#!/usr/bin/env storlua
-- SPDX-License-Identifier: MIT
--- Memory bandwidth and latency by working set: the cache steps as a curve,
--- every operation at a size that is proved to be memory, 1 … N threads.

local bandwidth = require("storlua.memory.bandwidth")
local bw_mem = require("storlua.memory.bw_mem")
local conditions = require("storlua.memory.conditions")
local curve = require("storlua.memory.curve")
local levels = require("storlua.memory.levels")
local limits = require("storlua.memory.limits")
local plan = require("storlua.memory.plan")
local quantity = require("storlua.quantity")
local request = require("storlua.memory.request")
local storlua = require("storlua")

-- What the system refuses is found before anything is measured, too.
local function rehearse(operations, threads, options)
  local why = plan.rehearse { operations = operations, threads = threads, options = options }
  if why then storlua.usage(why) end
end

local function figure(value, decimals)
  if not value then return "-" end
  return (("%." .. (decimals or 0) .. "f"):format(value):gsub(",", "."))
end

local function percent(value) return value and figure(value, 1) .. "%" or "-" end

local ROW <const> = "  %-9s %2s  %9s %9s %9s %9s %9s  %6s %6s  %6s  %s"

local function show_change(result)
  local change = conditions.change(result.conditions)
  if change then print("             " .. change) end
end

local function show(result, operation, threads)
  print(ROW:format(operation, threads, figure(result.mb_s), figure(result.best_mb_s),
    figure(result.payload_mb_s), figure(result.bus_mb_s),
    figure(result.mb_s and result.mb_s / 1.048576), percent(result.iqr_percent),
    percent(result.spread_percent), figure(result.scaling, 2),
    (result.kernel or result["end"]) .. (result.noisy and "  noisy" or "")))
  show_change(result)
end

local function show_sums(sums)
  print(("page faults in the timed parts: %d; samples taken again, others were on the CPU: %d")
    :format(sums.faults, sums.retaken))
  if sums.noisy > 0 then
    print(("noisy: the middle half (iqr) of the samples, all of fewer than four, is wider than %d "
      .. "%% of the median: the machine does other work"):format(bandwidth.noisy_percent))
  end
end

local function show_curve(points, why)
  print("read, 1 thread, by size (MB/s, the best of the samples):")
  for _, point in ipairs(points) do
    print(("  %9s %9s  %-8s %s"):format(quantity.size_text(point.bytes), figure(point.mb_s),
      point.level, point.kernel))
  end
  if why then print("no DRAM: " .. why) end
end

local function show_latency(result, bytes, pages, locality)
  print(("  %9s  %-6s %-5s %8s ns  best %8s  iqr %5s%%"):format(quantity.size_text(bytes), pages,
    locality == 0 and "all" or "block", figure(result.ns, 2), figure(result.best_ns, 2),
    figure(result.iqr_percent, 1)))
  show_change(result)
end

local function measure_bandwidth(t, opt, options, cpus)
  local operations = request.with_kernel(opt, request.operations(opt))
  local threads = request.threads(opt, cpus)
  if opt.size then request.check_size(opt.size, operations, threads) end
  rehearse(operations, threads, options)
  local points, size, level = nil, opt.size, "unknown"
  if not opt.no_curve then
    local why
    points, why = curve.measure(t, options)
    show_curve(points, why)
  end
  if size then
    level = points and levels.of(points, size) or level
  else
    -- Without a curve, or when already its first size was cut off.
    points = points and points[1] and points or { { bytes = curve.TO, level = level } }
    size, level = curve.memory_size(points, math.max(table.unpack(threads)))
  end
  print(("\nMB/s (10^6) at %s in each buffer, level %s; moved = read + written by the loop:")
    :format(quantity.size_text(size), level))
  print(ROW:format("operation", "t", "moved", "best", "payload", "bus est.", "MiB/s", "iqr",
    "spread", "times", "kernel"))
  local last, sums = plan.operations(t, { operations = operations, threads = threads, size = size,
    level = level, options = options, show = show })
  show_sums(sums)
  return last
end

local function measure_latency(t, opt, cpus)
  local options = { cpu = cpus and cpus[1], samples = opt.samples,
                    sample_seconds = opt.sample_time, limit_seconds = opt.limit, seed = t.seed }
  local pages = plan.ladder_pages(t, opt.pages, options)
  print("time of one load that waits for the one before, by working set:")
  plan.ladder(t, { asked = opt.size, top = math.min(curve.TO, limits.read().room_bytes // 2),
    pages = pages, show = show_latency, options = options })
end

local function ddr_limits(board)
  local role = board and board.roles and board.roles.ddr
  return role and role.limits or {}
end

return storlua.procedure {
  summary = "Memory bandwidth and latency by working set, operation and threads.",
  description = [[
A size is that of one buffer of one thread, as STREAM's N; MB/s are 10^6 bytes
that the loop reads and writes a second. "payload" counts each byte of a buffer
once, as bw_mem, mbw and tinymembench do; "bus est." adds the lines that are
read before they are written; "iqr" is how wide the middle half of the samples
is, "spread" how wide all are; "times" is the figure by that of one thread. A
level is named only where the curve has its plateau; "unknown" otherwise. The
limits of the board's role ddr are judged for the largest number of threads, and
only for what is proved to be memory.]],

  options = {
    { name = "op", type = "string", default = "all", help = "operations, such as read,copy,triad" },
    { name = "size", short = "s", type = "size", min = "4k",
      help = "of each buffer (default: where the curve shows memory)" },
    { name = "threads", short = "t", type = "string", default = "auto",
      help = "1,2 or all, sweep (1 to all), auto (1 and all)" },
    { name = "cpus", type = "string", help = "where the threads run: 0,2 or 4-7" },
    { name = "pages", type = "choice", choices = { "huge", "small", "hugetlb", "system" },
      help = "huge (the default): transparent huge pages where there are any; --latency takes "
        .. "small and huge" },
    { name = "kernel", type = "string", help = "only this loop, such as avx2x4" },
    { name = "samples", type = "count", default = bandwidth.SAMPLES, min = 1, max = 1000,
      help = "timed samples of each measurement" },
    { name = "sample-time", type = "duration", default = "20ms",
      help = "least length of a sample" },
    { name = "limit", type = "duration", default = "60", help = "hard limit of one measurement" },
    { name = "no-curve", type = "flag", help = "no curve, so no level is named" },
    { name = "latency", type = "flag", help = "the ladder of latencies instead of bandwidth" },
    { name = "compat", type = "choice", choices = { "bw_mem" },
      help = "print the form of the vendors' memory_bandwidth.sh" },
  },

  thresholds = function(opt, board)
    local list = {}
    if opt.latency or opt.compat then return list end
    for _, limit in ipairs(ddr_limits(board)) do
      for _, operation in ipairs(request.operations(opt)) do
        if limit.min and limit.metric == operation .. ".mb_s" then
          list[#list + 1] = { metric = "ddr." .. limit.metric,
                              rule = ("%s >= %s"):format(limit.statistic, figure(limit.min, 3)) }
        end
      end
    end
    return list
  end,

  target = false,
  run = function(t, opt)
    local cpus = request.cpus(opt)
    request.check_mode(opt, cpus)
    local options = { cpus = cpus, pages = opt.pages or "huge", kernel = opt.kernel,
                      samples = opt.samples, sample_seconds = opt.sample_time,
                      limit_seconds = opt.limit }
    t:note("instruction_sets", bandwidth.instruction_sets())
    t:note("memory", limits.text(limits.read()))
    for key, text in pairs(conditions.status()) do t:note(key, text) end
    if not opt.compat and not opt.latency then
      plan.judge(t, measure_bandwidth(t, opt, options, cpus), ddr_limits(t.board))
      return
    end
    if opt.size then request.check_size(opt.size, { "read" }, { 1 }) end
    rehearse({ "read" }, { 1 }, { cpus = cpus, pages = options.pages })
    if opt.latency then
      measure_latency(t, opt, cpus)
    else
      bw_mem.run(t, print, { cpus = cpus, pages = options.pages, sample_seconds = opt.sample_time,
                             limit_seconds = opt.limit })
      print("# MB/s of 10^6; a copy counts once; rd, wr, rdwr and cp touch 4 bytes of 16")
    end
  end,
}
