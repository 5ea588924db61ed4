-- SPDX-License-Identifier: MIT
local lu = require("luaunit")
local errors = require("storlua.errors")
local event = require("storlua.event")
local metrics = require("storlua.metrics")
local threshold = require("storlua.threshold")

local test = {}

function test.a_rule_is_four_words()
  local rule = threshold.parse("  write.mib_s   p50 >=  60 ")
  lu.assertEquals({ rule.metric, rule.statistic, rule.operator, rule.limit, rule.text },
    { "write.mib_s", "p50", ">=", 60, "write.mib_s p50 >= 60" })
  lu.assertEquals(threshold.parse("a p99.9 < -1.5").limit, -1.5)
  lu.assertEquals(threshold.parse("a-b_c.d count == 0").metric, "a-b_c.d")
  local aborting = threshold.parse { metric = "t.celsius", rule = "max < 85", abort = true,
                                     after = 5 }
  lu.assertTrue(aborting.abort)
  lu.assertEquals(aborting.after_seconds, 5)
end

function test.what_is_not_a_rule_is_refused_with_the_reason()
  local bad = {
    ["a p50 >="] = "3 words", ["a p50 >= 1 MB/s"] = "5 words", ["a p101 >= 1"] = "p101",
    ["a median >= 1"] = "median", ["a p50 => 1"] = "=>", ["a p50 != 1"] = "!=",
    ["a p50 >= 1k"] = "1k", ["a p50 >= nan"] = "nan", ["a p50 >= 0x10"] = "0x10",
    ["a p50 >= 1e3"] = "1e3", ["a p50 >= 1,5"] = "1,5", [".a p50 >= 1"] = ".a",
    ["a..b p50 >= 1"] = "a..b", ["a/b p50 >= 1"] = "a/b", [""] = "0 words", ["a p >= 1"] = "p ",
  }
  for text, why in pairs(bad) do
    local rule, err = errors.try(threshold.parse, text)
    lu.assertNil(rule, text)
    lu.assertEquals(err.code, "USAGE")
    lu.assertStrContains(err.message, why)
  end
  lu.assertNil((errors.try(threshold.parse, 5)))
end

local function judge(text, all, elapsed_ns)
  return threshold.judge(threshold.parse(text), all, elapsed_ns or 1)
end

function test.rules_are_judged()
  local all = metrics.new()
  for _, value in ipairs { 10, 20, 30 } do all:sample("x", value) end
  local good = { "x p50 == 20", "x min >= 10", "x max <= 30", "x mean == 20", "x last > 29",
                 "x count == 3", "x p100 < 31" }
  for _, text in ipairs(good) do lu.assertTrue(judge(text, all).ok, text) end
  lu.assertFalse(judge("x p50 > 20", all).ok)
  lu.assertEquals(judge("x p50 > 20", all).text, "x p50 > 20: 20")
end

function test.no_data_fails_but_a_counter_starts_at_zero()
  local all = metrics.new()
  for _, text in ipairs { "x p50 >= 0", "x max < 100", "x last == 0" } do
    local judged = judge(text, all)
    lu.assertFalse(judged.ok, text)
    lu.assertTrue(judged.value == event.null)
    lu.assertStrContains(judged.text, "no data")
  end
  lu.assertTrue(judge("kernel.errors count == 0", all).ok)
  lu.assertTrue(judge("kernel.errors rate < 1", all).ok)
  all:count("kernel.errors", "x", 1)
  lu.assertFalse(judge("kernel.errors count == 0", all).ok)
end

function test.an_abort_waits_for_data_and_its_time()
  local all = metrics.new()
  local rule = threshold.parse { metric = "x", rule = "max < 5", abort = true, after = 2 }
  lu.assertNil(threshold.broken(rule, all, 3000000000))
  all:sample("x", 9)
  lu.assertNil(threshold.broken(rule, all, 1000000000))
  lu.assertNotNil(threshold.broken(rule, all, 2000000000))
  lu.assertNil(threshold.broken(threshold.parse("x max < 5"), all, 2000000000))
end

-- What earlier parts have counted happened in their time.
function test.after_a_resume_a_rate_is_of_the_whole_run()
  local all = metrics.new()
  all:count("kernel.errors", "x", 2)
  local rule = threshold.parse { metric = "kernel.errors", rule = "rate < 3", abort = true }
  local second = 1000000000
  lu.assertNotNil(threshold.broken(rule, all, second))
  lu.assertNil(threshold.broken(rule, all, second, 3600 * second))
end

return test
