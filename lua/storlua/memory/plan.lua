-- SPDX-License-Identifier: MIT
--- What scripts/membw.lua measures, step by step: the curve that finds the
--- levels, the operations at a size that is proved to be memory, the ladder of
--- latencies, and what the board's limits say of them.

local bandwidth = require("storlua.memory.bandwidth")
local conditions = require("storlua.memory.conditions")
local errors = require("storlua.errors")
local latency = require("storlua.memory.latency")
local levels = require("storlua.memory.levels")
local limits = require("storlua.memory.limits")
local quantity = require("storlua.quantity")

local MIB <const> = 1 << 20

local plan = {
  CURVE_FROM = 4096,
  CURVE_TO = 256 << 20, -- on machines with less memory: an eighth of what is free
  LEAST = 64 << 20, -- of the size for the operations
  CURVE_MAX = 1 << 30, -- as far as it goes on when no plateau was found
}

--- A size as a segment of a case id: "64KiB", "1_5GiB".
---@param bytes integer
---@return string
function plan.size_id(bytes)
  return (quantity.size_text(bytes):gsub(" ", ""):gsub("[.,]", "_"))
end

local function record(t, id, result, spec, problem, labels)
  t:memory(id, { spec = spec, result = result, reason = problem(result), labels = labels })
  return result
end

-- Fields of one measurement go before the options of all.
local function with(options, fields)
  for key, value in pairs(options) do
    if fields[key] == nil then fields[key] = value end
  end
  return fields
end

local function has(operation, kernel)
  local list = bandwidth.kernels(operation)
  for _, name in ipairs(list) do
    if name == kernel then return true end
  end
  return kernel == nil and list[1] ~= nil
end

local function curve_limit()
  local room = limits.read().room_bytes // 8
  local top = plan.CURVE_TO
  while top > room and top > plan.CURVE_FROM do top = top // 2 end
  return top
end

