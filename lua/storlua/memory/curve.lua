-- SPDX-License-Identifier: MIT
--- The read rate of one thread by size: the curve that finds the levels, and the
--- size that it proves to be memory.

local bandwidth = require("storlua.memory.bandwidth")
local conditions = require("storlua.memory.conditions")
local errors = require("storlua.errors")
local fs = require("storlua.fs")
local levels = require("storlua.memory.levels")
local limits = require("storlua.memory.limits")
local plan = require("storlua.memory.plan")
local quantity = require("storlua.quantity")

local MIB <const> = 1 << 20

local curve = {
  FROM = 4096,
  TO = 256 << 20, -- on machines with less memory: an eighth of what is free
  MAX = 1 << 30, -- as far as it goes on when no plateau was found
  LEAST = 64 << 20, -- of the size for the operations
}

--- The largest cache that the kernel shows of any processor, or nil.
---@param root? string put before /sys
---@return integer|nil bytes
function curve.cache_bytes(root)
  local cpus, largest = (root or "") .. "/sys/devices/system/cpu", nil
  for _, cpu in ipairs(fs.try_list(cpus) or {}) do
    local folder = cpus .. "/" .. cpu .. "/cache"
    for _, index in ipairs(cpu:find("^cpu%d") and fs.try_list(folder) or {}) do
      local text = fs.try_read(folder .. "/" .. index .. "/size") or ""
      local kib = math.tointeger(tonumber(text:match("^(%d+)K")))
      if kib then largest = math.max(largest or 0, kib * 1024) end
    end
  end
  return largest
end

local function limit()
  local room = limits.read().room_bytes // 8
  local top = curve.TO
  while top > room and top > curve.FROM do top = top // 2 end
  return top
end

--- Measures it. Goes on until the last sizes are a plateau, within reason.
---@async
---@param t storlua.Run
---@param options table fields of every spec
---@return table[] points {bytes, mb_s, level, kernel}; none when the first was cut off
---@return string|nil why the last plateau is not called memory
function curve.measure(t, options)
  local points, top, bytes = {}, limit(), curve.FROM
  local all = plan.with(options, {}) -- the kernel may be one of another operation
  if not plan.has("read", all.kernel) then all.kernel = nil end
  local most = math.min(curve.MAX, limits.read().room_bytes // 4)
  local known = { enough_bytes = curve.TO, cache_bytes = curve.cache_bytes() }
  while bytes <= top do
    t:phase("curve " .. quantity.size_text(bytes))
    local result, spec = errors.try(conditions.around, bandwidth.run, plan.with(all, {
      operation = "read", size = bytes, threads = 1, sample_seconds = 0.005, samples = 9 }))
    if not result then -- the memory became short
      t:note("curve_ended", spec.message)
      break
    end
    plan.record(t, "curve.read." .. plan.size_id(bytes), result, spec, bandwidth.problem)
    if not result.mb_s then break end
    local best = result.best_mb_s -- the trials of all kernels are samples too
    for _, mb_s in pairs(result.tried) do best = math.max(best, mb_s) end
    points[#points + 1] = { bytes = bytes, mb_s = best, kernel = result.kernel }
    if bytes * 2 > top and bytes * 2 <= most and not levels.name(points, known).DRAM then
      top = bytes * 2
    end
    bytes = bytes * 2
  end
  local found, why = levels.name(points, known)
  t:note("levels", found)
  if why then t:note("not_proved", why) end
  return points, why
end

--- The size that the operations are measured at: well inside the plateau of
--- the memory, else the largest of the curve; less where the three buffers of a
--- triad of all threads would not fit.
---@param points table[]
---@param threads integer
---@return integer bytes
---@return string level
function curve.memory_size(points, threads)
  local most = limits.read().room_bytes * 3 // 4 // (3 * threads) // MIB * MIB
  local last, first = points[#points], nil
  for _, point in ipairs(points) do
    if not first and point.level == "DRAM" then first = point end
  end
  local bytes = first and math.max(4 * first.bytes, curve.LEAST) or last.bytes
  bytes = math.max(math.min(bytes, last.bytes, most), MIB)
  return bytes, levels.of(points, bytes)
end

return curve
