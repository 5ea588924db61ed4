-- SPDX-License-Identifier: MIT
--- The engine under storlua.task: runs ready tasks, then turns the event loop.
--- Callbacks of the loop only mark tasks ready, so no user code runs inside
--- libuv. Scripts use storlua.task; this module is not for them.

local core = require("storlua.core.host")
local errors = require("storlua.errors")
local failure = require("storlua.failure")
local loop = require("storlua.core.loop")
local timer = require("storlua.core.timer")

local scheduler = {
  cleanup_seconds = 60, -- how long the clean-ups of one task may wait
  open_cleanups = 0, -- task.defer values that have not run yet
  traceback = failure.traceback,
  stopped_by = nil, -- the signal that asked to stop: decides the exit code
  exit_code = nil, -- of os.exit
  live = {}, -- tasks that have not ended
  turns = 0, -- of the loop
}

local NS = 1000000000
local yield = coroutine.yield
local ready = { first = 1, last = 0 }
local current -- the task that runs now

---@class storlua.TaskState
---@field name string
---@field coroutine thread
---@field cancels table[] pending cancels, oldest first: {reason, scope, shield}
---@field shield? table the shield it runs under: {end_ns, outer}
---@field abort? fun() ends the wait it is in
---@field parked? boolean it waits by scheduler.await
---@field ended? boolean
---@field failed boolean
---@field error any
---@field on_end? fun()

--- coroutine.yield for scripts: in a task itself nobody would ever wake it.
function scheduler.yield(...)
  if current and coroutine.running() == current.coroutine then
    errors.raise("MISUSE", "task %s yielded outside a coroutine of its own: use task.yield",
      current.name)
  end
  return yield(...)
end

local function push_ready(t)
  ready.last = ready.last + 1
  ready[ready.last] = t
end

local function pop_ready()
  local t = ready[ready.first]
  ready[ready.first] = nil
  ready.first = ready.first + 1
  return t
end

--- Makes a task that will run `fn(...)`; scopes call this.
---@return storlua.TaskState
function scheduler.spawn(name, fn, ...)
  local t = { name = name, cancels = {}, failed = false }
  local arguments = table.pack(...)
  -- An error must be caught inside the coroutine, or its <close> values
  -- would wait for the garbage collector.
  t.coroutine = coroutine.create(function()
    t.results = table.pack(xpcall(fn, failure.capture,
      table.unpack(arguments, 1, arguments.n)))
    t.failed = not t.results[1]
    if t.failed then t.error = failure.capture(t.results[2]) end
  end)
  scheduler.live[t] = true
  push_ready(t)
  return t
end

local function fail(t, err)
  t.failed, t.error = true, failure.capture(err)
end

local function run_task(t)
  current = t
  local ok, message = core.resume(t.coroutine)
  current = nil
  if coroutine.status(t.coroutine) ~= "dead" then return end
  if not ok then fail(t, message) end
  t.ended = true
  scheduler.live[t] = nil
  if t.on_end then t.on_end() end
end

--- The task that runs now; raises when called from anywhere else.
---@return storlua.TaskState
function scheduler.current()
  if not current then errors.raise("MISUSE", "this call waits, so it needs a task") end
  if coroutine.running() ~= current.coroutine then
    errors.raise("MISUSE", "this call waits inside a coroutine you made: use scope:spawn")
  end
  return current
end

-- The oldest cancel that reaches the task. A shield hides those that come from
-- outside of it; a timeout inside a clean-up still works.
local function pending(t)
  for i = 1, #t.cancels do
    if t.cancels[i].shield == t.shield then return t.cancels[i] end
  end
end

local function check_cancel(t)
  local entry = pending(t)
  if entry then error(entry.reason, 0) end
  if t.shield and loop.now_ns() >= t.shield.end_ns then
    errors.raise("TIMEOUT", "the clean-up of task %s took longer than %g s", t.name,
      t.shield.seconds)
  end
end

--- Raises if the running task was cancelled.
function scheduler.checkpoint()
  check_cancel(scheduler.current())
end

local function park(t, abort)
  t.abort, t.parked = abort, true
  local deadline
  if t.shield and t.shield.end_ns < math.maxinteger then
    deadline = timer.start(t.shield.end_ns - loop.now_ns(), abort)
  end
  yield()
  t.abort, t.parked = nil, nil
  if deadline then deadline:cancel() end
end

