-- SPDX-License-Identifier: MIT
--- The object `t` that a procedure's run gets: what it may record, and how it
--- ends early.

local arguments = require("storlua.run.arguments")
local errors = require("storlua.errors")
local judge = require("storlua.run.judge")
local rounds = require("storlua.run.rounds")
local scheduler = require("storlua.scheduler")
local scratch = require("storlua.run.scratch")

local object = {}

local check_case_id, check_metric = arguments.check_case_id, arguments.check_metric
local text_of = arguments.text_of

local NOT_OURS = arguments.not_ours

---@class storlua.Run
---@field dir string folder of the script
---@field run_dir string folder of the results
---@field seed integer
---@field run_id integer
---@field board? table
---@field destroy string[] units that the user agreed to overwrite, for storlua.gate
---@field resume? storlua.Resume
---@field start table fields of the start event
---@field package recorder storlua.Recorder
---@field package live table what goes on now: phase, done_bytes, total_bytes, and `active`, the
--- handles of running workloads with their case ids
---@field package workload table storlua.workload
---@field package promised table<string, boolean> files that a ledger speaks of
---@field package judge_by_board? fun(spec: table, result: table, earlier?: table, options?: table)
local Run = {}
Run.__index = Run
Run.__name = "storlua.Run"

---@param fields table
---@return storlua.Run
function object.new(fields)
  fields.open_files, fields.endings, fields.live = {}, {}, { active = {} }
  fields.listeners, fields.promised = {}, {}
  return setmetatable(fields, Run)
end

-- Ends the run now. What ends it is recorded, so a script that catches the
-- error does not get around it.
local function finish(self, status, code, text)
  local err = errors.new { code = code, message = text }
  if status then self.recorder:find(status, text) end
  self.endings[err], err.is_found = true, true
  error(err, 0)
end

local function is_cancelled() return scheduler.current().cancels[1] ~= nil end

-- Runs the workload with its handle in view of the live display. A workload
-- that a cancel cut off still gives what it did until then.
local function run_workload(self, case_id, spec)
  local handle <close> = self.workload.start(spec, nil, true)
  self.live.active[handle] = case_id
  local ok, result = pcall(handle.wait, handle)
  self.live.active[handle] = nil
  if ok then return result end
  local failure = result
  if errors.is(failure) and handle:is_done() and is_cancelled() then
    ok, result = pcall(scheduler.shield, handle.wait, handle)
    if ok then return result, failure end
  end
  error(failure, 0)
end

-- It could not start: a failed measurement, not a broken script.
local function not_started(self, fields, failure)
  if not errors.is(failure) or NOT_OURS[failure.code] or is_cancelled() then
    error(failure, 0)
  end
  fields.verdict, fields.reason = "fail", failure.message
  self.recorder:measure(fields)
  self.endings[failure] = true
  error(failure, 0)
end

--- Runs a workload and records what it did. Fails the run on any I/O or
--- verification error, on an early end, and when nothing was measured.
---@async
---@param case_id string
---@param spec table see docs/events.md
---@param options? {expect_errors?: boolean, expect_end?: string, labels?: table,
--- no_limits?: boolean, on_result?: fun(result: table)} no_limits: the board's do not judge it;
--- on_result is called also for a measure that was cut off, which does not return
---@return table result
function Run:measure(case_id, spec, options)
  check_case_id("measure", case_id)
  if type(spec) ~= "table" then error("t:measure: the second argument is a workload", 2) end
  options = arguments.fields("measure", options)
  local full = self.workload.complete(spec)
  local fields = { case_id = case_id, labels = options.labels, spec = full }
  local ok, result, cut_off = pcall(run_workload, self, case_id, full)
  if not ok then not_started(self, fields, result) end
  fields.result = result
  fields.verdict, fields.reason = judge.result(result, full, options)
  if cut_off then
    if result["end"] == "cancelled" and not judge.has_errors(result) then
      fields.verdict, fields.reason = "interrupted", nil
    end
    scheduler.shield(self.recorder.measure, self.recorder, fields)
    if options.on_result then scheduler.shield(options.on_result, result) end
    error(cut_off, 0)
  end
  self.recorder:measure(fields)
  if options.on_result then options.on_result(result) end
  if self.judge_by_board then self.judge_by_board(full, result, nil, options) end
  for listener in pairs(self.listeners) do listener(case_id, full, result) end
  return result
end

--- Records a measurement or a test of memory, which is no workload. It counts
--- as a measure; with a reason it fails the run.
---@async
---@param case_id string
---@param fields {spec: table, result: table, reason?: string, labels?: table}
function Run:memory(case_id, fields)
  check_case_id("memory", case_id)
  arguments.fields("memory", fields)
  self.recorder:memory { case_id = case_id, spec = fields.spec, result = fields.result,
                         reason = fields.reason, labels = fields.labels }
end

--- Has `fn(case_id, spec, result)` called after each measure that was not cut
--- off, by the task that measured.
---@param fn function
---@return fun() stop
function Run:on_measure(fn)
  self.listeners[fn] = true
  return function() self.listeners[fn] = nil end
end

