-- SPDX-License-Identifier: MIT
local lu = require("luaunit")
local errors = require("storlua.errors")
local histogram = require("storlua.histogram")

local suite = {}

local function filled(first, last, step)
  local h = histogram.new()
  for ns = first, last, step or 1 do h:add(ns) end
  return h
end

function suite.test_empty()
  local h = histogram.new()
  lu.assertEquals(h:count(), 0)
  lu.assertNil(h:min())
  lu.assertNil(h:max())
  lu.assertNil(h:mean())
  lu.assertNil(h:percentile(50))
  lu.assertEquals(h:sparse(), {})
  lu.assertEquals(h:summary(), { count = 0, histogram = {} })
end

function suite.test_values_are_integers()
  local h = filled(1, 100)
  lu.assertEquals(h:count(), 100)
  lu.assertEquals(h:percentile(50), 50)
  lu.assertEquals(h:percentile(99.9), 100)
  lu.assertEquals(h:mean(), 51) -- 50.5
  for _, name in ipairs { "count", "min", "max", "mean" } do
    lu.assertEquals(math.type(h[name](h)), "integer")
  end
  lu.assertEquals(math.type(h:percentile(12.5)), "integer")
  lu.assertErrorMsgContains("above 0", h.percentile, h, 0)
  lu.assertErrorMsgContains("up to 100", h.percentile, h, 100.1)
  lu.assertErrorMsgContains("above 0", h.percentile, h, 0 / 0)
end

function suite.test_sparse_there_and_back()
  local h = filled(1, 2000000, 997)
  local list = h:sparse()
  lu.assertEquals(#list % 2, 0)
  for i = 3, #list, 2 do lu.assertTrue(list[i] > list[i - 2]) end
  local back = histogram.from_sparse(list, h:min(), h:max(), h:mean())
  lu.assertEquals(back:sparse(), list)
  lu.assertEquals(back:summary(), h:summary())
  lu.assertEquals(histogram.from_summary(h:summary()):summary(), h:summary())
  local rough = histogram.from_sparse(list)
  lu.assertTrue(math.abs(rough:max() / h:max() - 1) < 0.01)
  lu.assertTrue(math.abs(rough:mean() / h:mean() - 1) < 0.004)
  lu.assertTrue(math.abs(rough:percentile(90) / h:percentile(90) - 1) < 0.004)
  lu.assertEquals(histogram.from_sparse({}):count(), 0)
end

function suite.test_merge()
  local low, high = filled(1, 50), filled(51, 100)
  lu.assertEquals(histogram.merged { low, high }:summary(), filled(1, 100):summary())
  lu.assertEquals(low:merge(high):count(), 100)
  lu.assertEquals(high:count(), 50)
end

function suite.test_bad_lists()
  local bad = { { 1 }, { 1, 0 }, { 1, -2 }, { -1, 1 }, { 1000000, 1 }, { 1.5, 1 }, { "x", 1 },
    { 1, math.maxinteger, 2, math.maxinteger }, { 1, 2, false, 3 } }
  for _, list in ipairs(bad) do
    local ok, err = pcall(histogram.from_sparse, list)
    lu.assertFalse(ok)
    lu.assertTrue(errors.is(err))
    lu.assertEquals(err.code, "EINVAL")
  end
  lu.assertErrorMsgContains("table expected", histogram.from_sparse, nil)
end

function suite.test_misuse()
  local h = histogram.new()
  lu.assertErrorMsgContains("storlua.histogram expected", h.add, {}, 1)
  lu.assertErrorMsgContains("storlua.histogram expected", h.merge, h, io.stdout)
  lu.assertErrorMsgContains("number", h.add, h, "many")
end

return suite