--- See task.await.
function scheduler.await(start)
  local t = scheduler.current()
  check_cancel(t)
  local settled, results = false, nil
  local function resume(...)
    if settled then return end
    settled, results = true, table.pack(...)
    if t.parked then push_ready(t) end
  end
  local abort_operation = start(resume)
  local function abort()
    if settled then return end
    settled = true
    if abort_operation then
      local ok, err = xpcall(abort_operation, failure.capture)
      if not ok then scheduler.record(err, t.name) end
    end
    if t.parked then push_ready(t) end
  end
  if not settled then
    if pending(t) then abort() else park(t, abort) end
  end
  if not results then
    check_cancel(t)
    error("the wait of task " .. t.name .. " was ended by nobody")
  end
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
  local entry = { reason = reason, scope = scope, shield = scope and scope.shield }
  table.insert(t.cancels, scope and #t.cancels + 1 or 1, entry)
  if t.abort and pending(t) then t.abort() end
end

--- Takes back the cancels of a scope that is closed.
function scheduler.uncancel(t, scope)
  for i = #t.cancels, 1, -1 do
    if t.cancels[i].scope == scope then table.remove(t.cancels, i) end
  end
end

--- Runs `fn(...)` so that its waits are not cancelled from outside, for at
--- most `seconds` (math.huge: for as long as it takes).
function scheduler.shield_for(seconds, fn, ...)
  local t = scheduler.current()
  local outer = t.shield
  local ns = seconds < 9e9 and math.ceil(seconds * NS) or math.maxinteger
  local now_ns = loop.now_ns()
  t.shield = {
    seconds = seconds,
    end_ns = ns < math.maxinteger - now_ns and now_ns + ns or math.maxinteger,
  }
  local function finish(ok, ...)
    t.shield = outer
    if not ok then error((...), 0) end
    return ...
  end
  return finish(xpcall(fn, failure.capture, ...))
end

--- The same, until the deadline of the clean-ups. Those of a task that is
--- cancelled share one deadline, and so do clean-ups inside clean-ups.
function scheduler.shield(fn, ...)
  local t = scheduler.current()
  local now_ns = loop.now_ns()
  local end_ns = now_ns + math.ceil(scheduler.cleanup_seconds * NS)
  if t.cancels[1] then
    t.unwind_end_ns = t.unwind_end_ns or end_ns
    end_ns = t.unwind_end_ns
  else
    t.unwind_end_ns = nil
  end
  if t.shield then end_ns = math.min(end_ns, t.shield.end_ns) end
  return scheduler.shield_for((end_ns - now_ns) / NS, fn, ...)
end

--- Failures that did not become the error of the run because there was one
--- already, or because they happened in a clean-up. The host reports them and
--- ends with exit code 6 if nothing worse happened.
scheduler.cleanup_failures = {}

--- Notes such a failure; at most 100 are kept.
---@param err any
---@param name? string of the task
function scheduler.record(err, name)
  local list = scheduler.cleanup_failures
  if errors.is(err) and err.code == "EXIT" or #list >= 100 then return end
  list[#list + 1] = { task = name or (current and current.name), error = err }
end

--- Runs a clean-up: shielded, and recorded instead of raised when it fails.
function scheduler.cleanup(fn, err)
  local ok, problem = pcall(scheduler.shield, fn, err)
  if not ok then scheduler.record(problem) end
end

-- One batch of ready tasks, so that the loop turns between two batches even if
-- tasks keep each other ready.
local function run_ready()
  for _ = 1, ready.last - ready.first + 1 do
    local t = pop_ready()
    if t.call then t.call() elseif not t.ended then run_task(t) end
  end
end

-- Runs until `is_over()`; returns false if that can never be.
local function drive(is_over)
  repeat
    run_ready()
    if is_over() then return true end
    local idle = ready.first > ready.last
    local alive = loop.turn(idle)
    scheduler.turns = scheduler.turns + 1
  until not alive and idle and ready.first > ready.last
  return false
end

--- Cancels the root task for good.
function scheduler.stop_root(reason)
  local root = scheduler.root
  if root then scheduler.cancel(root, reason) end
end

--- The task that runs now, or nil; does not raise.
function scheduler.running()
  return current
end

--- Runs `fn(...)` as the root task until it and all others have ended.
---@return boolean ok
---@return any ... results, or the error
function scheduler.run(fn, ...)
  local root = scheduler.spawn("main", fn, ...)
  scheduler.root = root
  local function root_ended() return root.ended end
  if not drive(root_ended) then
    local reason = errors.new {
      code = "EDEADLK", message = "task main waits for something that cannot happen",
    }
    scheduler.stop_root(reason)
    if not drive(root_ended) then return false, reason end
  end
  -- Tasks of scopes that nobody closed.
  for t in pairs(scheduler.live) do
    scheduler.cancel(t, errors.new { code = "CANCELLED", message = "the run has ended" })
  end
  drive(function() return next(scheduler.live) == nil end)
  if root.failed then return false, root.error end
  return table.unpack(root.results, 1, root.results.n)
end

return scheduler
