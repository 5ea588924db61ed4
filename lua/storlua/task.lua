-- SPDX-License-Identifier: MIT
--- Structured concurrency: tasks, scopes, waiting, cancelling.
---
--- A task is a coroutine that waits by plain calls. A scope owns the tasks it
--- spawns: leaving its block cancels and joins them. Cancelling is a level: it
--- is raised at the next wait and at every later one. Clean-ups
--- (task.defer, <close> values of the library) may wait, within a deadline.

local errors = require("storlua.errors")
local scheduler = require("storlua.scheduler")
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

--- A task that a scope owns: what scope:spawn returns.
---@class storlua.Task: storlua.TaskState
---@field package waiters table<fun(), boolean>
local Task = {}
Task.__index = Task
Task.__name = "storlua.Task"
function Task:__tostring() return "storlua.Task: " .. self.name end

--- Waits until the task has ended and returns what its function returned. If
--- it failed its error is raised, here and at the next waits of the scope's
--- owner; if it was cancelled, an error with the code "CANCELLED".
---@async
---@return any ...
function Task:join()
  if not self.ended then
    if scheduler.current() == self then error("task:join: a task cannot join itself", 2) end
    scheduler.await(function(resume)
      self.waiters[resume] = true
      return function() self.waiters[resume] = nil end
    end)
  end
  if self.failed then error(self.error, 0) end
  return table.unpack(self.results, 2, self.results.n)
end

--- Cancels the task: its next wait raises an error with the code "CANCELLED",
--- and so do all later ones outside of clean-ups. One that has not begun runs
--- up to its first wait. That it ends in this way is no failure of its scope.
function Task:cancel()
  scheduler.cancel(self, errors.new {
    code = "CANCELLED", message = "task " .. self.name .. " was cancelled",
  })
end

---@class storlua.Scope
---@field package owner storlua.TaskState
---@field package shield? table the shield of the owner when it opened the scope
---@field package children table<storlua.Task, boolean>
---@field package count integer
---@field package failure any
---@field package is_cancelled boolean
---@field package is_closed boolean
local Scope = {}
Scope.__index = Scope
Scope.__name = "storlua.Scope"

--- Opens a scope. Declare it with <close>.
---@return storlua.Scope
function task.scope()
  local owner = scheduler.current()
  return setmetatable({
    owner = owner, shield = owner.shield, children = {}, count = 0,
    is_cancelled = false, is_closed = false,
  }, Scope)
end

--- Starts a child task. The first child that fails cancels the owner of the
--- scope with its error. In a scope that was cancelled or has failed, the child
--- starts cancelled.
---@param name string shown in logs, tracebacks and stall reports
---@param fn function
---@return storlua.Task
function Scope:spawn(name, fn, ...)
  if type(name) ~= "string" then error("scope:spawn: the first argument is a name", 2) end
  if type(fn) ~= "function" then error("scope:spawn: the second argument is a function", 2) end
  if self.is_closed then error("scope:spawn: the scope is closed", 2) end
  local child = setmetatable(scheduler.spawn(name, fn, ...), Task)
  child.waiters = {}
  self.children[child] = true
  self.count = self.count + 1
  child.on_end = function() self:child_ended(child) end
  if self.is_cancelled or self.failure ~= nil then child:cancel() end
  return child
end

-- Tells whether a task ended because it was cancelled.
local function was_cancelled(child)
  for _, entry in ipairs(child.cancels) do
    if entry.reason == child.error then return true end
  end
  return errors.is(child.error) and child.error.code == "CANCELLED"
end

---@package
function Scope:child_ended(child)
  self.children[child] = nil
  self.count = self.count - 1
  for resume in pairs(child.waiters) do resume() end
  if child.failed and not was_cancelled(child) then
    self:fail(child.error, child.name)
  end
  if self.count == 0 and self.when_empty then self.when_empty() end
end

--- Fails the scope: its owner meets `err` at its next wait. A second failure is
--- only noted.
---@param err any
---@param name? string of the task it comes from
function Scope:fail(err, name)
  if self.is_closed or self.failure == err then return end
  if self.failure ~= nil or self.is_unwinding then
    scheduler.record(err, name)
    return
  end
  self.failure, self.failed_name = err, name
  if not self.is_closing then scheduler.cancel(self.owner, err, self) end
end

---@package
function Scope:wait_empty()
  if self.count == 0 then return end
  scheduler.await(function(resume)
    self.when_empty = resume
    return function() self.when_empty = nil end
  end)
  self.when_empty = nil
end

--- Waits until all children have ended; raises the first failure.
---@async
function Scope:join()
  if scheduler.current() ~= self.owner then
    error("scope:join: only the task that opened the scope can wait for it", 2)
  end
  self:wait_empty()
  if self.failure ~= nil then error(self.failure, 0) end
end

--- Cancels all children, also those yet to be spawned.
function Scope:cancel()
  self.is_cancelled = true
  for child in pairs(self.children) do child:cancel() end
end

function Scope:__close(err)
  self.is_closing, self.is_unwinding = true, err ~= nil
  self:cancel()
  -- No deadline of its own: the clean-ups of every child have theirs.
  local ok, problem = pcall(scheduler.shield_for, math.huge, self.wait_empty, self)
  self.is_closed = true
  scheduler.uncancel(self.owner, self)
  -- While an error unwinds it stays the first one; otherwise a failure that
  -- the owner did not meet at a wait is raised here, never lost.
  if ok then problem = self.failure end
  if problem == nil or problem == err then return end
  if err == nil then error(problem, 0) end
  if self.failed_name then scheduler.record(problem, self.failed_name) end
end

local function limited(message, ns, fn, ...)
  local scope <close> = task.scope()
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
