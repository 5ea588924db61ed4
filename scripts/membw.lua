#!/usr/bin/env storlua
-- SPDX-License-Identifier: MIT
--- Memory bandwidth and latency by working set: the cache steps as a curve,
--- every operation at a size that is proved to be memory, 1 … N threads.

local bandwidth = require("storlua.memory.bandwidth")
local bw_mem = require("storlua.memory.bw_mem")
local conditions = require("storlua.memory.conditions")
local levels = require("storlua.memory.levels")
local limits = require("storlua.memory.limits")
local plan = require("storlua.memory.plan")
local quantity = require("storlua.quantity")
local storlua = require("storlua")

local BASIC = { "read", "write", "write_nt", "copy", "copy_nt", "scale", "add", "triad", "fill",
                "memcpy", "zero" }

local function split(text)
  local list = {}
  for item in text:gmatch("[^,%s]+") do list[#list + 1] = item end
  return list
end

local function operations_of(opt)
  local known = {}
  for _, name in ipairs(bandwidth.OPERATIONS) do known[name] = true end
  local list = opt.op == "all" and BASIC or split(opt.op)
  for _, name in ipairs(list) do
    if not known[name] then
      storlua.usage(("--op: there is no '%s': %s, all"):format(name,
        table.concat(bandwidth.OPERATIONS, ", ")))
    end
  end
  return list
end

local function cpus_of(opt)
  if not opt.cpus then return nil end
  local list = {}
  for _, item in ipairs(split(opt.cpus)) do
    local first, last = item:match("^(%d+)%-?(%d*)$")
    first = math.tointeger(tonumber(first))
    last = last ~= "" and math.tointeger(tonumber(last)) or first
    if not first or not last or last < first or last > 4095 then
      storlua.usage(("--cpus: '%s' is no CPU; 0,2 or 4-7"):format(item))
    end
    for cpu = first, last do list[#list + 1] = cpu end
  end
  return list
end

-- The CPUs that this process may use, as the kernel lists them.
local function allowed_cpus()
  for line in io.lines("/proc/self/status") do
    local text = line:match("^Cpus_allowed_list:%s*(%S+)")
    if text then return #cpus_of { cpus = text } end
  end
  return 1
end

local function threads_of(opt, cpus)
  local all = cpus and #cpus or allowed_cpus()
  if opt.threads == "auto" then return all > 1 and { 1, all } or { 1 } end
  if opt.threads == "all" then return { all } end
  local list = {}
  if opt.threads == "sweep" then
    for n = 1, all do list[n] = n end
    return list
  end
  for _, item in ipairs(split(opt.threads)) do
    local n = quantity.try_count(item)
    if not n or n < 1 then
      storlua.usage(("--threads: '%s' is no number; 1,2 or all, sweep, auto"):format(item))
    end
    if n > all then
      storlua.usage(("--threads: %d of them, and there are %d CPUs for them"):format(n, all))
    end
    list[#list + 1] = n
  end
  return list
end

-- What cannot be had is said before anything is measured. Of "all" operations
-- those without the kernel are left out.
local function with_kernel(opt, operations)
  if not opt.kernel then return operations end
  local having = {}
  for _, operation in ipairs(operations) do
    local kernels = table.concat(bandwidth.kernels(operation), " ")
    if (" " .. kernels .. " "):find(" " .. opt.kernel .. " ", 1, true) then
      having[#having + 1] = operation
    elseif opt.op ~= "all" then
      storlua.usage(("--kernel: %s has no '%s' here: %s"):format(operation, opt.kernel, kernels))
    end
  end
  if not having[1] then
    storlua.usage(("--kernel: there is no '%s' here; `read` has %s"):format(opt.kernel,
      table.concat(bandwidth.kernels("read"), " ")))
  end
  return having
end

local function check_size(size, operations, threads)
  if size % 4096 ~= 0 then storlua.usage("--size: a multiple of 4 KiB") end
  for _, operation in ipairs(operations) do
    local buffers = bandwidth.buffers(operation) * math.max(table.unpack(threads))
    local fits = size <= math.maxinteger // buffers
    local ok, why = limits.share(fits and size * buffers or math.maxinteger)
    if not ok then
      storlua.usage(("--size: %s has %d buffers in all: %s"):format(operation, buffers, why))
    end
  end
end

-- What the system refuses is found before anything is measured, too.
local function rehearse(operations, threads, options)
  local why = plan.rehearse { operations = operations, threads = threads, options = options }
  if why then storlua.usage(why) end
end

local function figure(value, decimals)
  if not value then return "-" end
  return (("%." .. (decimals or 0) .. "f"):format(value):gsub(",", "."))
end

local ROW <const> = "  %-9s %2s  %9s %9s %9s %9s %9s  %6s %6s  %6s  %s"

local function show_change(result)
  local change = conditions.change(result.conditions)
  if change then print("             " .. change) end
end

local function show(result, operation, threads)
  print(ROW:format(operation, threads, figure(result.mb_s), figure(result.best_mb_s),
    figure(result.payload_mb_s), figure(result.bus_mb_s),
    figure(result.mb_s and result.mb_s / 1.048576), figure(result.iqr_percent, 1) .. "%",
    figure(result.spread_percent, 1) .. "%", figure(result.scaling, 2),
    (result.kernel or result["end"]) .. (result.noisy and "  noisy" or "")))
  show_change(result)
end

local function show_sums(sums)
  print(("page faults in the timed parts: %d; samples taken again, others were on the CPU: %d")
    :format(sums.faults, sums.retaken))
  if sums.noisy > 0 then
    print(("noisy: the middle half (iqr) of the samples is wider than %d %% of the median: the "
      .. "machine does other work"):format(bandwidth.noisy_percent))
  end
end

local function show_curve(points)
  print("read, 1 thread, by size (MB/s, the best of the samples):")
  for _, point in ipairs(points) do
    print(("  %9s %9s  %-8s %s"):format(quantity.size_text(point.bytes), figure(point.mb_s),
      point.level, point.kernel))
  end
end

local function show_latency(result, bytes, pages, locality)
  print(("  %9s  %-6s %-5s %8s ns  best %8s  iqr %5s%%"):format(quantity.size_text(bytes), pages,
    locality == 0 and "all" or "block", figure(result.ns, 2), figure(result.best_ns, 2),
    figure(result.iqr_percent, 1)))
  show_change(result)
end

local function measure_bandwidth(t, opt, options, cpus)
  local operations, threads = with_kernel(opt, operations_of(opt)), threads_of(opt, cpus)
  if opt.size then check_size(opt.size, operations, threads) end
  rehearse(operations, threads, options)
  local points, size, level = nil, opt.size, "unknown"
  if not opt.no_curve then
    points = plan.curve(t, options)
    show_curve(points)
  end
  if size then
    level = points and levels.of(points, size) or level
  else
    points = points or { { bytes = plan.CURVE_TO, level = level } }
    size, level = plan.memory_size(points, math.max(table.unpack(threads)))
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
      default = "huge", help = "huge: transparent huge pages where there are any" },
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
      for _, operation in ipairs(operations_of(opt)) do
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
    local cpus = cpus_of(opt)
    local options = { cpus = cpus, pages = opt.pages, kernel = opt.kernel, samples = opt.samples,
                      sample_seconds = opt.sample_time, limit_seconds = opt.limit }
    t:note("instruction_sets", bandwidth.instruction_sets())
    t:note("memory", limits.text(limits.read()))
    for key, text in pairs(conditions.status()) do t:note(key, text) end
    if opt.compat or opt.latency then
      if opt.size then check_size(opt.size, { "read" }, { 1 }) end
      rehearse({ "read" }, { 1 }, { cpus = cpus, pages = opt.pages })
    end
    if opt.compat then
      local more = { cpus = cpus, pages = opt.pages, sample_seconds = opt.sample_time,
                     limit_seconds = opt.limit }
      bw_mem.run(t, print, more)
      print("# MB/s of 10^6; a copy counts once; rd, wr, rdwr and cp touch 4 bytes of 16")
      return
    end
    if opt.latency then
      print("time of one load that waits for the one before, by working set:")
      local top = opt.size or math.min(plan.CURVE_TO, limits.read().room_bytes // 2)
      plan.ladder(t, { top = top, pages = { "small", "huge" }, show = show_latency,
        options = { cpu = cpus and cpus[1], samples = math.min(opt.samples, 100),
                    sample_seconds = opt.sample_time, limit_seconds = opt.limit, seed = t.seed } })
      return
    end
    plan.judge(t, measure_bandwidth(t, opt, options, cpus), ddr_limits(t.board))
  end,
}
