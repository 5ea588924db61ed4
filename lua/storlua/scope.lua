-- SPDX-License-Identifier: MIT
--- Scopes own the tasks that they spawn: whoever leaves the block of a scope
--- has cancelled and joined them. Scripts open one with task.scope().

local errors = require("storlua.errors")
local scheduler = require("storlua.scheduler")

local scopes = {}

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
function scopes.open()
  local owner = scheduler.current()
  local scope = setmetatable({
    owner = owner, shield = owner.shield, children = {}, count = 0,
    is_cancelled = false, is_closed = false,
  }, Scope)
  owner.scopes = owner.scopes or {}
  owner.scopes[scope] = true
  return scope
end

--- Closes the scopes that a task has left open with work in them, which nobody
--- would wait for. Returns what was wrong, or nil.
---@async
---@param owner storlua.TaskState
---@param except? storlua.Scope one that will be closed
---@return string|nil
function scopes.close_left_open(owner, except)
  local why
  for scope in pairs(owner.scopes or {}) do
    local busy = next(scope.children)
    if scope ~= except and (busy or scope.failure ~= nil) then
      why = ("task %s left a scope open%s: declare it with <close>, or call its join"):format(
        owner.name, busy and (" in which task %s still ran"):format(busy.name) or "")
      local _ <close> = scope
    end
  end
  return why
end

-- What a task runs: nothing that it began goes on without anybody waiting.
local function run_child(fn, ...)
  local results = table.pack(fn(...))
  local why = scopes.close_left_open(scheduler.current())
  if why then errors.raise("MISUSE", "%s", why) end
  return table.unpack(results, 1, results.n)
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
  local child = setmetatable(scheduler.spawn(name, run_child, fn, ...), Task)
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
  for scope in pairs(child.scopes or {}) do scope:cancel() end -- left open by an error
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
  self.owner.scopes[self] = nil
  scheduler.uncancel(self.owner, self)
  -- While an error unwinds it stays the first one; otherwise a failure that
  -- the owner did not meet at a wait is raised here, never lost.
  if ok then problem = self.failure end
  if problem == nil or problem == err then return end
  if err == nil then error(problem, 0) end
  if self.failed_name then scheduler.record(problem, self.failed_name) end
end

return scopes
