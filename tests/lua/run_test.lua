-- SPDX-License-Identifier: MIT
--- How runs end: the verdict follows from what was recorded.

local cli_run = require("cli_run")
local disk = require("disk")
local lu = require("luaunit")
local procedure_run = require("procedure_run")
local process = require("storlua.process")

local expect = procedure_run.expect
local test = {}

local function event_of(events, kind)
  for _, one in ipairs(events) do
    if one.kind == kind then return one end
  end
end

function test.test_checks_and_measures_decide()
  local v, result = expect("passed", 0, [[
    local r = t:measure("null.read", NULL, { labels = { phase = "x" } })
    t:check("null.bytes", r.read.bytes == 1048576, "%d bytes", r.read.bytes) ]])
  -- The null engine moves nothing: its bytes are in the measure, not in the sums.
  lu.assertEquals({ v.checks, v.measures, v.bytes_read }, { 1, 1, 0 })
  lu.assertEquals(result.events[1].kind, "start")
  lu.assertEquals(result.events[#result.events].kind, "verdict")
  v = expect("failed", 1, 't:check("a", true) t:check("b", false, "only %d", 3)')
  lu.assertEquals(v.reasons[1], "b: only 3")
  lu.assertEquals({ v.checks, v.checks_failed }, { 2, 1 })
end

function test.test_a_script_that_catches_errors_does_not_get_around_the_verdict()
  expect("failed", 1, 'pcall(t.require, t, "a", false, "no") t:check("b", true)')
  expect("failed", 1, 'pcall(t.abort, t, "no") t:check("b", true)')
  expect("skipped", 4, 'pcall(t.skip, t, "not here") t:check("b", true)')
  expect("failed", 1, [[
    pcall(t.measure, t, "a", { path = "/nonexistent/x", operation = "read" })
    t:check("b", true) ]])
end

-- A kernel error, say, that a threshold is about as well.
function test.test_two_tasks_that_end_the_run_are_no_failed_clean_up()
  local v, result = expect("failed", 1, [[
    t:check("one", true)
    local scope <close> = task.scope()
    scope:spawn("one", function() task.sleep(0.05) t:abort("first") end)
    scope:spawn("two", function() local _ <close> = task.defer(function() t:abort("second") end)
      task.sleep(9) end)
    task.sleep(9)]])
  lu.assertEquals(v.reasons, { "first", "second" })
  lu.assertNil(event_of(result.events, "cleanup"))
  lu.assertNotStrContains(result.stderr, "clean-up")
end

function test.test_require_abort_and_skip_end_the_run()
  local _, result = expect("failed", 1, 't:require("a", false, "no") t:note("after", 1)')
  for _, one in ipairs(result.events) do lu.assertNotEquals(one.kind, "note") end
  expect("failed", 1, 't:abort("enough of %s", "this")')
  local v = expect("skipped", 4, 't:skip("no such device")')
  lu.assertEquals(v.reasons[1], "no such device")
  expect("failed", 1, [[
    local scope <close> = task.scope()
    scope:spawn("child", function() t:abort("in a child") end)
    task.sleep(30) ]])
end

function test.test_what_the_script_raises_is_told_with_place_and_traceback()
  for body, text in pairs {
    ['error("boom")'] = "boom", ["error()"] = "nil", ['error({ a = 1 })'] = "a = 1",
    ["local x = nil; x.y = 1"] = "index", ['t:check("bad id", true)'] = "case id",
    ['t:sample("x", 0/0)'] = "finite", ['t:measure("a", { operation = "raed" })'] = "raed",
    ['local s <close> = task.scope() s:spawn("c", function() error("inner") end) task.sleep(9)']
      = "inner",
  } do
    local v, result = expect("raised", 3, body)
    lu.assertStrContains(v.reasons[1], text)
    lu.assertStrContains(result.stderr, "case.lua")
    local found
    for _, one in ipairs(result.events) do
      if one.kind == "error" then found = one end
    end
    lu.assertStrContains(found.traceback, "case.lua")
  end
end

function test.test_the_failure_of_a_task_is_told_once()
  local v, result = expect("raised", 3, [[
    t:check("a", true)
    local scope <close> = task.scope()
    scope:spawn("kid", function() error("in the kid") end)
    task.sleep(10) ]])
  lu.assertEquals(#v.reasons, 1)
  lu.assertStrContains(v.reasons[1], "in the kid")
  lu.assertNotStrContains(result.stderr, "clean-up")
end

function test.test_a_bare_yield_gets_its_verdict()
  local v = expect("raised", 3, 't:check("a", true) coroutine.yield()')
  lu.assertStrContains(v.reasons[1], "use task.yield")
end

function test.test_nothing_checked_is_a_failure_unless_informational()
  local v = expect("failed", 1, 't:note("a", 1)')
  lu.assertEquals(v.reasons[1], "nothing was checked")
  expect("passed", 0, 't:note("a", 1)', "informational = true,")
end

function test.test_thresholds_without_data_fail_and_counters_start_at_zero()
  expect("passed", 0, 't:measure("w", NULL)',
    'thresholds = { "w.mib_s p50 > 0", "kernel.errors count == 0" },')
  local v = expect("failed", 1, 't:check("a", true)', 'thresholds = { "w.mib_s p50 > 0" },')
  lu.assertStrContains(v.reasons[1], "no data")
  v = expect("failed", 1, [[
    t:sample("disk.celsius", 90, "C")
    task.sleep(30) ]],
    'thresholds = { { metric = "disk.celsius", rule = "max < 85", abort = true } },')
  lu.assertStrContains(v.reasons[1], "disk.celsius max < 85: 90")
end

function test.test_what_cannot_be_measured_is_neither_passed_nor_failed()
  local rules = 'thresholds = { "kernel.errors count == 0" },'
  local body = 't:measure("w", NULL) t:not_measured("kernel.errors", "no kernel log")'
  local _, result = expect("passed", 0, body, rules)
  local one = event_of(result.events, "threshold")
  lu.assertEquals({ one.ok, one.value }, {})
  lu.assertStrContains(result.stdout, "-     threshold kernel.errors count == 0: not judged (no ")
  -- what was counted all the same is judged
  expect("failed", 1, body .. ' t:count("kernel.errors", "I/O error")', rules)
  -- and alone it is not enough
  local v = expect("failed", 1, 't:not_measured("kernel.errors", "no kernel log")', rules)
  lu.assertEquals(v.reasons[1], "nothing was checked")
  v = expect("failed", 1, "", rules)
  lu.assertEquals(v.reasons[1], "nothing was checked")
end

function test.test_a_run_that_was_refused_judges_no_threshold()
  local _, result = expect("usage", 2, 't:check("a", true) storlua.usage("not so")',
    'thresholds = { "kernel.errors count == 0" },')
  lu.assertNil(event_of(result.events, "threshold"))
end

function test.test_no_place_for_the_results_is_a_usage_error()
  local place <close> = procedure_run.place("")
  local full <close> = disk.file_system("tmpfs", { size = "64k" })
  process.try_run { "dd", "status=none", "if=/dev/zero", "of=" .. full.path .. "/other" }
  for _, output in ipairs { "/proc/storlua", full.path .. "/run" } do
    local result = procedure_run.run(place, { output = output })
    lu.assertEquals(result.code, 2, result.stderr)
    lu.assertStrContains(result.stderr, "--output DIR puts")
    lu.assertNotStrContains(result.stderr, "traceback")
  end
end

-- A run that leaves before its run function has returned is incomplete, with
-- any code; one that caught os.exit and went on has called it all the same.
function test.test_os_exit_does_not_pass_a_run()
  for body, text in pairs {
    ["os.exit(0)"] = "incomplete: the script called os.exit(0)",
    ["os.exit(true)"] = "incomplete: the script called os.exit(0)",
    ["os.exit(9)"] = "incomplete: the script called os.exit(9)",
    ["pcall(os.exit, 0) task.sleep(9)"] = "incomplete: the script called os.exit(0)",
    ["pcall(os.exit, 8)"] = "the script called os.exit(8)",
    ["local s <close> = task.scope() s:spawn('kid', os.exit, 0) task.sleep(9)"]
      = "incomplete: the script called os.exit(0)",
  } do
    local v = expect("failed", 1, 't:check("a", true) ' .. body)
    lu.assertStrContains(v.reasons[1], text)
  end
  expect("passed", 0, 't:check("a", true) pcall(os.exit, 0)')
  expect("skipped", 4, 'local _ <close> = task.defer(function() os.exit(0) end) t:skip("no")')
end

function test.test_a_failed_clean_up_is_told()
  local v, result = expect("cleanup_failed", 6, [[
    t:check("a", true)
    local _ <close> = task.defer(function() error("cannot tidy") end) ]])
  lu.assertStrContains(v.reasons[1], "cannot tidy")
  lu.assertStrContains(result.stderr, "cannot tidy")
end

function test.test_signals_end_with_clean_ups_and_verdict()
  for signal, code in pairs { INT = 130, TERM = 143, HUP = 129 } do
    local place <close> = procedure_run.place [[
      local _ <close> = task.defer(function() task.sleep(0.01) t:note("tidy", true) end)
      t:check("a", true)
      pcall(task.sleep, 60)
      task.sleep(60) ]]
    local run <close> = cli_run.start { "--output", place.run_dir, place.script }
    run:wait_event(place.run_dir, function(one) return one.kind == "check" end)
    run:signal(signal, true)
    local result = run:finish(10)
    lu.assertEquals(result.code, code, result.stderr)
    local v = cli_run.verdict(place.run_dir)
    lu.assertEquals({ v.status, v.exit_code }, { "interrupted", code })
    lu.assertEquals(#cli_run.events_of(place.run_dir, "note"), 1)
  end
end

function test.test_a_workload_cut_off_keeps_what_it_did()
  local place <close> = procedure_run.place [[
    local path = t.run_dir .. "/../storlua.data"
    local _ <close> = t:scratch_file(path)
    t:note("ready", 1)
    t:measure("w", { path = path, operation = "write", size_bytes = "64M", record_bytes = "64k",
                     rate_bytes_s = "1M" }) ]]
  local run <close> = cli_run.start { "--output", place.run_dir, place.script }
  run:wait_event(place.run_dir, function(one) return one.kind == "note" end)
  require("storlua.task").sleep(0.5)
  run:signal("INT", true)
  lu.assertEquals(run:finish(10).code, 130)
  local measures = cli_run.events_of(place.run_dir, "measure")
  lu.assertEquals(#measures, 1)
  lu.assertEquals(measures[1].verdict, "interrupted")
  lu.assertTrue(measures[1].result.write.bytes > 0)
  for _, name in ipairs { "storlua.data", "storlua.data.owner" } do
    lu.assertNil(io.open(place.path .. "/" .. name), name .. " is left over")
  end
end

function test.test_two_runs_in_one_folder()
  local place <close> = procedure_run.place 't:check("a", true) task.sleep(60)'
  local first <close> = cli_run.start { "--output", place.run_dir, place.script }
  first:wait_event(place.run_dir, function(one) return one.kind == "check" end)
  for _, option in ipairs { "--output", "--resume" } do
    local second = cli_run.run { option, place.run_dir, place.script }
    lu.assertEquals(second.code, 2, second.stderr)
    lu.assertStrContains(second.stderr, "in use by another run")
  end
  first:signal("INT", true)
  first:finish(10)
  local third = procedure_run.run(place)
  lu.assertEquals(third.code, 2)
  lu.assertStrContains(third.stderr, "holds a run already")
  local fourth = procedure_run.run(place, { output = place.path })
  lu.assertEquals(fourth.code, 2)
  lu.assertStrContains(fourth.stderr, "not empty")
end

function test.test_folders_are_numbered()
  local place <close> = procedure_run.place 't:check("a", true)'
  for n = 1, 3 do
    lu.assertEquals(procedure_run.run(place, { output = false }).code, 0)
    lu.assertEquals(cli_run.verdict(place.path .. "/results/case-" .. n).status, "passed")
  end
end

function test.test_a_scratch_file_where_none_can_be_made()
  local place <close> = procedure_run.place([[
    local _ <close> = t:scratch_file(t.run_dir .. "/missing/storlua.data")]])
  local result = procedure_run.run(place)
  lu.assertEquals(result.code, 2, result.stderr)
  lu.assertStrContains(result.stdout, "missing/storlua.data: no file can be made there (ENOENT: ")
end

function test.test_a_foreign_scratch_file_is_not_touched()
  local place <close> = procedure_run.place [[
    local _ <close> = t:scratch_file(t.run_dir .. "/../storlua.data")
    t:check("a", true) ]]
  local path = place.path .. "/storlua.data"
  local file = assert(io.open(path, "w"))
  file:write("precious")
  file:close()
  local result = procedure_run.run(place)
  lu.assertEquals(result.code, 2, result.stderr)
  lu.assertStrContains(result.stdout .. result.stderr, "not made by storlua")
  file = assert(io.open(path))
  lu.assertEquals(file:read("a"), "precious")
  file:close()
  lu.assertNil(io.open(path .. ".owner"))
end

function test.test_leftovers_of_a_killed_run_are_taken_over_and_evidence_is_not()
  local place <close> = procedure_run.place [[
    local file <close> = t:scratch_file(t.run_dir .. "/../storlua.data")
    t:note("reused", file.reused)
    t:check("a", true)
    if os.getenv("CASE_KEEP") then file:keep("bad sectors") return end
    if os.getenv("CASE_WAIT") then task.sleep(60) end ]]
  local first <close> = cli_run.start { "--output", place.path .. "/1", place.script,
                                        env = { CASE_WAIT = "1" } }
  first:wait_event(place.path .. "/1", function(one) return one.kind == "check" end)
  local second = procedure_run.run(place, { output = place.path .. "/2" })
  lu.assertEquals(second.code, 2, second.stderr)
  first:signal("KILL")
  first:finish(10)
  local third = procedure_run.run(place, { output = place.path .. "/3",
                                           env = { CASE_KEEP = "1" } })
  lu.assertEquals(third.code, 0, third.stderr)
  lu.assertEquals(cli_run.events_of(place.path .. "/3", "note")[1].value, true)
  local fourth = procedure_run.run(place, { output = place.path .. "/4" })
  lu.assertEquals(fourth.code, 2)
  lu.assertStrContains(fourth.stdout .. fourth.stderr, "bad sectors")
end

function test.test_a_run_on_a_disk_without_answer_is_not_lost()
  local fault <close> = disk.fault()
  local place <close> = procedure_run.place [[
    local spec = { path = os.getenv("CASE_FILE"), operation = "write", size_bytes = "64k",
                   record_bytes = "4k" }
    t:measure("w", spec) ]]
  fault:tell("write EIO 8192")
  local result = procedure_run.run(place, { env = { CASE_FILE = fault.path .. "/data" } })
  lu.assertEquals(result.code, 1, result.stderr)
  local measure = cli_run.events_of(place.run_dir, "measure")[1]
  lu.assertEquals(measure.verdict, "fail")
  lu.assertStrContains(measure.reason, "EIO")
end

return test
