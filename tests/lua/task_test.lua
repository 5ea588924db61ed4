-- SPDX-License-Identifier: MIT
--- Waiting, cancelling, failing: the rules of tasks and scopes.

local errors = require("storlua.errors")
local lu = require("luaunit")
local loop = require("storlua.core.loop")
local scheduler = require("storlua.scheduler")
local task = require("storlua.task")

local suite = {}

local function wait_forever()
  task.await(function(resume)
    local t = require("storlua.core.timer").start(math.maxinteger, resume)
    return function() t:cancel() end
  end)
end

-- Runs fn in a child of a scope of its own; returns pcall's results.
local function in_scope(fn)
  return pcall(function()
    local scope <close> = task.scope()
    return fn(scope)
  end)
end

-- Takes back what a test made the scheduler note.
local function noted()
  local list = scheduler.cleanup_failures
  scheduler.cleanup_failures = {}
  return list
end

function suite.test_await_is_safe_against_early_double_and_late_resume()
  local late
  lu.assertEquals(task.await(function(resume) resume(1) resume(2) end), 1)
  local ok, err = pcall(task.timeout, 0.01, task.await, function(resume) late = resume end)
  lu.assertFalse(ok)
  lu.assertEquals(err.code, "TIMEOUT")
  late("nobody waits for this")
  task.sleep(0)
end

function suite.test_await_in_a_foreign_coroutine_is_refused()
  local ok, err = pcall(coroutine.wrap(function() task.sleep(0) end))
  lu.assertFalse(ok)
  lu.assertStrContains(tostring(err), "inside a coroutine you made: use scope:spawn")
end

-- What nobody waits for could fail unseen.
function suite.test_a_scope_that_is_left_open_fails_its_task()
  local is_ended = false
  local ok, err = in_scope(function(scope)
    scope:spawn("careless", function()
      task.scope():spawn("forgotten", function()
        local _ <close> = task.defer(function() is_ended = true end)
        wait_forever()
      end)
    end)
    scope:join()
  end)
  lu.assertFalse(ok)
  lu.assertStrContains(err.message,
    "task careless left a scope open in which task forgotten still ran")
  lu.assertTrue(is_ended)
end

function suite.test_a_scope_that_was_joined_may_stay_open()
  local ok, value = in_scope(function(scope)
    return scope:spawn("tidy", function()
      local inner = task.scope()
      local child = inner:spawn("done", function() task.sleep(0) return 7 end)
      inner:join()
      return child:join()
    end):join()
  end)
  lu.assertEquals({ ok, value }, { true, 7 })
end

function suite.test_bare_yield_fails_its_task_only()
  local closed = false
  local ok, err = in_scope(function(scope)
    scope:spawn("stray", function()
      local _ <close> = setmetatable({}, { __close = function() closed = true end })
      coroutine.yield()
    end)
    scope:join()
  end)
  lu.assertFalse(ok)
  lu.assertEquals(err.code, "MISUSE")
  lu.assertStrContains(err.message, "task stray")
  lu.assertTrue(closed)
end

function suite.test_coroutines_of_the_script_work_as_in_plain_lua()
  local gen = coroutine.wrap(function() for i = 1, 3 do coroutine.yield(i, -i) end return "end" end)
  lu.assertEquals({ gen() }, { 1, -1 })
  lu.assertEquals({ gen(), gen(), gen() }, { 2, 3, "end" })
  lu.assertErrorMsgContains("cannot resume dead coroutine", gen)
  local co = coroutine.create(function(...) error("own " .. select("#", ...)) end)
  local ok, message = coroutine.resume(co, nil, nil)
  lu.assertFalse(ok)
  lu.assertStrContains(message, "own 2")
  lu.assertEquals({ coroutine.resume(co) }, { false, "cannot resume dead coroutine" })
  lu.assertEquals({ coroutine.resume(coroutine.running()) },
    { false, "cannot resume non-suspended coroutine" })
  local wrapped = coroutine.wrap(function() error({ 7 }) end)
  local _, value = pcall(wrapped)
  lu.assertEquals(value, { 7 })
  lu.assertErrorMsgContains("coroutine expected", coroutine.resume, 5)
end

function suite.test_yielding_tasks_do_not_starve_the_loop()
  -- Virtual time moves only when no task can run.
  lu.skipIf(loop.is_virtual(), "virtual time")
  local rounds = 0
  local ok, err = pcall(task.timeout, 0.05, function()
    while true do
      rounds = rounds + 1
      task.yield()
    end
  end)
  lu.assertFalse(ok)
  lu.assertEquals(err.code, "TIMEOUT")
  lu.assertTrue(rounds > 1)
end

function suite.test_child_failure_reaches_the_owner_at_its_wait()
  local ok, err = in_scope(function(scope)
    scope:spawn("kid", function() task.sleep(0) error("boom") end)
    wait_forever()
  end)
  lu.assertFalse(ok)
  lu.assertStrContains(tostring(err), "task_test.lua")
  lu.assertStrContains(tostring(err), "boom")
  lu.assertStrContains(scheduler.traceback(err), "task_test.lua")
