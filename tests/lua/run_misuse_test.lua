-- SPDX-License-Identifier: MIT
--- What a script gives to the object t and gets wrong must not pass a run.

local lu = require("luaunit")
local procedure_run = require("procedure_run")

local expect = procedure_run.expect

local test = {}

-- 0 is true in Lua, and so are an exit code and a message in the wrong place.
function test.test_what_is_no_judgement_passes_nothing()
  for _, call in ipairs { 't:check("a", 0, "exit code")', 't:check("a", "all is %s", "well")',
                          't:check("a", {})', 't:require("a", 1)' } do
    local verdict = expect("raised", 3, call)
    lu.assertStrContains(verdict.reasons[1], "true or false says whether it is right")
  end
  expect("failed", 1, 't:check("a", nil, "no")')
  for returned, text in pairs { ["false"] = "run returned false", ["3"] = "run returned 3",
                                ['nil, "no card"'] = "run returned nil, no card" } do
    local verdict = expect("failed", 1, 't:check("a", true) do return ' .. returned .. " end")
    lu.assertStrContains(verdict.reasons[1], text)
  end
  expect("passed", 0, 'do return t:check("a", true) end')
  lu.assertEquals(#expect("failed", 1, 'do return t:check("a", false, "no") end').reasons, 1)
end

function test.test_misspelt_fields_are_named()
  for call, text in pairs {
    ["for _ in t:rounds { count = 1, puase = 1 } do end"] = "'puase' is not a field; did you mean",
    ["for _ in t:rounds { second = 1 } do end"] = "did you mean 'seconds'?",
    ['t:measure("a", NULL, { expect_error = true })'] = "did you mean 'expect_errors'?",
    ['t:scratch_file("x", { anyname = true })'] = "did you mean 'any_name'?",
  } do
    lu.assertStrContains(expect("raised", 3, call).reasons[1], text)
  end
end

-- Forgotten, a `return` would leave a run without its limits.
function test.test_fields_of_the_host_are_not_overwritten()
  for call, text in pairs {
    ['t:event("x_a", { kind = "check" })'] = "the field 'kind' is written by the host",
    ['t:event("x_a", { seq = 1 })'] = "the field 'seq' is written by the host",
    ['t:event("x_a")'] = "the fields are a table",
  } do
    lu.assertStrContains(expect("raised", 3, call).reasons[1], text)
  end
end

-- A report of the run would stumble over them.
function test.test_labels_are_texts_and_numbers()
  for _, labels in ipairs { '"x"', "{ a = {} }", '{ "a" }' } do
    local verdict = expect("raised", 3, 't:measure("a", NULL, { labels = ' .. labels .. " })")
    lu.assertStrContains(verdict.reasons[1], "labels are a table of texts and numbers by name")
  end
end

-- What still runs when run returns could fail unseen.
function test.test_scopes_that_are_left_open()
  local spawn = 'local task = require("storlua.task") local s = task.scope() s:spawn("w", %s) '
    .. "task.yield() %s"
  local busy = expect("failed", 1, spawn:format("task.sleep, 60", 't:check("a", true)'))
  lu.assertStrContains(busy.reasons[1], "task main left a scope open in which task w still ran")
  local dead = 'function() task.sleep(0.01) error("the disk is dead", 0) end'
  local lost = expect("raised", 3, spawn:format(dead, 'pcall(task.sleep, 1) t:check("a", true)'))
  lu.assertStrContains(lost.reasons[1], "the disk is dead")
end

function test.test_functions_that_return_nothing_are_told()
  for fields, text in pairs {
    ["thresholds = function() end,"] = "thresholds returned nothing",
    ["cases = function() end,"] = "cases returned nothing",
    ["reports = function() end,"] = "reports returned nothing",
    ['reports = function() return { { format = "csv", flie = "x" } } end,'] = "mean 'file'?",
    ["arguments = function() end,"] = "arguments returned nothing",
    ["target = function() return 5 end,"] = "target returned 5, not a path",
  } do
    local place <close> = procedure_run.place('t:check("a", true)', fields)
    local result = procedure_run.run(place)
    lu.assertEquals(result.code, 2, fields .. result.stderr)
    lu.assertStrContains(result.stderr, text)
    lu.assertNil(io.open(place.run_dir))
  end
end

function test.test_a_tool_that_returns_false_has_failed()
  for returned, code in pairs { ["false"] = 1, ["7"] = 7, ["nil"] = 0, ['"x"'] = 3 } do
    local place <close> = procedure_run.place("do return " .. returned .. " end", "tool = true,")
    lu.assertEquals(procedure_run.run(place).code, code, returned)
  end
end

return test
