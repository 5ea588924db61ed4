-- SPDX-License-Identifier: MIT
--- Timers over hours: dropped ones, many of them, and a long run in no time.

local cli_run = require("cli_run")
local lu = require("luaunit")
local loop = require("storlua.core.loop")
local sanitizer = require("sanitizer")
local task = require("storlua.task")
local timer = require("storlua.core.timer")

local suite = {}

local function resident_kib()
  local file <close> = assert(io.open("/proc/self/status"))
  return math.tointeger(file:read("a"):match("VmRSS:%s*(%d+)"))
end

function suite.test_100000_timers_leave_nothing()
  local function batch(n)
    for i = 1, n do
      local t = timer.start(1000000000, function() end)
      t:cancel()
      if i % 1000 == 0 then task.sleep(0) end
    end
    collectgarbage()
    collectgarbage()
  end
  batch(10000) -- warm-up
  local handles = loop.handles()
  local kib, heap_kib = resident_kib(), collectgarbage("count")
  batch(100000)
  lu.assertEquals((loop.handles()), handles)
  if not sanitizer then
    lu.assertTrue(resident_kib() - kib < 1024, resident_kib() - kib)
  end
  lu.assertTrue(collectgarbage("count") < heap_kib * 1.05)
end

function suite.test_timer_that_nobody_holds_fires_once()
  local fired = 0
  timer.start(50000000, function() fired = fired + 1 end)
  for _ = 1, 3 do collectgarbage() end
  task.sleep(0.15)
  lu.assertEquals(fired, 1)
end

function suite.test_tasks_and_waits_leave_nothing()
  local function batch(n)
    for _ = 1, n do
      local scope <close> = task.scope()
      scope:spawn("kid", task.sleep, 0)
      pcall(task.timeout, 0, task.sleep, 1)
      scope:join()
    end
    collectgarbage()
    collectgarbage()
  end
  batch(500)
  local heap_kib = collectgarbage("count")
  batch(2000)
  lu.assertTrue(collectgarbage("count") < heap_kib * 1.05)
end

function suite.test_48_hours_pass_in_no_time()
  local begin_ns = loop.monotonic_ns()
  local result = cli_run.run { env = { STORLUA_VIRTUAL_TIME = "1" }, "-e", [[
    local loop = require("storlua.core.loop")
    local task = require("storlua.task")
    local ticks = 0
    local scope <close> = task.scope()
    scope:spawn("temperature", function()
      for _ in task.every(30) do ticks = ticks + 1 end
    end)
    task.sleep(48 * 3600 - 1)
    print(ticks, loop.now_ns() // 1000000000)
  ]] }
  lu.assertEquals(result.stderr, "")
  lu.assertEquals(result.stdout, "5760\t172799\n")
  lu.assertTrue(loop.monotonic_ns() - begin_ns < 10000000000)
end

-- A field case: 100 ms ticks for 10 s, 20 ms of work each, one of 250 ms.
function suite.test_every_keeps_its_rate_over_late_ticks()
  local result = cli_run.run { env = { STORLUA_VIRTUAL_TIME = "1" }, "-e", [[
    local loop = require("storlua.core.loop")
    local task = require("storlua.task")
    local last_ns, least_ns, ticks, missed = nil, math.maxinteger, 0, 0
    for _, skipped in task.every(0.1) do
      local now_ns = loop.now_ns()
      if now_ns >= 10000000000 then break end
      if last_ns then least_ns = math.min(least_ns, now_ns - last_ns) end
      last_ns, ticks, missed = now_ns, ticks + 1, missed + skipped
      task.sleep(ticks == 50 and 0.25 or 0.02)
    end
    print(ticks, missed, least_ns >= 50000000, last_ns)
  ]] }
  lu.assertEquals(result.stdout, "98\t2\ttrue\t9900000000\n", result.stderr)
end

return suite
