-- SPDX-License-Identifier: MIT
--- Runs a procedure: folder, log, the object t, and at the end the verdict.
--- How the run ends is decided by what was recorded, not by whether the
--- script returned.

local ending = require("storlua.run.ending")
local errors = require("storlua.errors")
local failure = require("storlua.failure")
local job = require("storlua.job")
local loop = require("storlua.core.loop")
local opening = require("storlua.run.opening")
local scheduler = require("storlua.scheduler")
local scopes = require("storlua.scope")
local task = require("storlua.task")
local threshold = require("storlua.threshold")

local run = {
  stuck_seconds = 10, -- one system call that lasts longer is an event, at the latest
}

-- Rules with abort = true are judged once a second while the script runs.
local function watch_rules(self)
  local rules = {}
  for _, rule in ipairs(self.rules) do
    if rule.abort then rules[#rules + 1] = rule end
  end
  if not rules[1] then return nil end
  return function()
    local recorder = self.recorder
    for _ in task.every(1) do
      local elapsed_ns = recorder:elapsed_ns()
      for _, rule in ipairs(rules) do
        local judged = threshold.broken(rule, recorder.metrics, elapsed_ns,
          recorder.soaked_before_ns + elapsed_ns)
        if judged then self.t:abort("%s", judged.text) end
      end
    end
  end
end

-- A workload that sits in one system call is told while it does, before it
-- fails the run (job.stuck_seconds); so is what hangs as a job does.
local function watch_active(self)
  local told = setmetatable({}, { __mode = "k" })
  local limit = math.min(run.stuck_seconds, job.stuck_seconds / 3)
  for _ in task.every(limit / 2) do
    for handle, case_id in pairs(self.t.live.active) do
      local stuck = handle:stuck()
      if not stuck or stuck.seconds < limit then
        told[handle] = nil
      elseif not told[handle] then
        told[handle] = true
        io.stderr:write(("storlua: %s has been in %s for %.0f s\n"):format(case_id, stuck.what,
          stuck.seconds))
        self.log:write("stuck", {
          case_id = case_id, job = "workload", what = stuck.what, offset = stuck.offset,
          seconds = stuck.seconds, kernel_stack = stuck.kernel_stack, abandoned = false,
        })
      end
    end
    for handle, name in pairs(job.others) do
      local stuck = handle:stuck()
      if not stuck or stuck.seconds < job.stuck_seconds then
        told[handle] = nil
      elseif not told[handle] then
        told[handle], stuck.job, stuck.abandoned = true, name, false
        job.on_stuck(stuck)
      end
    end
  end
end

-- What run returns is no verdict, but what means a failure everywhere else in
-- Lua is not passed over.
local function check_returned(self, value, message)
  local is_number = type(value) == "number" and value ~= 0
  if value ~= false and not is_number and (value ~= nil or message == nil) then return end
  if self.recorder.failures_total > 0 then return end
  self.recorder:find("failed", ("run returned %s%s: t:check, t:require and t:abort judge a run")
    :format(tostring(value), message ~= nil and ", " .. failure.text(message) or ""))
end

local function body(self, opt)
  opening.start(self)
  local scope <close> = task.scope()
  -- virtual time stands still while a workload runs
  if not loop.is_virtual() then scope:spawn("stuck", watch_active, self) end
  local watch = watch_rules(self)
  if watch then scope:spawn("thresholds", watch) end
  local display = self.reporters:display(self.t.live)
  if display then scope:spawn("display", display) end
  check_returned(self, self.procedure.run(self.t, opt))
  local left = scopes.close_left_open(scheduler.current(), scope)
  if left then self.recorder:find("failed", left) end
end

-- While a run lasts, a job that does not come back is an event of it, and
-- fails it: while it is stuck, and again when it is given up. Not so a call
-- that was only slow when the run was told to stop: a flush may take seconds.
local function report_stuck(self)
  local previous = job.on_stuck
  job.on_stuck = function(info)
    previous(info)
    if self.is_closed then return end -- the reports are written without a log
    local seconds = info.seconds or 0
    local is_stalled = seconds >= job.stuck_seconds or not scheduler.stopped_by
    local why
    if is_stalled and (info.abandoned or seconds < 2 * job.stuck_seconds) then
      why = ("%s is stuck in %s%s"):format(info.job, info.what or "its own work",
        info.abandoned and " and was given up" or "")
      self.recorder:find("failed", why)
    end
    -- called between tasks while it is stuck: a full queue cannot be waited for
    local write = info.abandoned and self.log.write or function(...) pcall(self.log.write, ...) end
    write(self.log, "stuck", {
      job = info.job, what = info.what, offset = info.offset, seconds = info.seconds,
      kernel_stack = info.kernel_stack, abandoned = info.abandoned, failure = why,
    })
  end
  return setmetatable({}, { __close = function() job.on_stuck = previous end })
end

-- The same for a loop that was busy.
local function report_stalls(self)
  local found, host = pcall(require, "storlua.host")
  if not found or not host.on_stall then return nil end
  local previous = host.on_stall
  host.on_stall = function(info)
    previous(info)
    -- called between tasks, where a full queue cannot be waited for
    local fields = { seconds = info.seconds, where = info.where, task = info.task }
    if not pcall(self.log.write, self.log, "stall", fields) then
      self.stalls[#self.stalls + 1] = fields
    end
  end
  return setmetatable({}, { __close = function() host.on_stall = previous end })
end

local function execute(procedure, opt, settings)
  local previous_cleanup, previous_stuck = scheduler.cleanup_seconds, job.stuck_seconds
  local self = opening.open(procedure, opt, settings)
  scheduler.cleanup_seconds = settings.cleanup_seconds or previous_cleanup
  job.stuck_seconds = settings.stuck_seconds or previous_stuck
  self.stalls = {}
  self.cleanups_before = #scheduler.cleanup_failures
  local _ <close> = report_stuck(self)
  local _ <close> = report_stalls(self)
  -- The handler keeps the error's identity: scopes that unwind compare it.
  local ok, err = xpcall(body, failure.capture, self, opt)
  local caught = not ok and { err = err, traceback = failure.traceback(err) } or nil
  local exit_code = scheduler.shield(ending.finish, self, caught)
  scheduler.cleanup_seconds, job.stuck_seconds = previous_cleanup, previous_stuck
  return ending.report(self, exit_code)
end

--- Runs a procedure to its verdict.
---@async
---@param procedure storlua.Procedure
---@param opt table effective options
---@param settings table script, script_path, script_dir, argv, output, reports, quiet, resume,
--- board, board_name, destroy, cleanup_seconds, stuck_seconds, log_limit_bytes, seed; given and
--- options_given: the run options and the options that the command line has, by key
---@return integer exit code
function run.execute(procedure, opt, settings)
  local ok, result = xpcall(execute, failure.capture, procedure, opt, settings)
  if ok then return result end
  -- also a log that --resume cannot read: nothing was touched
  if errors.is(result) and (result.code == "USAGE" or result.code == "BADLOG") then
    io.stderr:write("storlua: ", result.message, "\n")
    return 2
  end
  error(result, 0)
end

return run