--- The read rate of one thread by size. Goes on until the last sizes are a
--- plateau, within reason.
---@async
---@param t storlua.Run
---@param options table fields of every spec
---@return table[] points {bytes, mb_s, level}
function plan.curve(t, options)
  local points, top, bytes = {}, curve_limit(), plan.CURVE_FROM
  local all = with(options, {}) -- the kernel may be one of another operation
  if not has("read", all.kernel) then all.kernel = nil end
  local most = math.min(plan.CURVE_MAX, limits.read().room_bytes // 4)
  while bytes <= top do
    t:phase("curve " .. quantity.size_text(bytes))
    local result, spec = conditions.around(bandwidth.run, with(all, {
      operation = "read", size = bytes, threads = 1, sample_seconds = 0.005, samples = 9 }))
    record(t, "curve.read." .. plan.size_id(bytes), result, spec, bandwidth.problem)
    if not result.mb_s then break end
    local best = result.best_mb_s -- the trials of all kernels are samples too
    for _, mb_s in pairs(result.tried) do best = math.max(best, mb_s) end
    points[#points + 1] = { bytes = bytes, mb_s = best, kernel = result.kernel }
    if bytes * 2 > top and bytes * 2 <= most and not levels.name(points).DRAM then
      top = bytes * 2
    end
    bytes = bytes * 2
  end
  t:note("levels", levels.name(points))
  return points
end

--- The size that the operations are measured at: well inside the plateau of
--- the memory, else the largest of the curve; less where the three buffers of a
--- triad of all threads would not fit.
---@param points table[]
---@param threads integer
---@return integer bytes
---@return string level
function plan.memory_size(points, threads)
  local most = limits.read().room_bytes * 3 // 4 // (3 * threads) // MIB * MIB
  local last, first = points[#points], nil
  for _, point in ipairs(points) do
    if not first and point.level == "DRAM" then first = point end
  end
  local bytes = first and math.max(4 * first.bytes, plan.LEAST) or last.bytes
  bytes = math.max(math.min(bytes, last.bytes, most), MIB)
  return bytes, levels.of(points, bytes)
end

--- One operation at one size with one number of threads.
---@async
---@param t storlua.Run
---@param fields table of the spec
---@param level string
---@param single number|nil MB/s of one thread: result.scaling is by that
---@return table|nil result nil when it could not start
function plan.operation(t, fields, level, single)
  local id = ("%s.%s.t%d"):format(fields.operation, plan.size_id(fields.size), fields.threads)
  t:phase(id)
  -- What is free may have become less since it was asked.
  local result, spec = errors.try(conditions.around, bandwidth.run, fields)
  if not result then
    t:check(id, false, "%s", spec.message)
    return nil
  end
  result.level, result.scaling = level, single and result.mb_s and result.mb_s / single
  return record(t, id, result, spec, bandwidth.problem)
end

--- Tries on little memory what will be measured: a CPU that is forbidden, an
--- empty pool of huge pages. Returns why it will not go, or nil.
---@async
---@param want table operations, threads (list), options
---@return string|nil
function plan.rehearse(want)
  for _, operation in ipairs(want.operations) do
    if has(operation) then
      local ok, err = bandwidth.try_run(with(want.options, {
        operation = operation, size = 4096, threads = math.max(table.unpack(want.threads)),
        samples = 1, sample_seconds = 1e-6 }))
      if not ok then return err.hint or err.message end
    end
  end
end

--- All operations by all numbers of threads. Each result is on disk before the
--- next begins. show(result, operation, threads) prints it.
---@async
---@param t storlua.Run
---@param want table operations, threads (list), size, level, options, show
---@return table results by operation, of the largest number of threads
---@return {faults: integer, retaken: integer, noisy: integer} sums
function plan.operations(t, want)
  local last, sums = {}, { faults = 0, retaken = 0, noisy = 0 }
  for _, operation in ipairs(want.operations) do
    local single
    if not has(operation) then
      t:note("not_measured." .. operation, "this CPU has no instruction for it")
    end
    for _, threads in ipairs(has(operation) and want.threads or {}) do
      local result = plan.operation(t, with(want.options, {
        operation = operation, size = want.size, threads = threads }), want.level, single)
      if result then
        if threads == 1 then single = result.mb_s end
        last[operation] = result
        sums.faults, sums.retaken = sums.faults + result.faults, sums.retaken + result.retaken
        if result.noisy then sums.noisy = sums.noisy + 1 end
        want.show(result, operation, threads)
      end
    end
  end
  return last, sums
end

--- The ladder of latencies: over all of the working set, and within 256 KiB at
--- a time, where misses of the TLB do not count.
---@async
---@param t storlua.Run
---@param want table top (bytes), pages (list), options, show
function plan.ladder(t, want)
  local BLOCK <const> = 256 << 10
  local bytes = plan.CURVE_FROM
  while bytes <= want.top do
    for _, pages in ipairs(want.pages) do
      for _, locality in ipairs { 0, BLOCK } do
        if locality == 0 or bytes > BLOCK then
          local id = ("latency.%s.%s.%s"):format(plan.size_id(bytes), pages,
            locality == 0 and "all" or "block")
          t:phase(id)
          local result, spec = conditions.around(latency.run, with(want.options, {
            size = bytes, pages = pages, locality = locality }))
          record(t, id, result, spec, latency.problem)
          want.show(result, bytes, pages, locality)
        end
      end
    end
    bytes = bytes * 4
  end
end

--- Samples for the board's limits of the role ddr: of memory only, as proved.
---@async
---@param t storlua.Run
---@param results table by operation
---@param rules table[] limits
function plan.judge(t, results, rules)
  for _, limit in ipairs(rules) do
    local result = results[limit.metric:match("^([%w_]+)%.mb_s$")]
    if result and result.mb_s and result.level == "DRAM" then
      local metric = "ddr." .. limit.metric
      t:sample(metric, result.mb_s, "MB/s")
      if limit.max and result.mb_s > limit.max then
        t:note("board." .. metric, ("implausible: %.0f MB/s are more than the %.0f that its bus "
          .. "can carry"):format(result.mb_s, limit.max))
      end
    end
  end
end

return plan
