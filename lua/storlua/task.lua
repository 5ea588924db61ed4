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
  if type(seconds) ~= "number" or seconds ~= seconds then
    error("task.sleep: seconds must be a number", 2)
  end
  local ns = seconds >= 9e9 and math.maxinteger or math.ceil(seconds * NS)
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

--- Iterates at a fixed rate: the first turn at once, then one every
--- `seconds`. A late turn is not made up for: the ticks that were missed are
--- counted and given as second value.
---@async
---@param seconds number
---@return fun(): integer, integer  tick, missed
function task.every(seconds)
  if type(seconds) ~= "number" or seconds <= 0 then
    error("task.every: the period must be more than 0 seconds", 2)
  end
  local period_ns = math.ceil(seconds * NS)
  local start_ns, tick, next_tick = loop.now_ns(), 0, 0
  return function()
    tick = tick + 1
    if tick == 1 then return 1, 0 end
    local passed = (loop.now_ns() - start_ns) // period_ns
    local missed = math.max(0, passed - next_tick - 1)
    next_tick = math.max(next_tick + 1, passed + (missed > 0 and 1 or 0))
    local wait_ns = start_ns + next_tick * period_ns - loop.now_ns()
    if wait_ns > 0 then task.sleep(wait_ns / NS) else scheduler.checkpoint() end
    return tick, missed
  end
end

---@class storlua.Scope
---@field package owner table
---@field package children table<table, boolean>
---@field package failure any
local Scope = {}
Scope.__index = Scope
Scope.__name = "storlua.Scope"

--- Opens a scope. Declare it with <close>.
---@return storlua.Scope
function task.scope()
  return setmetatable({
    owner = scheduler.current(), children = {}, count = 0, closed = false,
  }, Scope)
end

--- Starts a child task. The first child that fails cancels the owner of the
--- scope with its error.
---@param name string shown in logs, tracebacks and stall reports
---@param fn function
---@return table task handle with :cancel() and :join()
function Scope:spawn(name, fn, ...)
  if type(name) ~= "string" then error("scope:spawn: the first argument is a name", 2) end
  if type(fn) ~= "function" then error("scope:spawn: the second argument is a function", 2) end
  if self.closed then error("scope:spawn: the scope is closed", 2) end
  local child = scheduler.spawn(name, fn, ...)
  child.scope = self
  self.children[child] = true
  self.count = self.count + 1
  child.on_end = function() self:child_ended(child) end
  return child
end

---@package
function Scope:child_ended(child)
  self.children[child] = nil
  self.count = self.count - 1
  if child.failed and not child.cancelled_quietly then self:fail(child.error) end
  if self.count == 0 and self.when_empty then self.when_empty() end
end

--- Fails the scope: its owner meets `err` at its next wait.
---@param err any
function Scope:fail(err)
  if self.failure ~= nil or self.closed then return end
  self.failure = err
  scheduler.cancel(self.owner, err, self)
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
  self:wait_empty()
  if self.failure ~= nil then error(self.failure, 0) end
end

--- Cancels all children; they end at their next wait.
function Scope:cancel()
  for child in pairs(self.children) do
    child.cancelled_quietly = true
    scheduler.cancel(child, errors.new {
      code = "CANCELLED", message = "task " .. child.name .. " was cancelled",
    })
  end
end

function Scope:__close(err)
  self:cancel()
  scheduler.shield(function() self:wait_empty() end)
  self.closed = true
  scheduler.uncancel(self.owner, self)
  -- While an error unwinds it stays the first one; otherwise a failure that
  -- the owner did not meet at a wait is raised here, never lost.
  if err == nil and self.failure ~= nil then error(self.failure, 0) end
end

--- Runs `fn(...)` for at most `seconds`; past that it raises an error with the
--- code "TIMEOUT" at the wait that fn is in.
---@async
---@param seconds number
---@param fn function
---@return any ... results of fn
function task.timeout(seconds, fn, ...)
  local scope <close> = task.scope()
  local _ <close> = task.defer_timer(seconds, function()
    scope:fail(errors.new {
      code = "TIMEOUT", message = ("not done within %g s"):format(seconds),
    })
  end)
  return fn(...)
end

---@package
function task.defer_timer(seconds, fn)
  local t = timer.start(math.ceil(seconds * NS), fn)
  return setmetatable({}, { __close = function() t:cancel() end })
end

--- Returns a to-be-closed value that runs `fn` when its block is left, also
--- after an error or a cancel. `fn` may wait, within the clean-up deadline.
---@param fn fun(err: any)
function task.defer(fn)
  return setmetatable({}, {
    __close = function(_, err) scheduler.cleanup(fn, err) end,
  })
end

--- The name of the task that runs now.
---@return string
function task.name()
  return scheduler.current().name
end

return task
