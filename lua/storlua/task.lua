-- SPDX-License-Identifier: MIT
--- Structured concurrency: tasks, scopes, waiting, cancelling.
---
--- A task is a coroutine that waits by plain calls. A scope owns the tasks it
--- spawns: leaving its block cancels and joins them. Cancelling is a level: it
--- is raised at the next wait and at every later one. Clean-ups
--- (task.defer, <close> values of the library) may wait, within a deadline.

local errors = require("storlua.errors")
local scheduler = require("storlua.scheduler")
local scopes = require("storlua.scope")
local timer = require("storlua.core.timer")
local loop = require("storlua.core.loop")

local task = {}

local NS = 1000000000

-- Seconds as nanoseconds for a timer: never negative, math.huge is for ever.
local function to_ns(seconds, what, level)
  if type(seconds) ~= "number" or seconds ~= seconds then
    error(what .. ": seconds must be a number", level + 1)
  end
  if seconds <= 0 then return 0 end
  return seconds < 9e9 and math.ceil(seconds * NS) or math.maxinteger
end

--- Waits for one operation: the primitive that all waiting calls are made of.
--- `start(resume)` begins it and returns a function that aborts it (or nil).
--- `resume(...)` ends the wait with these results; calling it early, twice or
--- after an abort is safe.
---@param start fun(resume: fun(...)): fun()|nil
---@return any ... what resume was given
function task.await(start)
  return scheduler.await(start)
end

--- Waits for `seconds`. The time counts from this call.
---@async
---@param seconds number
function task.sleep(seconds)
  local ns = to_ns(seconds, "task.sleep", 2)
  scheduler.await(function(resume)
    local t = timer.start(ns, resume)
    return function() t:cancel() end
  end)
end

--- Lets other ready tasks run.
---@async
function task.yield()
  scheduler.await(function(resume) scheduler.soon(resume) end)
end

--- Iterates at a fixed rate: the first turn at once, then one at each multiple
--- of `seconds` after it. A turn that is late by up to a quarter of the period
--- still takes place; past that it is left out, so two turns are never close
--- together. What was left out since the turn before is the second value.
---@async
---@param seconds number
---@return fun(): integer, integer  tick, missed
function task.every(seconds)
  local period_ns = to_ns(seconds, "task.every", 2)
  if period_ns == 0 then error("task.every: the period must be more than 0 seconds", 2) end
  local start_ns, tick, slot = nil, 0, 0
  return function()
    tick = tick + 1
    if not start_ns then
      start_ns = loop.now_ns()
      return 1, 0
    end
    local passed_ns = loop.now_ns() - start_ns
    local soonest = -((period_ns // 4 - passed_ns) // period_ns) -- rounds up
    local missed = math.max(0, soonest - slot - 1)
    slot = slot + 1 + missed
    local wait_ns = slot * period_ns - passed_ns
    if wait_ns > 0 then task.sleep(wait_ns / NS) else scheduler.checkpoint() end
    return tick, missed
  end
end

--- Opens a scope. Declare it with <close>.
---@return storlua.Scope
function task.scope() return scopes.open() end

local function limited(message, ns, fn, ...)
  local scope <close> = scopes.open()
  local _ <close> = task.defer_timer(ns, function()
    scope:fail(errors.new { code = "TIMEOUT", message = message })
  end)
  return fn(...)
end

--- Runs `fn(...)` for at most `seconds`; past that it raises an error with the
--- code "TIMEOUT" at the wait that fn is in.
---@async
---@param seconds number
---@param fn function
---@return any ... results of fn
function task.timeout(seconds, fn, ...)
  local ns = to_ns(seconds, "task.timeout", 2)
  return limited(("not done within %g s"):format(seconds), ns, fn, ...)
end

--- The same for a call of the library, whose error says what was waited for.
---@package
function task.timeout_of(what, seconds, fn, ...)
  local ns = to_ns(seconds, what, 3)
  return limited(("%s: not done within %g s"):format(what, seconds), ns, fn, ...)
end

---@package
function task.defer_timer(ns, fn)
  local t = timer.start(ns, fn)
  return setmetatable({}, { __close = function() t:cancel() end })
end

--- Returns a to-be-closed value that runs `fn` when its block is left, also
--- after an error or a cancel. `fn` may wait, within the clean-up deadline.
---@param fn fun(err: any)
function task.defer(fn)
  if type(fn) ~= "function" then error("task.defer: the argument is a function", 2) end
  scheduler.open_cleanups = scheduler.open_cleanups + 1
  return setmetatable({}, {
    __close = function(_, err)
      scheduler.cleanup(fn, err)
      scheduler.open_cleanups = scheduler.open_cleanups - 1
    end,
  })
end

--- The name of the task that runs now.
---@return string
function task.name()
  return scheduler.current().name
end

return task
