-- SPDX-License-Identifier: MIT
--- The engine under storlua.task: runs ready tasks, then turns the event loop.
--- Callbacks of the loop only mark tasks ready, so no user code runs inside
--- libuv. Scripts use storlua.task; this module is not for them.

local errors = require("storlua.errors")
local loop = require("storlua.core.loop")
local timer = require("storlua.core.timer")

local scheduler = {
  cleanup_seconds = 60, -- how long the clean-ups of one task may wait in all
}

local NS = 1000000000
local ready = { first = 1, last = 0 }
local current -- the task that runs now
local tracebacks = setmetatable({}, { __mode = "k" })

---@class storlua.TaskState
---@field name string
---@field coroutine thread
---@field cancels table[] pending cancels, oldest first: {reason, scope}
---@field abort? fun() ends the wait it is in
---@field failed boolean
---@field error any

local function push_ready(t)
  ready.last = ready.last + 1
  ready[ready.last] = t
end

local function pop_ready()
  if ready.first > ready.last then return nil end
  local t = ready[ready.first]
  ready[ready.first] = nil
  ready.first = ready.first + 1
  return t
end

--- The traceback of an error as it was when it was raised, or nil.
function scheduler.traceback(err)
  local kind = type(err)
  return (kind == "table" or kind == "userdata") and tracebacks[err] or nil
end

-- Error values keep their identity; the traceback is kept beside them. An
-- error(nil) becomes a value that can be told from "no error".
local function on_error(err)
  if err == nil then
    err = errors.new { code = "ERROR", message = "error(nil): the script raised nil" }
  elseif type(err) ~= "table" and type(err) ~= "userdata" then
    err = errors.new { code = "ERROR", message = tostring(err) }
  end
  if not tracebacks[err] then tracebacks[err] = debug.traceback("", 2):sub(2) end
  return err
end

--- Makes a task that will run `fn(...)`; scopes call this.
---@return storlua.TaskState
function scheduler.spawn(name, fn, ...)
  local t = { name = name, cancels = {}, failed = false }
  local arguments = table.pack(...)
  -- An error must be caught inside the coroutine, or its <close> values
  -- would wait for the garbage collector.
  t.coroutine = coroutine.create(function()
    local results = table.pack(xpcall(fn, on_error, table.unpack(arguments, 1, arguments.n)))
    t.results = results
    t.failed = not results[1]
    if t.failed then t.error = results[2] end
  end)
  push_ready(t)
  return t
end

local function run_task(t)
  local previous = current
  current = t
  local ok, message = coroutine.resume(t.coroutine)
  current = previous
  if coroutine.status(t.coroutine) ~= "dead" then return end
  t.ended = true
  if not ok then t.failed, t.error = true, message end
  if t.on_end then t.on_end() end
end

--- The task that runs now; raises when called from anywhere else.
---@return storlua.TaskState
function scheduler.current()
  if not current then error("this call waits, so it needs a task", 3) end
  if coroutine.running() ~= current.coroutine then
    error("this call waits inside a coroutine you made: use scope:spawn", 3)
  end
  return current
end

local function check_cancel(t)
  if t.shielded then
    if loop.now_ns() >= t.shield_end_ns then
      errors.raise("TIMEOUT", "the clean-up of task %s took longer than %g s", t.name,
        scheduler.cleanup_seconds)
    end
  elseif t.cancels[1] then
    error(t.cancels[1].reason, 0)
  end
end

--- Raises if the running task was cancelled.
function scheduler.checkpoint()
  check_cancel(scheduler.current())
end

--- See task.await.
function scheduler.await(start)
  local t = scheduler.current()
  check_cancel(t)
  local settled, waiting, results = false, false, nil
  local function resume(...)
    if settled then return end
    settled, results = true, table.pack(...)
    if waiting then push_ready(t) end
  end
  local abort = start(resume)
  if not settled then
    local deadline
    t.abort = function()
      if settled then return end
      settled = true
      if abort then abort() end
      push_ready(t)
    end
    if t.shielded then
      deadline = timer.start(t.shield_end_ns - loop.now_ns(), t.abort)
    end
    waiting = true
    coroutine.yield()
    t.abort = nil
    if deadline then deadline:cancel() end
  end
  if not results then check_cancel(t) end
  return table.unpack(results, 1, results.n)
end

--- Runs `fn` in the scheduler before the loop turns again.
function scheduler.soon(fn)
  push_ready({ call = fn })
end

--- Cancels a task: `reason` is raised at its waits until uncancel. `scope`
--- says on whose behalf; nil is for good.
function scheduler.cancel(t, reason, scope)
  if t.ended then return end
  local entry = { reason = reason, scope = scope }
  if scope then t.cancels[#t.cancels + 1] = entry else table.insert(t.cancels, 1, entry) end
  if t.abort and not t.shielded then t.abort() end
end

--- Takes back the cancels of a scope that is closed.
function scheduler.uncancel(t, scope)
  for i = #t.cancels, 1, -1 do
    if t.cancels[i].scope == scope then table.remove(t.cancels, i) end
  end
end

--- Runs `fn(...)` so that its waits are not cancelled; they must end within
--- the clean-up deadline of the task, which starts with its first shield.
function scheduler.shield(fn, ...)
  local t = scheduler.current()
  if t.shielded then return fn(...) end
  t.shielded = true
  t.shield_end_ns = loop.now_ns() + math.ceil(scheduler.cleanup_seconds * NS)
  local function finish(ok, ...)
    t.shielded = false
    if not ok then error((...), 0) end
    return ...
  end
  return finish(xpcall(fn, on_error, ...))
end

--- Failures of clean-ups while something else unwinds: they are recorded, the
--- first error stays. The host reads and reports them.
scheduler.cleanup_failures = {}

--- Runs a clean-up: shielded, and recorded instead of raised when it fails.
function scheduler.cleanup(fn, err)
  local ok, failure = pcall(scheduler.shield, fn, err)
  if not ok then
    table.insert(scheduler.cleanup_failures, { task = current.name, error = failure })
  end
end

--- Runs `fn(...)` as the root task until it has ended.
---@return boolean ok
---@return any ... results, or the error
function scheduler.run(fn, ...)
  local root = scheduler.spawn("main", fn, ...)
  scheduler.root = root
  while not root.ended do
    local t = pop_ready()
    while t do
      if t.call then t.call() elseif not t.ended then run_task(t) end
      t = pop_ready()
    end
    if not root.ended and not loop.turn(ready.first > ready.last)
      and ready.first > ready.last then
      scheduler.cancel(root, errors.new {
        code = "EDEADLK", message = "task main waits for something that cannot happen",
      })
    end
  end
  if root.failed then return false, root.error end
  return table.unpack(root.results, 1, root.results.n)
end

return scheduler
