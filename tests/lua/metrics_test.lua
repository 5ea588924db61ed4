-- SPDX-License-Identifier: MIT
local lu = require("luaunit")
local metrics = require("storlua.metrics")

local test = {}

function test.no_sample_has_no_statistics()
  local m = metrics.new_metric()
  for _, name in ipairs { "min", "max", "mean", "last", "p50", "p99.9" } do
    lu.assertNil(m:statistic(name), name)
  end
  lu.assertEquals(m:statistic("count"), 0)
end

function test.one_sample_is_every_statistic()
  local m = metrics.new_metric()
  m:add(42)
  for _, name in ipairs { "min", "max", "mean", "last", "p0", "p50", "p99.99", "p100" } do
    lu.assertEquals(m:statistic(name), 42, name)
  end
  lu.assertEquals(math.type(m:statistic("p50")), "integer")
end

function test.few_samples_have_exact_percentiles()
  local m = metrics.new_metric()
  for i = 1000, 1, -1 do m:add(i) end
  lu.assertEquals(m:percentile(50), 500)
  lu.assertEquals(m:percentile(99), 990)
  lu.assertEquals(m:percentile(99.9), 999)
  lu.assertEquals(m:percentile(100), 1000)
  lu.assertAlmostEquals(m.mean, 500.5, 1e-9)
  lu.assertEquals(m.last, 1)
end

function test.many_samples_are_within_a_percent()
  local m = metrics.new_metric()
  for i = 1, 100000 do m:add((i * 7919) % 100000 + 0.5) end
  lu.assertNil(m.values)
  for _, percent in ipairs { 1, 10, 50, 90, 99, 99.9 } do
    lu.assertAlmostEquals(m:percentile(percent) / (percent * 1000), 1, 0.01)
  end
  lu.assertEquals(m.min, 0.5)
  lu.assertEquals(m.max, 99999.5)
  lu.assertEquals(m.count, 100000)
end

function test.negative_zero_tiny_and_huge_values_keep_their_order()
  local m = metrics.new_metric()
  local values = { -1e30, -5, -1e-30, 0, 1e-30, 3, 1e30 }
  for _ = 1, 200 do
    for _, value in ipairs(values) do m:add(value) end
  end
  lu.assertEquals(m:percentile(0), -1e30)
  lu.assertEquals(m:percentile(100), 1e30)
  lu.assertAlmostEquals(m:percentile(20), -5, 0.05)
  lu.assertEquals(m:percentile(50), 0.0)
  lu.assertAlmostEquals(m:percentile(80), 3, 0.03)
end

function test.memory_does_not_grow_with_the_samples()
  local m = metrics.new_metric()
  local function fill() for i = 1, 50000 do m:add(60 + (i * 37 % 1000) / 10) end end
  fill()
  collectgarbage()
  local before = collectgarbage("count")
  fill()
  collectgarbage()
  lu.assertTrue(collectgarbage("count") - before < 4)
end

function test.merging_keeps_extremes_mean_and_count()
  local m = metrics.new_metric()
  m:add(10)
  m:merge { count = 3, min = 1, max = 30, mean = 20, last = 5 }
  m:merge { count = 0 }
  lu.assertEquals({ m.count, m.min, m.max, m.mean, m.last }, { 4, 1, 30, 17.5, 5 })
end

function test.counters_start_at_zero_and_samples_do_not()
  local all = metrics.new()
  lu.assertEquals(all:value("kernel.errors", "count", 10), 0)
  lu.assertEquals(all:value("kernel.errors", "rate", 10), 0)
  lu.assertNil(all:value("disk.celsius", "max", 10))
  all:count("kernel.errors", "text", 2)
  lu.assertEquals(all:value("kernel.errors", "count", 10), 2)
  lu.assertEquals(all:value("kernel.errors", "rate", 1800 * 10 ^ 9 // 1), 4.0)
  all:sample("disk.celsius", 40, "C")
  lu.assertEquals(all:value("disk.celsius", "count", 10), 1)
end

function test.names_are_bounded()
  local all = metrics.new()
  for i = 1, metrics.names_max do all:sample("m" .. i, 1) end
  local ok, message = pcall(all.sample, all, "one_more", 1)
  lu.assertFalse(ok)
  lu.assertStrContains(message, "at most")
end

return test
