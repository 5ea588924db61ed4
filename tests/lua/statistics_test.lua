-- SPDX-License-Identifier: MIT
--- Figures of small sets against values worked out by hand or from tables.

local lu = require("luaunit")
local statistics = require("storlua.statistics")

local suite = {}

function suite.test_median_and_spread()
  lu.assertNil(statistics.median {})
  lu.assertEquals(statistics.median { 3, 1, 2 }, 2)
  lu.assertEquals(statistics.median { 4, 1, 2, 3 }, 2.5)
  lu.assertNil(statistics.spread_percent { 5 })
  lu.assertEquals(statistics.spread_percent { 9, 10, 11 }, 20)
end

function suite.test_interquartile_range()
  lu.assertNil(statistics.iqr_percent { 1, 2, 3 })
  lu.assertAlmostEquals(statistics.iqr_percent { 98, 99, 100, 101, 102 }, 2, 1e-9)
  lu.assertAlmostEquals(statistics.iqr_percent { 1, 99, 100, 101, 5000 }, 2, 1e-9) -- strays
  lu.assertAlmostEquals(statistics.iqr_percent { 10, 20, 30, 40 }, 60, 1e-9)
end

function suite.test_exact_p()
  -- Complete separation: 2 of the C(n+m, n) choices are as far out.
  lu.assertAlmostEquals(statistics.mann_whitney({ 1, 2, 3 }, { 4, 5, 6 }), 2 / 20, 1e-12)
  lu.assertAlmostEquals(statistics.mann_whitney({ 1, 2, 3, 4 }, { 5, 6, 7, 8 }), 2 / 70, 1e-12)
  lu.assertAlmostEquals(statistics.mann_whitney({ 6, 7, 8, 9, 10 }, { 1, 2, 3, 4, 5 }), 2 / 252,
    1e-12)
  -- U = 2 of 4 and 4: tables give 0.057 for one side 4/70.
  lu.assertAlmostEquals(statistics.mann_whitney({ 1, 2, 3, 6 }, { 4, 5, 7, 8 }), 8 / 70, 1e-12)
  lu.assertEquals(statistics.mann_whitney({ 5, 5, 5 }, { 5, 5, 5 }), 1)
  lu.assertNil(statistics.mann_whitney({}, { 1 }))
end

function suite.test_approximation_meets_the_exact_one()
  local a, b = {}, {}
  for i = 1, 20 do a[i], b[i] = i, i + 6.5 end
  local exact, is_exact = statistics.mann_whitney(a, b)
  lu.assertTrue(is_exact)
  a[21], b[21] = 10.2, 17.2
  local near, is_near_exact = statistics.mann_whitney(a, b)
  lu.assertFalse(is_near_exact)
  lu.assertAlmostEquals(near, exact, 0.01)
end

function suite.test_three_values_need_a_gap()
  local narrow = statistics.compare({ 10, 10.1, 10.2 }, { 12, 12.1, 12.2 })
  lu.assertEquals(narrow.verdict, "higher")
  lu.assertAlmostEquals(narrow.change_percent, 19.8, 0.1)
  lu.assertEquals(statistics.compare({ 12, 12.1, 12.2 }, { 10, 10.1, 10.2 }).verdict, "lower")
  -- Apart, but by less than the sets are wide.
  lu.assertEquals(statistics.compare({ 8, 9, 10 }, { 10.1, 10.5, 11 }).verdict, "same")
  lu.assertEquals(statistics.compare({ 8, 9, 10 }, { 9, 10, 11 }).verdict, "same")
  -- One set is wide, but nowhere near the other.
  lu.assertEquals(statistics.compare({ 100, 104, 130 }, { 350, 467, 1181 }).verdict, "higher")
end

-- 2 / C(n+m, n) is the least p there can be: with 3 and 4 values 2/35.
function suite.test_where_the_test_cannot_reach_alpha()
  local function verdict(a, b, alpha)
    return statistics.compare(a, b, { alpha = alpha, min_percent = 2 }).verdict
  end
  local base, low = { 100, 101, 102 }, { 10, 10.1, 10.2, 10.3 }
  local dropped = statistics.compare(base, low, { min_percent = 2 })
  lu.assertEquals(dropped.verdict, "lower")
  lu.assertStrContains(dropped.reason, "3 and 4 values, too few for the test at 0.05")
  lu.assertAlmostEquals(dropped.p, 2 / 35, 1e-12)
  lu.assertEquals(verdict(low, base), "higher")
  lu.assertEquals(verdict(base, { 100.5, 101, 101.5, 103 }), "same")
  lu.assertEquals(verdict(base, { 102.1, 102.2, 102.3, 102.4 }), "same") -- and below 2 %
  -- Four a side reach 0.029, five 0.008; a stricter alpha is beyond them.
  local four = { 100, 101, 102, 103 }
  lu.assertEquals(verdict(four, low), "lower")
  lu.assertEquals(verdict(four, low, 0.02), "lower")
  lu.assertEquals(verdict(four, { 104, 106, 108, 110 }, 0.03), "higher")
  lu.assertEquals(verdict(four, { 104, 106, 108, 110 }, 0.02), "same") -- wider than apart
  lu.assertEquals(verdict(four, low, 0), "lower")
  local many = {}
  for i = 1, 30 do many[i] = 100 + i / 10 end
  lu.assertEquals(verdict(many, { 10, 10.1, 10.2, 10.3 }, 1e-9), "lower")
  -- No ratio can be had of these.
  lu.assertEquals(verdict({ 0, 0, 0 }, { 100, 101, 102 }), "higher")
  lu.assertEquals(verdict({ 100, 101, 102, 103 }, { 0, 0, 0 }), "lower")
  lu.assertEquals(verdict({ 0, 0, 0 }, { 0, 0, 0 }), "same")
  lu.assertEquals(verdict({ 0, 5, 10 }, { 11, 12, 13 }), "same")
end

function suite.test_more_values_follow_the_test()
  lu.assertEquals(statistics.compare({ 1, 2, 3, 4 }, { 5, 6, 7, 8 }).verdict, "higher")
  lu.assertEquals(statistics.compare({ 1, 2, 3, 6 }, { 4, 5, 7, 8 }).verdict, "same")
  local small = statistics.compare({ 100, 100.1, 100.2, 100.3 }, { 101, 101.1, 101.2, 101.3 },
    { min_percent = 2 })
  lu.assertEquals(small.verdict, "same")
end

function suite.test_too_few_are_not_judged()
  local two = statistics.compare({ 1, 2 }, { 5, 6, 7 })
  lu.assertEquals(two.verdict, "not judged")
  lu.assertStrContains(two.reason, "2 and 3 values")
  lu.assertEquals(statistics.compare({}, {}).verdict, "not judged")
end

return suite