--- Records a check; a failed one fails the run at its end.
---@async
---@param case_id string
---@param ok boolean|nil
---@param format? string
---@return boolean ok
function Run:check(case_id, ok, format, ...)
  check_case_id("check", case_id)
  ok = arguments.judged("check", ok)
  self.recorder:check(case_id, ok, text_of("check", format, ...), false)
  return ok
end

--- Records a check; a failed one ends the run now.
---@async
---@param case_id string
---@param ok boolean|nil
---@param format? string
function Run:require(case_id, ok, format, ...)
  check_case_id("require", case_id)
  local text = text_of("require", format, ...)
  ok = arguments.judged("require", ok)
  self.recorder:check(case_id, ok, text, true)
  if not ok then finish(self, nil, "ABORTED", text ~= "" and text or case_id) end
end

--- Ends the run as failed.
---@param format string
function Run:abort(format, ...)
  finish(self, "failed", "ABORTED", text_of("abort", format, ...))
end

--- Ends the run as not applicable here.
---@param format string
function Run:skip(format, ...)
  finish(self, "skipped", "SKIPPED", text_of("skip", format, ...))
end

--- A number for thresholds and the summary, in bounded memory.
---@async
---@param metric string
---@param value number
---@param unit? string
function Run:sample(metric, value, unit)
  check_metric("sample", metric)
  if type(value) ~= "number" or value ~= value or value == math.huge or value == -math.huge then
    error(("t:sample: the value of %s is %s, not a finite number"):format(metric,
      tostring(value)), 2)
  end
  self.recorder:sample(metric, value, unit)
end

--- Counts an occurrence.
---@async
---@param metric string
---@param text? string the last one is kept
---@param n? integer
function Run:count(metric, text, n)
  check_metric("count", metric)
  n = n == nil and 1 or math.tointeger(n)
  if not n or n < 0 then error("t:count: the number is an integer of 0 or more", 2) end
  self.recorder:count(metric, text, n)
end

--- Says that a metric cannot be had here. Without any data its thresholds are
--- then "not judged", which neither passes nor fails.
---@param metric string
---@param reason string
function Run:not_measured(metric, reason)
  check_metric("not_measured", metric)
  if type(reason) ~= "string" then error("t:not_measured: the reason is a text", 2) end
  self.recorder.not_measured[metric] = reason
end

--- Says that a metric can be had here, but was not all the time: thresholds
--- about it fail.
---@async
---@param metric string
---@param reason string
function Run:lost(metric, reason)
  check_metric("lost", metric)
  if type(reason) ~= "string" then error("t:lost: the reason is a text", 2) end
  if self.recorder.lost[metric] == reason then return end
  self.recorder.lost[metric] = reason
  self.recorder.log:write("lost", { metric = metric, reason = reason })
end

--- Puts something into the summary.
---@async
---@param key string
---@param value any text, number, boolean or table of these
function Run:note(key, value)
  if type(key) ~= "string" or key == "" or not utf8.len(key) then
    error("t:note: the key is a text", 2)
  end
  self.recorder.log:write("note", { key = key, value = value })
  self.recorder.notes[key] = value
end

--- Iterates over rounds until the time or the number is used up. The second
--- value of each turn knows the time that is left (storlua.Round).
---@async
---@param limits {seconds?: number, count?: integer, pause?: number}
---@return fun(): integer|nil, storlua.Round|nil
function Run:rounds(limits)
  arguments.fields("rounds", limits)
  return rounds.iterate(self.recorder, limits, self.resume)
end

--- How much has gone wrong so far: failed checks and measures, and kernel
--- errors.
---@return integer
function Run:problems()
  return self.recorder.failures_total + self.recorder.totals.kernel_errors
end

--- The round that goes on; nil before the first.
---@return integer|nil
function Run:current_round() return self.recorder.round end

--- What the workloads of the run have written so far, also before a resume.
---@return integer
function Run:written_bytes() return self.recorder.totals.bytes_written end

--- What the live display shows.
---@param name string
---@param done? integer bytes
---@param total? integer bytes
function Run:phase(name, done, total)
  local live = self.live
  live.phase, live.done_bytes, live.total_bytes = name, done, total
end

--- Claims a file for the run: it is created, or taken over from a run of ours
--- that did not end. To-be-closed: removed at the end unless file:keep(reason).
---@param path string its name begins with "storlua."
---@param options? {any_name?: boolean} any_name: the user chose the name
---@return storlua.ScratchFile
function Run:scratch_file(path, options)
  local file = scratch.claim(path, self.resume ~= nil, self.open_files,
    arguments.fields("scratch_file", options).any_name)
  -- What a ledger promises of the file ends with it.
  function file.on_remove()
    if self.promised[path] then pcall(self.event, self, "removed", { path = path }) end
  end
  return file
end

--- Writes an event: kernel, stuck, stall, writing, flushed, removed or a kind
--- of your own (x_…).
---@async
---@param kind string
---@param fields table
function Run:event(kind, fields)
  local durable = arguments.check_event(kind, fields)
  if kind == "kernel" then return self.recorder:kernel(fields) end
  if kind == "writing" then self.promised[fields.target] = true end
  local log = self.recorder.log
  if durable then log:write_durable(kind, fields) else log:write(kind, fields) end
end

return object
