-- SPDX-License-Identifier: MIT
--- Jobs: waiting, cancelling, giving up, and timers beside them. The job is a
--- question about a file on a file system that does not answer.

local cache = require("storlua.cache")
local core = require("storlua.core.cache")
local disk = require("disk")
local host = require("storlua.core.host")
local job = require("storlua.job")
local lu = require("luaunit")
local loop = require("storlua.core.loop")
local scheduler = require("storlua.scheduler")
local task = require("storlua.task")

local suite = {}

-- Puts job's settings and its report back when the block is left.
local function settings(values)
  local before = {}
  for name, value in pairs(values) do before[name], job[name] = job[name], value end
  return setmetatable({}, { __close = function()
    for name, value in pairs(before) do job[name] = value end
  end })
end

local function fault_with_file()
  disk.need_root()
  local place = disk.fault()
  local path = place.path .. "/file"
  local file = assert(io.open(path, "w"))
  file:write("text")
  file:close()
  return place, path
end

function suite.test_results_and_failures_come_back()
  lu.assertEquals(type(cache.residency("/proc/self/exe").source), "string")
  local ok, err = pcall(cache.residency, "/nonexistent/file")
  lu.assertFalse(ok)
  lu.assertEquals(err.code, "ENOENT")
  lu.assertEquals(err.path, "/nonexistent/file")
end

function suite.test_timer_is_on_time_beside_a_stuck_job()
  local place, path = fault_with_file()
  local _ <close> = place
  place:tell("hang open")
  local _ <close> = settings { grace_seconds = 0.05, on_stuck = function() end }
  local scope <close> = task.scope()
  local stuck = scope:spawn("stuck", cache.residency, path)
  disk.wait_until(5, "the open hangs", function() return place:count("hanging") == 1 end)
  for _ = 1, 3 do
    local begin_ns = loop.now_ns()
    task.sleep(0.02)
    local took = (loop.now_ns() - begin_ns) / 1e9
    lu.assertTrue(took >= 0.02 and took < 1, took)
  end
  lu.assertNil(stuck.ended)
  place:tell("release")
  stuck:join()
end

function suite.test_stuck_job_is_reported_while_it_is_stuck()
  local place, path = fault_with_file()
  local _ <close> = place
  place:tell("hang open")
  local reports = {}
  local _ <close> = settings {
    stuck_seconds = 0.05, grace_seconds = 0.05,
    on_stuck = function(info) reports[#reports + 1] = info end,
  }
  local scope <close> = task.scope()
  local waiting = scope:spawn("waiting", cache.residency, path)
  disk.wait_until(5, "three reports", function() return #reports == 3 end)
  lu.assertFalse(reports[1].abandoned)
  lu.assertEquals(type(reports[1].what), "string")
  lu.assertEquals(type(reports[1].job), "string")
  -- At doubling intervals: after 1, 2 and 4 times the limit.
  lu.assertTrue(reports[2].seconds >= 0.1 and reports[3].seconds >= 0.2)
  place:tell("release")
  waiting:join()
end

function suite.test_job_that_ignores_cancel_is_given_up()
  local place, path = fault_with_file()
  local _ <close> = place
  place:tell("hang open")
  local report
  local _ <close> = settings {
    grace_seconds = 0.05, on_stuck = function(info) report = info end,
  }
  local begin_ns = loop.now_ns()
  local _, in_flight = loop.handles()
  local ok, err = pcall(task.timeout, 0.05, cache.residency, path)
  lu.assertFalse(ok)
  lu.assertEquals(err.code, "TIMEOUT")
  lu.assertTrue(loop.now_ns() - begin_ns < 2000000000)
  lu.assertTrue(report.abandoned)
  lu.assertEquals(host.abandoned_jobs(), 1)
  lu.assertEquals(select(2, loop.handles()), in_flight)
  place:tell("release")
  disk.wait_until(5, "the job comes back", function() return host.abandoned_jobs() == 0 end)
end

function suite.test_job_in_a_clean_up_gets_its_grace_past_the_deadline()
  local place, path = fault_with_file()
  local _ <close> = place
  place:tell("hang open")
  local _ <close> = settings { grace_seconds = 5, on_stuck = function() end }
  local scope <close> = task.scope()
  scope:spawn("release", function()
    task.sleep(0.15)
    place:tell("release")
  end)
  local before = scheduler.cleanup_seconds
  scheduler.cleanup_seconds = 0.05
  do
    local _ <close> = task.defer(function() cache.residency(path) end)
  end
  scheduler.cleanup_seconds = before
  lu.assertEquals(host.abandoned_jobs(), 0)
  lu.assertEquals(#scheduler.cleanup_failures, 1)
  lu.assertEquals(scheduler.cleanup_failures[1].error.code, "TIMEOUT")
  scheduler.cleanup_failures = {}
end

function suite.test_dropped_job_ends_without_an_owner()
  local started = core.residency("/proc/self/exe")
  lu.assertEquals(started:name(), started:name())
  started = nil -- luacheck: ignore
  collectgarbage()
  collectgarbage()
  disk.wait_until(5, "the thread ends", function() return host.abandoned_jobs() == 0 end)
end

return suite
