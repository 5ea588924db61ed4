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
  cleanup_failures = {}, -- see scheduler.record
  open_cleanups = 0, -- task.defer values that have not run yet
  traceback = failure.traceback,
  stopped_by = nil, -- the signal that asked to stop: decides the exit code
  exit_code = nil, -- of os.exit
  turns = 0, -- of the loop
  sources = nil, ---@type storlua.Source[]
}

local yield, running, step = coroutine.yield, coroutine.running, core.step
local TURN_EVERY <const> = 512 -- runs of tasks by a source
local ready = { first = 1, last = 0 }
local sources = {} -- what tasks wait for without the scheduler: storlua.source_wait
local live = {} -- tasks that have not ended, by their coroutines

scheduler.sources = sources

---@class storlua.TaskState
---@field name string
---@field coroutine thread
---@field cancels table[] pending cancels, oldest first: {reason, scope, shield}
---@field shield? table the shield it runs under: {end_ns, outer}
---@field abort? fun() ends the wait it is in
---@field parked? boolean it waits by scheduler.await
---@field deadline? userdata timer of the shield it waits under for a source
---@field ended? boolean
---@field failed boolean
---@field error any
---@field on_end? fun()

--- coroutine.yield for scripts: in a task itself nobody would ever wake it.
function scheduler.yield(...)
  local t = live[(running())]
  if t then
    errors.raise("MISUSE", "task %s yielded outside a coroutine of its own: use task.yield", t.name)
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
  live[t.coroutine] = t
  push_ready(t)
  return t
end

local function fail(t, err)
  t.failed, t.error = true, failure.capture(err)
end

-- A task that does not wait any more: of a coroutine that ended or failed.
local function end_task(co, ok, message)
  local t = live[co]
  if not ok then fail(t, message) end
  t.ended = true
  live[co] = nil
  if t.cancels[1] then core.alert(-1) end
  if t.on_end then t.on_end() end
end

local function run_task(t)
  local co = t.coroutine
  local ok, message = step(co)
  if ok ~= nil then end_task(co, ok, message) end
end

--- For sources that run tasks themselves: ended(coroutine, ok, error).
scheduler.ended = end_task

--- The task that runs now; raises when called from anywhere else.
---@return storlua.TaskState
function scheduler.current()
  local t = live[(running())]
  if t then return t end
  if not core.task() then errors.raise("MISUSE", "this call waits, so it needs a task") end
  errors.raise("MISUSE", "this call waits inside a coroutine you made: use scope:spawn")
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
  local t = scheduler.current()
  if t.deadline then
    t.deadline:cancel()
    t.deadline = nil
  end
  check_cancel(t)
end

-- Ends the wait of a task for a source, if it is in one.
function scheduler.interrupt(t)
  for i = 1, #sources do
    if sources[i].interrupt(t.coroutine) then return push_ready(t) end
  end
end

--- Lets a task go on that the source will not: its wait raises.
---@param co thread
function scheduler.wake(co) push_ready(live[co]) end

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
  if not t.cancels[1] then core.alert(1) end
  local entry = { reason = reason, scope = scope, shield = scope and scope.shield }
  table.insert(t.cancels, scope and #t.cancels + 1 or 1, entry)
  if not pending(t) then return end
  if t.abort then t.abort() else scheduler.interrupt(t) end
end

--- Takes back the cancels of a scope that is closed.
function scheduler.uncancel(t, scope)
  local was_cancelled = t.cancels[1] and not t.ended
  for i = #t.cancels, 1, -1 do
    if t.cancels[i].scope == scope then table.remove(t.cancels, i) end
  end
  if was_cancelled and not t.cancels[1] then core.alert(-1) end
end

require("storlua.shield").extend(scheduler)

-- One batch of ready tasks, so that the loop turns between two batches even if
-- tasks keep each other ready.
local function run_ready()
  for _ = 1, ready.last - ready.first + 1 do
    local t = pop_ready()
    if t.call then t.call() elseif not t.ended then run_task(t) end
  end
end

local function poll_sources()
  local found = 0
  for i = 1, #sources do found = found + sources[i].poll() end
  return found
end

-- Runs until `is_over()`; returns false if that can never be.
local function drive(is_over)
  local run, idle, alive = 0, false, true
  repeat
    run_ready()
    if is_over() then return true end
    local found
    repeat
      found = poll_sources()
      run = run + found
    until found == 0 or run >= TURN_EVERY or ready.first <= ready.last
    if found == 0 or run >= TURN_EVERY then
      run = 0
      idle = found == 0 and ready.first > ready.last
      alive = loop.turn(idle)
      scheduler.turns = scheduler.turns + 1
    end
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
  local co = core.task()
  return co and live[co]
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
  -- Tasks of scopes that nobody closed, and what went wrong in them.
  local left
  for scope in pairs(root.scopes or {}) do left = left or scope.failure end
  for _, t in pairs(live) do
    left = left or errors.new { code = "MISUSE", message = ("task %s still ran when all else "
      .. "had ended: its scope was left open; declare it with <close>, or call its join")
      :format(t.name) }
    scheduler.cancel(t, errors.new { code = "CANCELLED", message = "the run has ended" })
  end
  drive(function() return next(live) == nil end)
  if root.failed then return false, root.error end
  if left ~= nil then return false, left end
  return table.unpack(root.results, 1, root.results.n)
end

return scheduler
