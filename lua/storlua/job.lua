-- SPDX-License-Identifier: MIT
--- Waiting for work on a thread of its own.

local errors = require("storlua.errors")
local scheduler = require("storlua.scheduler")
local task = require("storlua.task")
require("storlua.core.job")

local job = {
  grace_seconds = 1, -- how long a cancelled job may take to notice
}

local function await_done(j)
  task.await(function(resume)
    j:on_done(resume)
    return function() j:on_done(nil) end
  end)
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
  local ok, err = pcall(await_done, j)
  if ok then return errors.check(j:result()) end
  j:cancel()
  job.end_or_abandon(j)
  error(err, 0)
end

--- Gives a cancelled job its grace, then abandons it.
---@async
---@param j userdata
---@return boolean ended false when it had to be abandoned
function job.end_or_abandon(j)
  return scheduler.shield(function()
    local done = pcall(task.timeout, job.grace_seconds, await_done, j)
    if done or j:is_done() then return true end
    local stuck = j:stuck()
    job.on_abandon(j:name(), stuck)
    j:abandon()
    return false
  end)
end

--- Called with the name and the place of a job that is given up. The host
--- replaces it by a report into the run's events.
---@param name string
---@param stuck? table what, offset, seconds, thread, kernel_stack
function job.on_abandon(name, stuck)
  io.stderr:write(("storlua: gave up on %s: stuck in %s\n"):format(
    name, stuck and stuck.what or "its own work"))
end

return job
