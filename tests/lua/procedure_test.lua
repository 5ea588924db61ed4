-- SPDX-License-Identifier: MIT
local lu = require("luaunit")
local help = require("storlua.cli.help")
local procedure = require("storlua.procedure")
local storlua = require("storlua")

local tests = {}

local function nothing() end

local function bad(fields, pattern)
  local ok, err = pcall(storlua.procedure, fields)
  lu.assertFalse(ok, pattern)
  lu.assertEquals(err.code, "DECLARATION", tostring(err))
  lu.assertStrContains(err.message, pattern)
end

function tests.test_bad_tables_name_the_field()
  bad("x", "must be a table, not string")
  bad({ summary = "s" }, "run is missing")
  bad({ sumary = "s", run = nothing }, "sumary is not a field; did you mean 'summary'?")
  bad({ summary = 1, run = nothing }, "summary must be a string, not integer")
  bad({ summary = "a\nb", run = nothing }, "summary must be one line")
  bad({ summary = "s", run = nothing, options = { size = 1 } }, "options must be a list")
  bad({ summary = "s", run = nothing, options = { { name = "board", type = "string" } } },
    "options[1].name 'board' is an option of every run")
  bad({ summary = "s", run = nothing, options = { { name = "a", type = "count" },
    { name = "a", type = "count" } } }, "options[2].name is declared twice")
  bad({ summary = "s", run = nothing, arguments = "x" }, "arguments must be")
  bad({ summary = "s", run = nothing, arguments = nothing, options = {} }, "options is not used")
  bad({ summary = "s", run = nothing, usage = "x" }, "usage is for")
  bad({ summary = "s", run = nothing, thresholds = { 1 } }, "thresholds[1] must be")
  bad({ summary = "s", run = nothing, thresholds = { { metric = "a", rul = "x" } } },
    "thresholds[1].rul is not a field")
  bad({ summary = "s", run = nothing, thresholds = { "write.mib_s p50 => 60" } },
    "thresholds[1] threshold \"write.mib_s p50 => 60\"")
  bad({ summary = "s", run = nothing, cases = { "a b" } }, "cases[1] 'a b' is no case id")
  bad({ summary = "s", run = nothing, cases = { "a..b" } }, "cases[1]")
  bad({ summary = "s", run = nothing, informational = 1 }, "informational must be a boolean")
end

function tests.test_a_good_one()
  local p = storlua.procedure {
    summary = "s", run = nothing, cases = function(opt) return { opt.name .. ".x" } end,
    thresholds = function(opt, board) return { opt.name .. " p50 >= 1", board } end,
    options = { { name = "name", type = "string", default = "a" } },
  }
  lu.assertTrue(procedure.is(p))
  lu.assertFalse(procedure.is { run = nothing })
  lu.assertEquals(p:cases_for { name = "b" }, { "b.x" })
  lu.assertEquals(p:thresholds_for { name = "b" }, { "b p50 >= 1" })
  lu.assertErrorMsgContains("cases[1]", p.cases_for, p, { name = "b c" })
  lu.assertErrorMsgContains("thresholds[2]", p.thresholds_for, p, { name = "b" }, 3)
end

function tests.test_usage_error()
  local ok, err = pcall(storlua.usage, "no such thing: 100%d")
  lu.assertFalse(ok)
  lu.assertEquals({ err.code, err.message }, { "USAGE", "no such thing: 100%d" })
end

function tests.test_help_fits_in_80_columns()
  local p = storlua.procedure {
    summary = "Soaks.", run = nothing,
    description = ("many words "):rep(40) .. "\n\n" .. ("größer "):rep(40),
    options = {
      { name = "size", short = "s", type = "size", min = "4k", max = "1T", default = "64M",
        help = ("long help "):rep(19) },
      { name = "a-very-long-name-of-an-option", type = "string", help = "x" },
      { name = "pause", type = "duration", default = 90, min = 0 },
    },
  }
  local text = help.procedure("soak.lua", p, { "write.mib_s p50 >= 60" })
  for line in text:gmatch("[^\n]+") do lu.assertTrue(utf8.len(line) <= 80, line) end
  for _, part in ipairs { "usage: storlua [run options] soak.lua [options]", "\nSoaks.\n",
    "-s, --size SIZE", "(4k to 1T; default", "(default 1 min 30 s)", "write.mib_s p50 >= 60",
    "--resume RUN_DIR", "exit codes:" } do
    lu.assertStrContains(text, part)
  end
end

return tests
