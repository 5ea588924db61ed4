-- SPDX-License-Identifier: MIT
local lu = require("luaunit")
local core = require("storlua.core.quantity")
local errors = require("storlua.errors")
local quantity = require("storlua.quantity")

local M = 1024 * 1024

local suite = {}

local function same(got, wanted)
  lu.assertEquals(got, wanted)
  lu.assertEquals(math.type(got), math.type(wanted))
end

function suite.test_sizes_are_integers()
  for _, text in ipairs { "4k", "4K", "4KiB", "4Ki", "4096", "4096.0", "0x1000" } do
    same(quantity.size(text), 4096)
  end
  same(quantity.size("4kB"), 4000)
  same(quantity.size("4KB"), 4000)
  same(quantity.size("1.5G"), 1610612736)
  same(quantity.size("7E"), 7 << 60)
  same(quantity.size("0"), 0)
  same(quantity.size(4096), 4096)
  same(quantity.size(4096.0), 4096)
end

function suite.test_refused_sizes_say_what_is_allowed()
  local bad = { " 4k", "4kk", "4k4", "k", "", "-1", "-4k", "1e3", "４k", "4096.5",
    "4k\0", "nan", "4\n", "0.3k" }
  for _, text in ipairs(bad) do
    local value, err = quantity.try_size(text)
    lu.assertNil(value)
    lu.assertTrue(errors.is(err))
    lu.assertEquals(err.code, "EINVAL")
    lu.assertStrContains(err.message, "a size is a number of bytes")
    lu.assertNil(err.message:find("%c"))
    local ok, raised = pcall(quantity.size, text)
    lu.assertFalse(ok)
    lu.assertEquals(raised.message, err.message)
  end
  for _, text in ipairs { "8E", "16E", "18446744073709551615", "18446744073709551616" } do
    local value, err = quantity.try_size(text)
    lu.assertNil(value)
    lu.assertEquals(err.code, "ERANGE")
  end
  lu.assertStrContains(select(2, quantity.try_size("4kk")).message, '"4kk" is not a size: ')
  lu.assertTrue(#select(2, quantity.try_size(("k"):rep(10000))).message < 400)
end

function suite.test_refused_numbers()
  for _, value in ipairs { -1, 4096.5, 0 / 0, -1e300 } do
    lu.assertEquals(select(2, quantity.try_size(value)).code, "EINVAL")
  end
  for _, value in ipairs { 2.0 ^ 63, 1e300, math.huge } do
    lu.assertEquals(select(2, quantity.try_size(value)).code, "ERANGE")
    lu.assertEquals(select(2, quantity.try_duration(value)).code, "ERANGE")
  end
  lu.assertEquals(select(2, quantity.try_duration(math.maxinteger)).code, "ERANGE")
  lu.assertEquals(select(2, quantity.try_duration(0 / 0)).code, "EINVAL")
end

function suite.test_misuse_names_the_caller()
  for _, name in ipairs { "size", "try_size", "duration_ns" } do
    local ok, message = pcall(function() return (quantity[name]({})) end)
    lu.assertFalse(ok)
    lu.assertStrMatches(message, ".*quantity_test.*must be a text or a number, got table")
  end
end

function suite.test_durations_are_seconds()
  same(quantity.duration("90"), 90)
  same(quantity.duration("48h"), 172800)
  same(quantity.duration("1.5"), 1.5)
  same(quantity.duration("500ms"), 0.5)
  same(quantity.duration(2.0), 2)
  same(quantity.duration_ns("20us"), 20000)
  same(quantity.duration_ns("48h"), 172800000000000)
  same(quantity.duration_ns(1.5), 1500000000)
  same(quantity.duration_ns(3), 3000000000)
  local value, err = quantity.try_duration("2 hours")
  lu.assertNil(value)
  lu.assertStrContains(err.message, "a duration is a number of seconds")
end

function suite.test_counts_and_rates()
  same(quantity.count("1000.0"), 1000)
  same(quantity.rate("10MiB/s"), 10 * M)
  same(quantity.rate("10MB/s"), 10000000)
  lu.assertStrContains(select(2, quantity.try_count("4k")).message, "takes no unit")
  lu.assertStrContains(select(2, quantity.try_rate("fast")).message, "a size per second")
end

function suite.test_texts()
  lu.assertEquals(quantity.size_text(64 * M), "64 MiB")
  lu.assertEquals(quantity.duration_text(1800), "30 min 00 s")
  lu.assertEquals(quantity.duration_text(12.4), "12.4 s")
  lu.assertEquals(quantity.rate_text(10 * M), "10 MiB/s")
  lu.assertEquals(quantity.text("size", 4096), "4 KiB")
  lu.assertEquals(quantity.text("count", 12), "12")
  lu.assertEquals(quantity.text("duration", 0.5), "500.0 ms")
  lu.assertEquals(quantity.text("rate", 1024), "1 KiB/s")
end

function suite.test_parse_for_options()
  same(quantity.parse("duration", "30m"), 1800)
  local value, why = quantity.parse("size", "4kk")
  lu.assertNil(value)
  lu.assertIsString(why)
end

function suite.test_locale_does_not_matter()
  local before = os.setlocale(nil)
  for _, name in ipairs { "de_DE.UTF-8", "de_DE.utf8" } do
    os.setlocale(name)
    local ok, err = pcall(function()
      same(quantity.size("1.5G"), 1610612736)
      lu.assertNil(quantity.try_size("1,5G"))
      lu.assertEquals(quantity.duration_text(12.4), "12.4 s")
    end)
    os.setlocale(before)
    if not ok then error(err, 0) end
  end
end

function suite.test_core_refuses_unknown_kinds()
  lu.assertErrorMsgContains("invalid option", core.parse, "weight", "4k")
end

return suite
