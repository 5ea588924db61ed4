-- SPDX-License-Identifier: MIT
--- The end of a run: what the script raised, thresholds, the verdict, the
--- summary, the reports. Runs shielded; nothing here may lose a result.

local errors = require("storlua.errors")
local event = require("storlua.event")
local event_log = require("storlua.event_log")
local failure = require("storlua.failure")
local scheduler = require("storlua.scheduler")
local threshold = require("storlua.threshold")
local verdict = require("storlua.verdict")

local ending = {}

local STATUS_OF_CODE = { REFUSED = "refused", USAGE = "usage", EVENT_LOG = "failed" }
local STOPS = { SIGNAL = true, CANCELLED = true }

-- Writes an event at the end: a log that fails here fails the run, not us.
local function write(self, kind, fields)
  local ok, err = pcall(self.log.write, self.log, kind, fields)
  if not ok then self.recorder:find("failed", tostring(err)) end
end

local function classify(self, caught, exit_code)
  local err = caught.err
  local code = errors.is(err) and err.code
  if self.t.endings[err] then return end
  if scheduler.stopped_by and (STOPS[code] or code == "NO_READER") then return end
  if code == "EXIT" then
    -- whatever its code: what run had still to do was not done
    self.recorder:find("failed", ("incomplete: the script called os.exit(%d) before run had "
      .. "returned"):format(exit_code))
  elseif code == "NO_READER" then
    self.recorder:find("failed", err.message)
  elseif STATUS_OF_CODE[code] then
    -- the failure of the log is found in any case
    if code ~= "EVENT_LOG" then self.recorder:find(STATUS_OF_CODE[code], err.message) end
  else
    local message = failure.text(err)
    self.recorder:find("raised", message)
    io.stderr:write("storlua: ", message, "\n", caught.traceback or "", "\n")
    write(self, "error", { message = message, traceback = caught.traceback,
                           code = code or event.null })
  end
end

