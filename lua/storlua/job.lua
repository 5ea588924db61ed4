-- SPDX-License-Identifier: MIT
--- Waiting for work on a thread of its own.

local errors = require("storlua.errors")
local scheduler = require("storlua.scheduler")
local task = require("storlua.task")
local timer = require("storlua.core.timer")
require("storlua.core.job")

local job = {
  grace_seconds = 0.5, -- how long a cancelled job may take to notice
  stuck_seconds = 30, -- in one system call, until it is reported; a run fails then
  answer_seconds = 10, -- the same for a path that a run needs to begin or to end
  given_up = 0, -- jobs that were left behind
  others = {}, -- what else may hang, as a job does: name by object with stuck()
}

local NS = 1000000000
local paths = setmetatable({}, { __mode = "k" }) -- what jobs of wait_on work on
local left = setmetatable({}, { __mode = "k" }) -- jobs that were given up

local function await_done(j)
  scheduler.await(function(resume)
    j:on_done(resume)
    return function() j:on_done(nil) end
  end)
end

-- Reports a job that stays in one system call, at doubling intervals.
local function watch(j)
  local first = paths[j] and job.answer_seconds or job.stuck_seconds
  local limit = first
  local t, arm
  local function look()
    local stuck = j:stuck()
    local seconds = stuck and stuck.seconds or 0
    if seconds >= limit then
      limit = 2 * limit
      stuck.job, stuck.path, stuck.abandoned = j:name(), paths[j], false
      job.on_stuck(stuck)
    elseif seconds < first then
      limit = first
    end
    arm(limit - seconds)
  end
  function arm(seconds)
    t = timer.start(math.ceil(math.max(seconds, 0.01) * NS), look)
  end
  arm(limit)
  return setmetatable({}, { __close = function() t:cancel() end })
end

--- Waits until the job is done and returns its results, raising its failure.
--- When the task is cancelled meanwhile, the job is cancelled too and given
--- job.grace_seconds; a job that sits in the kernel is then abandoned and
--- reported.
---@async
---@param j userdata a job, or the nil, message, code, fields of a failed start
---@return any ... results of the job
function job.wait(j, ...)
  errors.check(j, ...)
  local _ <close> = watch(j)
  local ok, err = pcall(await_done, j)
  if ok then return errors.check(j:result()) end
  j:cancel()
  job.end_or_abandon(j)
  error(err, 0)
end

--- How long what was cancelled may take to notice. Once one job hangs, the
--- others are on the same device more often than not.
---@return number seconds
function job.grace()
  return job.given_up > 0 and 0.05 or job.grace_seconds
end

--- The same for a job on one path, which is named when it does not answer.
---@async
---@param path string
---@param j userdata as in job.wait
---@return any ... results of the job
function job.wait_on(path, j, ...)
  errors.check(j, ...)
  paths[j] = path
  return job.wait(j)
end

--- For work that a run can do without: waits for so many seconds at most. A job
--- that then sits in the kernel is told to `on_hang` and abandoned, which fails
--- nothing, and nil is returned.
---@async
---@param seconds number
---@param on_hang fun(j: userdata)
---@param j userdata as in job.wait
---@return any ... results of the job
function job.wait_beside(seconds, on_hang, j, ...)
  errors.check(j, ...)
  local ok, err = pcall(task.timeout, seconds, await_done, j)
  if not ok then
    j:cancel()
    local ended = job.end_or_abandon(j, on_hang)
    if not errors.is(err) or err.code ~= "TIMEOUT" then error(err, 0) end
    if not ended then return nil end
  end
  return errors.check(j:result())
end

--- A job that is given up is reported, and counted.
---@param j userdata
function job.give_up(j)
  job.given_up = job.given_up + 1
  local stuck = j:stuck() or {}
  stuck.job, stuck.path, stuck.abandoned = j:name(), paths[j], true
  job.on_stuck(stuck)
end

--- Gives a cancelled job its grace, then abandons it.
---@async
---@param j userdata
---@param on_hang? fun(j: userdata) called before that; default job.give_up
---@return boolean ended false when it had to be abandoned
function job.end_or_abandon(j, on_hang)
  if left[j] then return false end -- who waited for it has told so
  if pcall(scheduler.shield_for, job.grace(), await_done, j) or j:is_done() then
    return true
  end
  left[j] = true
  (on_hang or job.give_up)(j)
  j:abandon()
  return false
end

--- Called for a job that does not come back: while it is stuck, and when it is
--- given up. A run replaces it by an event.
---@param info table job, abandoned, path (of job.wait_on), and while in a
--- system call: what, offset, seconds, thread, kernel_stack
function job.on_stuck(info)
  io.stderr:write(("storlua: %s %s%s: in %s%s\n"):format(
    info.abandoned and "gave up on" or "waiting for", info.job,
    info.path and (" %s, which does not answer"):format(info.path) or "",
    info.what or "its own work", info.seconds and (" for %.0f s"):format(info.seconds) or ""))
end

return job