end

function suite.test_child_failure_that_no_wait_met_is_raised_by_the_close()
  local ok, err = in_scope(function(scope)
    scope:spawn("kid", function() error("boom") end)
  end)
  lu.assertFalse(ok)
  lu.assertStrContains(tostring(err), "boom")
end

function suite.test_any_value_can_be_raised()
  for _, value in ipairs { 5, true, { x = 1 }, errors.new { code = "E", message = "m" } } do
    local ok, err = in_scope(function(scope)
      scope:spawn("kid", function() error(value) end)
      scope:join()
    end)
    lu.assertFalse(ok)
    if type(value) == "table" then lu.assertIs(err, value) else
      lu.assertStrContains(tostring(err), tostring(value))
    end
  end
  local ok, err = in_scope(function(scope)
    scope:spawn("kid", function() error() end)
    scope:join()
  end)
  lu.assertFalse(ok)
  lu.assertStrContains(tostring(err), "error(nil)")
end

function suite.test_first_failure_wins_and_the_second_is_noted()
  local ok, err = in_scope(function(scope)
    scope:spawn("one", function() error("first") end)
    scope:spawn("two", function() error("second") end)
    scope:join()
  end)
  lu.assertFalse(ok)
  lu.assertStrContains(tostring(err), "first")
  local list = noted()
  lu.assertEquals(#list, 1)
  lu.assertEquals(list[1].task, "two")
end

function suite.test_leaving_cancels_and_joins_in_nested_scopes()
  local log = {}
  do
    local outer <close> = task.scope()
    outer:spawn("outer", function()
      local inner <close> = task.scope()
      inner:spawn("inner", function()
        local _ <close> = task.defer(function() task.sleep(0.01) log[#log + 1] = "inner" end)
        wait_forever()
      end)
      local _ <close> = task.defer(function() log[#log + 1] = "outer" end)
      wait_forever()
    end)
    task.sleep(0.01)
  end
  lu.assertEquals(log, { "outer", "inner" })
end

function suite.test_cancel_is_a_level()
  local met = 0
  local child
  do
    local scope <close> = task.scope()
    child = scope:spawn("stubborn", function()
      for _ = 1, 3 do
        local ok, err = pcall(wait_forever)
        if not ok and err.code == "CANCELLED" then met = met + 1 end
      end
    end)
    task.yield()
  end
  lu.assertEquals(met, 3)
  lu.assertTrue(child.ended)
end

function suite.test_cancel_before_the_first_run_stops_at_the_first_wait()
  local log = {}
  local scope <close> = task.scope()
  local child = scope:spawn("kid", function()
    log[1] = "begun"
    task.sleep(0)
    log[2] = "not reached"
  end)
  child:cancel()
  local ok, err = pcall(child.join, child)
  lu.assertFalse(ok)
  lu.assertEquals(err.code, "CANCELLED")
  lu.assertEquals(log, { "begun" })
end

function suite.test_spawn_in_a_cancelled_scope_starts_cancelled()
  local reached = false
  local scope <close> = task.scope()
  scope:cancel()
  scope:spawn("late", function() task.sleep(0) reached = true end)
  scope:join()
  lu.assertFalse(reached)
end

function suite.test_join_returns_results_and_cancel_is_no_failure()
  local scope <close> = task.scope()
  local good = scope:spawn("good", function(a, b) task.sleep(0) return a, nil, b end, 1, 3)
  lu.assertEquals(table.pack(good:join()), { 1, nil, 3, n = 3 })
  lu.assertEquals(table.pack(good:join()), { 1, nil, 3, n = 3 })
  local lazy = scope:spawn("lazy", wait_forever)
  task.yield()
  lazy:cancel()
  scope:join()
  lu.assertEquals(select(2, pcall(lazy.join, lazy)).code, "CANCELLED")
end

function suite.test_a_real_failure_after_a_cancel_is_not_lost()
  local ok, err = in_scope(function(scope)
    scope:spawn("kid", function()
      pcall(wait_forever)
      error("real")
    end)
    task.yield()
  end)
  lu.assertFalse(ok)
  lu.assertStrContains(tostring(err), "real")
end

function suite.test_only_the_owner_joins_a_scope()
  local scope <close> = task.scope()
  local child = scope:spawn("kid", function() return pcall(scope.join, scope) end)
  local ok, message = child:join()
  lu.assertFalse(ok)
  lu.assertStrContains(message, "only the task that opened the scope")
end

function suite.test_every_skips_what_is_late_and_does_not_drift()
  local slot, missed_total = -1, 0
  local begin_ns = loop.now_ns()
  for tick, missed in task.every(0.02) do
    slot, missed_total = slot + 1 + missed, missed_total + missed
    -- Each is on the grid of the first one, whatever was left out.
    lu.assertTrue((loop.now_ns() - begin_ns) / 1e9 >= slot * 0.02 - 0.001, tick)
    if tick == 10 then task.sleep(0.05) end
    if tick == 25 then break end
  end
  lu.assertTrue(missed_total >= 2, missed_total)
end

return suite