-- Files that the script claimed and did not close.
local function release_scratch(self)
  local left = {}
  for file in pairs(self.t.open_files) do left[#left + 1] = file end
  for _, file in ipairs(left) do
    local ok, err = pcall(file.release, file)
    if not ok then scheduler.cleanup_failures[#scheduler.cleanup_failures + 1] =
      { task = "scratch file " .. file.path, error = err }
    end
  end
end

local function report_cleanups(self)
  for i = self.cleanups_before + 1, #scheduler.cleanup_failures do
    local one = scheduler.cleanup_failures[i]
    one.reported = true
    local text = ("clean-up failed in task %s: %s"):format(one.task or "?",
      failure.text(one.error))
    io.stderr:write("storlua: ", text, "\n")
    self.recorder:find("cleanup_failed", text)
    write(self, "cleanup", { task = one.task, message = failure.text(one.error) })
  end
end

local function judge_threshold(recorder, rule)
  local reason, lost = recorder.not_measured[rule.metric], recorder:lost_reason(rule)
  if reason and not lost and not recorder.metrics:has(rule.metric) then
    return threshold.not_judged(rule, reason)
  end
  local whole_ns = recorder.soaked_before_ns + recorder:elapsed_ns()
  local judged = threshold.judge(rule, recorder.metrics, whole_ns)
  if lost then judged.ok, judged.text = false, judged.text .. ": " .. lost end
  return judged
end

local function judge_thresholds(self)
  local judged, findings = event.list {}, self.recorder.findings
  -- nothing has happened that could be judged
  if findings.usage[1] or findings.refused[1] then return judged end
  for i, rule in ipairs(self.rules) do
    local one = judge_threshold(self.recorder, rule)
    judged[i] = one
    -- a run that was stopped is not blamed for what it did not come to
    local excused = scheduler.stopped_by and one.value == event.null
    if one.ok == false and not excused then
      self.recorder:find("failed", "threshold " .. one.text)
    end
    write(self, "threshold", one)
  end
  return judged
end

local function has_judged_a_rule(self)
  for _, rule in ipairs(self.rules) do
    if self.recorder.metrics:has(rule.metric) then return true end
  end
  return false
end

-- A run that looked at nothing did not pass; neither is a counter that nobody
-- counted a look at anything.
local function require_substance(self)
  local totals, findings = self.recorder.totals, self.recorder.findings
  if totals.checks + totals.measures > 0 or has_judged_a_rule(self)
    or self.procedure.informational then
    return
  end
  if findings.skipped[1] or findings.usage[1] or findings.refused[1] or findings.raised[1]
    or scheduler.stopped_by then
    return
  end
  self.recorder:find("failed", "nothing was checked")
end

local function log_failures(self)
  local log, recorder = self.log, self.recorder
  if log.failure and not self.log_failure_found then
    self.log_failure_found = true
    recorder:find("failed", log.failure.message)
  end
  if log.was_stuck and not self.log_stuck_written then
    self.log_stuck_written = true
    write(self, "stuck", { job = "event log", what = event.null, seconds = log.was_stuck,
                           abandoned = false })
  end
end

local function verdict_fields(self)
  local recorder = self.recorder
  recorder.findings.signal = scheduler.stopped_by
  local fields = verdict.decide(recorder.findings)
  fields.reasons = event.list(fields.reasons)
  for name, value in pairs(recorder.totals) do fields[name] = value end
  fields.elapsed_ns = recorder:elapsed_ns()
  fields.soaked_ns = recorder.soaked_before_ns + fields.elapsed_ns
  return fields
end

local function summary_text(self, fields, judged)
  local recorder, start = self.recorder, self.start
  local all = {}
  for key, value in pairs(fields) do all[key] = value end
  all.v, all.kind = 1, "summary"
  all.start = { script = start.script, version = start.version, options = start.options,
                board = start.board, conditions = start.conditions, seed = start.seed,
                run_id = start.run_id, resumed = start.resumed }
  all.thresholds = judged
  all.notes = event.object(recorder.notes)
  all.failures = event.list(recorder.failures)
  all.failures_total = recorder.failures_total
  all.metrics = event.object(recorder.metrics:summary())
  return event.encode(all) .. "\n"
end

-- Verdict and summary on disk; says on stderr what could not be written.
local function write_verdict(self, fields, judged)
  local on_disk, message = self.log:write_last("verdict", fields)
  if not on_disk then
    io.stderr:write("storlua: the verdict could not be written: ", message, "\n")
  end
  local text
  on_disk, text = pcall(summary_text, self, fields, judged)
  message = text
  if on_disk then
    on_disk, message = self.log:replace_file(self.folder.path .. "/summary.json", text)
  end
  if not on_disk then io.stderr:write("storlua: no summary: ", tostring(message), "\n") end
  self.is_answered = self.log:close()
  if not self.is_answered then
    io.stderr:write("storlua: the event log does not answer and was given up\n")
  end
  return on_disk and self.is_answered
end

-- Bad input that was found only now: nothing was touched, and nothing is left
-- of the run.
local function came_to_nothing(self, fields)
  return fields.status == "usage" and not self.t.resume
    and fields.checks + fields.measures == 0
end

--- Ends a run, up to its reports.
---@async
---@param self table of storlua.run.opening
---@param caught table|nil {err, traceback} what the script raised
---@return integer exit code
function ending.finish(self, caught)
  -- The verdict has the last word, also over os.exit.
  local exit_code = scheduler.exit_code
  scheduler.exit_code = nil
  if caught then
    classify(self, caught, exit_code)
  elseif (exit_code or 0) ~= 0 then
    self.recorder:find("failed", ("the script called os.exit(%d)"):format(exit_code))
  end
  if scheduler.callback_error then
    self.recorder:find("raised", "in a callback: " .. failure.text(scheduler.callback_error))
  end
  for _, fields in ipairs(self.stalls) do write(self, "stall", fields) end
  release_scratch(self)
  report_cleanups(self)
  pcall(self.recorder.flush_samples, self.recorder)
  local judged = judge_thresholds(self)
  require_substance(self)
  self.reporters:failures(self.recorder)
  log_failures(self)
  local fields = verdict_fields(self)
  local written = write_verdict(self, fields, judged)
  self.is_closed, self.is_discarded = true, came_to_nothing(self, fields)
  local closed, message = self.folder:close(self.is_discarded, not self.is_answered)
  if not closed then io.stderr:write("storlua: ", message, "\n") end
  if written and not self.log.failure then return fields.exit_code end
  return fields.exit_code == 0 and 1 or fields.exit_code
end

--- The last words on stdout and the report files. A run that was stopped
--- writes them too, for a while.
---@async
---@param self table
---@param exit_code integer of ending.finish
---@return integer exit code
function ending.report(self, exit_code)
  local function close() return self.reporters:close(self) end
  local reported
  if scheduler.current().cancels[1] then
    reported = scheduler.shield_for(event_log.last_word_seconds, close)
  else
    reported = close()
  end
  return reported and exit_code or exit_code == 0 and 1 or exit_code
end

return ending
