-- SPDX-License-Identifier: MIT
--- Bandwidth, latency and levels from Lua.
local bandwidth = require("storlua.memory.bandwidth")
local curve = require("storlua.memory.curve")
local fake_tree = require("fake_tree")
local latency = require("storlua.memory.latency")
local levels = require("storlua.memory.levels")
local limits = require("storlua.memory.limits")
local loop = require("storlua.core.loop")
local lu = require("luaunit")
local process = require("storlua.process")
local sanitizer = require("sanitizer")
local task = require("storlua.task")

local function measure(fields)
  fields.sample_seconds = fields.sample_seconds or 0.0005
  fields.size = fields.size or "64k"
  return bandwidth.run(fields)
end

local T = {}

function T.setUp()
  lu.skipIf(sanitizer == "thread", "its own page faults fall into the timed parts")
end

function T.test_what_is_counted()
  local moved = { read = 1, write = 1, copy = 2, scale = 2, add = 3, triad = 3, fill = 1,
                  memcpy = 2, zero = 1 }
  for operation, times in pairs(moved) do
    local r, spec = measure { operation = operation }
    lu.assertNil(bandwidth.problem(r))
    lu.assertEquals(r.working_set_bytes, times * spec.buffer_bytes)
    lu.assertAlmostEquals(r.mb_s, times * r.payload_mb_s, r.mb_s * 1e-9)
    if r.bus_rule == "allocate" then lu.assertTrue(r.bus_mb_s > r.mb_s) end
    if r.bus_rule == "bypass" then lu.assertAlmostEquals(r.bus_mb_s, r.mb_s, r.mb_s * 1e-9) end
    if r.bus_rule == "unknown" then lu.assertNil(r.bus_mb_s) end
    lu.assertEquals(#r.samples, bandwidth.SAMPLES)
    lu.assertTrue(r.retaken <= bandwidth.SAMPLES)
    lu.assertTrue(r.iqr_percent <= r.spread_percent)
    lu.assertEquals(r.noisy, r.iqr_percent > bandwidth.noisy_percent)
    lu.assertEquals(r.faults, 0)
    for _, sample in ipairs(r.samples) do
      lu.assertEquals(math.type(sample.ns), "integer")
      lu.assertEquals(sample.payload_bytes % spec.buffer_bytes, 0)
    end
    lu.assertNotNil(r.tried[r.kernel])
  end
end

function T.test_a_named_kernel()
  local r = measure { operation = "read", kernel = "cx4" }
  lu.assertEquals(r.kernel, "cx4")
  local _, err = bandwidth.try_run { operation = "read", kernel = "cx9", size = "4k" }
  lu.assertEquals(err.code, "EINVAL")
end

function T.test_bad_working_sets()
  for _, size in ipairs { 0, 4097, 1000 } do
    local _, err = bandwidth.try_run { operation = "copy", size = size }
    lu.assertEquals(err.code, "EINVAL")
    lu.assertStrContains(err.message, "multiple of 4096")
  end
  local _, err = bandwidth.try_run { operation = "copy", size = "64T" }
  lu.assertEquals(err.code, "ENOMEM")
  local is_32_bit = string.packsize("T") == 4
  lu.assertStrContains(err.message, is_32_bit and "of a 32-bit program" or "stay free")
end

function T.test_more_threads_than_cpus()
  local _, err = bandwidth.try_run { operation = "read", size = "4k", threads = 250 }
  lu.assertEquals(err.code, "EINVAL")
  lu.assertStrContains(err.message, "250 threads")
  _, err = bandwidth.try_run { operation = "read", size = "4k", threads = 1, cpus = { 4000 } }
  lu.assertStrContains(err.message, "CPU 4000")
end

function T.test_huge_pages_that_are_not_there()
  local _, err = bandwidth.try_run { operation = "read", size = "4k", pages = "hugetlb" }
  if err then lu.assertStrContains(err.message, "huge pages") end
  local r = measure { operation = "read", pages = "small", size = "4M" }
  lu.assertEquals(r.huge_bytes, 0)
end

function T.test_cancel_is_quick()
  local begin
  local ok = pcall(task.timeout, 0.2, function()
    begin = loop.now_ns()
    bandwidth.run { operation = "read", size = "1M", sample_seconds = 1000 }
  end)
  lu.assertFalse(ok)
  -- Generous: the machine may be busy; a sample would take 1000 s.
  lu.assertTrue(loop.now_ns() - begin < 5 * 1000000000)
end

function T.test_timers_go_on_meanwhile()
  local ticks = 0
  local scope <close> = task.scope()
  scope:spawn("ticks", function()
    while true do
      task.sleep(0.01)
      ticks = ticks + 1
    end
  end)
  measure { operation = "read", size = "1M", sample_seconds = 0.05 }
  lu.assertTrue(ticks > 5)
end

function T.test_time_limit()
  local r = measure { operation = "read", size = "1M", sample_seconds = 1000,
                      limit_seconds = 0.05 }
  lu.assertEquals(r["end"], "time_limit")
  lu.assertStrContains(bandwidth.problem(r), "time limit")
end

function T.test_latency()
  local r = latency.run { size = "64k", sample_seconds = 0.001 }
  lu.assertNil(latency.problem(r))
  lu.assertTrue(r.ns > 0 and r.best_ns <= r.ns)
  r = latency.run { size = "1M", locality = "64k", pages = "small", sample_seconds = 0.001 }
  lu.assertNil(latency.problem(r))
end

local function points_of(values)
  local points, bytes = {}, 4096
  for i, mb_s in ipairs(values) do
    points[i] = { bytes = bytes, mb_s = mb_s }
    bytes = bytes * 2
  end
  return points
end

local function names(points)
  local list = {}
  for i, point in ipairs(points) do list[i] = point.level end
  return table.concat(list, " ")
end

function T.test_levels_of_a_clear_curve()
  local points = points_of { 100, 101, 99, 60, 61, 60, 58, 30, 31, 30, 18, 10, 10, 10.2, 9.9 }
  local found = levels.name(points)
  lu.assertEquals(names(points), "L1 L1 L1 L2 L2 L2 L2 LLC LLC LLC unknown DRAM DRAM DRAM DRAM")
  lu.assertEquals(found.DRAM.from_bytes, 4096 << 11)
  lu.assertEquals(levels.of(points, (4096 << 12) + 4096), "DRAM")
  lu.assertEquals(levels.of(points, 4096 << 20), "DRAM")
  lu.assertEquals(levels.of(points, 4096 << 12), "DRAM")
  lu.assertEquals(levels.of(points, (4096 << 11) + 4096), "unknown") -- may be half cache
  lu.assertEquals(levels.of(points, 4096 << 11), "unknown")
  lu.assertEquals(levels.of(points, 4096 + 1), "L1")
  lu.assertEquals(levels.of(points, (4096 << 9) + 1), "unknown")
end

function T.test_levels_that_are_not_proved()
  local falling = points_of { 100, 80, 64, 50, 40, 32, 25, 20, 16, 12 }
  lu.assertNil(levels.name(falling).DRAM)
  local flat = points_of { 10, 10, 10, 10, 10, 10 } -- one scalar chain: the CPU is measured
  lu.assertNil(levels.name(flat).DRAM)
  local short = points_of { 100, 100, 100, 50, 20, 10 } -- the knee, not the plateau
  lu.assertNil(levels.name(short).DRAM)
  lu.assertEquals(names(short), "L1 L1 L1 unknown unknown unknown")
end

-- Without memory for a longer curve its last plateau may be that of a cache.
function T.test_the_end_of_a_short_curve_is_not_called_memory()
  local MIB <const> = 1 << 20
  local function name(known)
    local points = points_of { 100, 101, 99, 60, 61, 60, 58, 30, 31, 30, 29, 30 } -- to 8 MiB
    local found, why = levels.name(points, known)
    return found.DRAM ~= nil, why, points[#points].level
  end
  lu.assertTrue(name())
  local is_memory, why, last = name { enough_bytes = 256 * MIB, cache_bytes = 36 * MIB }
  lu.assertFalse(is_memory)
  lu.assertEquals(last, "unknown")
  lu.assertStrContains(why, "ends at 8 MiB")
  lu.assertStrContains(why, "the cache of 36 MiB")
  is_memory, why = name { enough_bytes = 256 * MIB }
  lu.assertFalse(is_memory)
  lu.assertStrContains(why, "the kernel shows no size")
  lu.assertFalse(name { enough_bytes = 256 * MIB, cache_bytes = 4 * MIB })
  is_memory, why = name { enough_bytes = 256 * MIB, cache_bytes = 512 << 10 } -- a small board
  lu.assertTrue(is_memory)
  lu.assertNil(why)
  lu.assertTrue(name { enough_bytes = 8 * MIB, cache_bytes = 36 * MIB })
end

function T.test_the_largest_cache_that_the_kernel_shows()
  local tree <close> = fake_tree.new()
  local cpus = "sys/devices/system/cpu/"
  tree:write(cpus .. "cpu0/cache/index0/size", "32K\n")
  tree:write(cpus .. "cpu0/cache/index1/size", "512K\n")
  tree:write(cpus .. "cpu4/cache/index0/size", "2048K\n")
  tree:write(cpus .. "cpuidle/current_driver", "none\n")
  lu.assertEquals(curve.cache_bytes(tree.path), 2 << 20)
  lu.assertNil(curve.cache_bytes(tree.path .. "/sys"))
end

function T.test_a_cpu_that_is_named_twice()
  local _, err = bandwidth.try_run { operation = "read", size = "4k", threads = 2,
                                     cpus = { 0, 0 } }
  lu.assertEquals(err.code, "EINVAL")
  lu.assertStrContains(err.message, "CPU 0 is named twice")
end

-- Those that are offline, or forbidden, are not counted: nproc says the same.
function T.test_the_cpus_that_threads_can_have()
  local count = math.tointeger(tonumber(process.run { "nproc" }.stdout))
  lu.assertEquals(bandwidth.cpus(), math.min(count, 256))
end

function T.test_the_size_leaves_room_for_a_triad_of_all_threads()
  local GIB <const> = 1 << 30
  local room = limits.read().room_bytes
  local points = points_of { 100, 100, 100, 50, 10, 10, 10, 10 }
  levels.name(points)
  for i, point in ipairs(points) do point.bytes = GIB >> (#points - i) end
  local bytes, level = curve.memory_size(points, 1)
  lu.assertTrue(3 * bytes <= room)
  if room > 8 * GIB then lu.assertEquals({ bytes, level }, { GIB // 2, "DRAM" }) end
  bytes = curve.memory_size(points, 64)
  lu.assertTrue(64 * 3 * bytes <= room)
  lu.assertEquals(bytes % (1 << 20), 0)
end

function T.test_limits()
  local l = limits.read()
  lu.assertTrue(l.free_bytes <= l.available_bytes)
  local bytes = limits.share("1%")
  lu.assertTrue(bytes > 0 and bytes <= l.total_bytes // 50)
  local none, why = limits.share("0%")
  lu.assertNil(none)
  lu.assertStrContains(why, "1% to 100%")
  none, why = limits.share("1000T")
  lu.assertNil(none)
  lu.assertStrContains(why, "stay for others")
  lu.assertNil(limits.share("many"))
end

return T
