-- SPDX-License-Identifier: MIT
--- Clean-ups and timeouts: what may wait while a task is cancelled, for how
--- long, and whose error it is.

local lu = require("luaunit")
local scheduler = require("storlua.scheduler")
local task = require("storlua.task")

local suite = {}

local function wait_forever()
  task.await(function(resume)
    local t = require("storlua.core.timer").start(math.maxinteger, resume)
    return function() t:cancel() end
  end)
end

-- Takes back what a test made the scheduler note.
local function noted()
  local list = scheduler.cleanup_failures
  scheduler.cleanup_failures = {}
  return list
end

function suite.test_clean_up_waits_while_cancelled_and_after_an_error()
  local log = {}
  local ok, err = pcall(task.timeout, 0.01, function()
    local _ <close> = task.defer(function(reason)
      task.sleep(0.02)
      log[#log + 1] = reason.code
    end)
    wait_forever()
  end)
  lu.assertFalse(ok)
  lu.assertEquals(err.code, "TIMEOUT")
  lu.assertEquals(log, { "TIMEOUT" })
end

function suite.test_failing_clean_up_is_noted_and_the_error_stays()
  local ok, err = pcall(function()
    local _ <close> = task.defer(function() error("clean-up") end)
    error("first")
  end)
  lu.assertFalse(ok)
  lu.assertStrContains(err, "first")
  local list = noted()
  lu.assertEquals(#list, 1)
  lu.assertStrContains(tostring(list[1].error), "clean-up")
end

function suite.test_clean_up_ends_at_its_deadline()
  local before = scheduler.cleanup_seconds
  scheduler.cleanup_seconds = 0.05
  local _ <close> = task.defer(function() scheduler.cleanup_seconds = before end)
  do
    local _ <close> = task.defer(wait_forever)
  end
  local list = noted()
  lu.assertEquals(#list, 1)
  lu.assertEquals(list[1].error.code, "TIMEOUT")
end

function suite.test_timeout_inside_a_clean_up_works()
  local codes = {}
  pcall(task.timeout, 0.01, function()
    local _ <close> = task.defer(function()
      local _, err = pcall(task.timeout, 0.02, function()
        local _ <close> = task.defer(function()
          task.sleep(0.01)
          codes[#codes + 1] = "nested clean-up"
        end)
        wait_forever()
      end)
      codes[#codes + 1] = err.code
      task.sleep(0.01)
      codes[#codes + 1] = "went on"
    end)
    wait_forever()
  end)
  lu.assertEquals(codes, { "nested clean-up", "TIMEOUT", "went on" })
  lu.assertEquals(noted(), {})
end

function suite.test_nested_timeouts_tell_theirs_apart()
  local ok, err = pcall(task.timeout, 5, function()
    local inner_ok, inner_err = pcall(task.timeout, 0.01, wait_forever)
    lu.assertFalse(inner_ok)
    lu.assertEquals(inner_err.message, "not done within 0.01 s")
    task.sleep(0.01) -- the outer one goes on
    return "done"
  end)
  lu.assertTrue(ok, tostring(err))
  lu.assertEquals(err, "done")
  ok, err = pcall(task.timeout, 0.01, task.timeout, 5, wait_forever)
  lu.assertFalse(ok)
  lu.assertEquals(err.message, "not done within 0.01 s")
end

function suite.test_swallowed_timeout_comes_again()
  local swallowed = 0
  local ok, err = pcall(task.timeout, 0.01, function()
    for _ = 1, 2 do
      if not pcall(wait_forever) then swallowed = swallowed + 1 end
    end
  end)
  lu.assertEquals(swallowed, 2)
  lu.assertFalse(ok)
  lu.assertEquals(err.code, "TIMEOUT")
end

function suite.test_timeout_takes_any_number()
  lu.assertEquals(task.timeout(math.huge, function() task.sleep(-1e300) return 4 end), 4)
  lu.assertFalse((pcall(task.timeout, 0, wait_forever)))
  lu.assertErrorMsgContains("cleanup_test.lua:", function() task.sleep(0 / 0) end)
  lu.assertErrorMsgContains("must be a number", task.sleep, "1")
end

return suite
