-- SPDX-License-Identifier: MIT
--- What a run has established so far: every result goes through here, into
--- the event log first and then into the bounded sums the verdict needs.

local carry = require("storlua.run.carry")
local event = require("storlua.event")
local loop = require("storlua.core.loop")
local metrics = require("storlua.metrics")
local verdict = require("storlua.verdict")

local recorder = {
  failures_max = 100,
  failed_cases_max = 1000,
  case_ids_max = 10000, -- beyond, a passing check is written each time
  sample_interval_ns = 1000000000,
}

local TOTALS = { "checks", "checks_failed", "measures", "measures_failed", "bytes_written",
                 "bytes_read", "verified_bytes", "bad_sectors", "kernel_errors", "rounds" }

---@class storlua.Recorder
---@field log storlua.EventLog
---@field metrics storlua.Metrics
---@field findings storlua.Findings
---@field totals table<string, integer>
---@field failures table[] the first failed checks and measures
---@field failed_cases table[] case_id, checks_failed, measures_failed, the first message
---@field notes table<string, any>
---@field not_measured table<string, string> metrics that cannot be had here, and why
---@field lost table<string, string> metrics that were not had all the time, and why
---@field lost_others? {reason: string, except: table} all metrics but these are lost
---@field pending table<string, table> what t:sample gave and no event has told, by metric; and
--- `told`, the metric as far as the events tell it
local Recorder = {}
Recorder.__index = Recorder
Recorder.__name = "storlua.Recorder"

---@param log storlua.EventLog
---@return storlua.Recorder
function recorder.new(log)
  local totals = {}
  for _, name in ipairs(TOTALS) do totals[name] = 0 end
  return setmetatable({
    log = log, metrics = metrics.new(), findings = verdict.new_findings(), totals = totals,
    failures = {}, failures_total = 0, failed_cases = {}, notes = {}, passed = {},
    passed_ids = 0, pending = {}, not_measured = {}, lost = {},
    started_ns = loop.now_ns(),
    soaked_before_ns = 0, expected_bad_sectors = 0,
  }, Recorder)
end

function Recorder:elapsed_ns() return loop.now_ns() - self.started_ns end

--- Adds a reason why the run does not pass.
---@param status string as in storlua.verdict
---@param text string
function Recorder:find(status, text) verdict.add(self.findings, status, text) end

--- Counts the failures of a case, of which there may be more than are kept.
---@package
---@param case table case_id, checks_failed, measures_failed, message
function Recorder:add_failed(case)
  local cases = self.failed_cases
  local known = cases[case.case_id]
  if known then
    known.checks_failed = known.checks_failed + case.checks_failed
    known.measures_failed = known.measures_failed + case.measures_failed
  elseif #cases < recorder.failed_cases_max then
    cases[#cases + 1], cases[case.case_id] = case, case
  end
end

---@package
function Recorder:fail(kind, case_id, text, labels)
  self.failures_total = self.failures_total + 1
  if #self.failures < recorder.failures_max then
    self.failures[#self.failures + 1] = {
      kind = kind, case_id = case_id, message = text, labels = labels,
    }
  end
  local is_check = kind == "check"
  self:add_failed { case_id = case_id, message = text, checks_failed = is_check and 1 or 0,
                    measures_failed = is_check and 0 or 1 }
  local round = labels and labels.round
  self:find("failed", ("%s%s: %s"):format(case_id, round and " in round " .. round or "", text))
end

-- Counts what is being written when its place in the log is known: sums that a
-- new file begins with are of the events before it. What cannot be written is
-- counted too.
local function write_counted(self, method, kind, fields, count)
  local is_counted = false
  local function once()
    if is_counted then return end
    is_counted = true
    return count()
  end
  local ok, err = pcall(self.log[method], self.log, kind, fields, once)
  once()
  if not ok then error(err, 0) end
end

---@package
---@return boolean is_new it is to be written
function Recorder:pass(case_id)
  local times = self.passed[case_id]
  if times then
    self.passed[case_id] = times + 1
    return false
  end
  if self.passed_ids < recorder.case_ids_max then
    self.passed_ids = self.passed_ids + 1
    self.passed[case_id] = 1
  end
  return true
end

---@async
---@param case_id string
---@param ok boolean
---@param message string
---@param required? boolean
function Recorder:check(case_id, ok, message, required)
  local totals = self.totals
  if ok and self.passed[case_id] then
    totals.checks = totals.checks + 1
    self:pass(case_id)
    return
  end
  write_counted(self, "write_durable", "check", {
    case_id = case_id, ok = ok, message = message, required = required or false,
  }, function()
    totals.checks = totals.checks + 1
    if ok then return self:pass(case_id) end
    totals.checks_failed = totals.checks_failed + 1
    self:fail("check", case_id, message)
  end)
end

--- Adds to the sums of the run. What the null engine counts was never moved.
---@package
---@param fields table spec, result of a measure
function Recorder:add_result(fields)
  local totals, result = self.totals, fields.result
  if fields.spec and fields.spec.engine == "null" then return end
  local read, write, verify = result.read, result.write, result.verify
  totals.bytes_read = totals.bytes_read + (read and read.bytes or 0)
  totals.bytes_written = totals.bytes_written + (write and write.bytes or 0)
  if verify then
    totals.verified_bytes = totals.verified_bytes + verify.sectors * 512
    totals.bad_sectors = totals.bad_sectors + verify.bad_sectors
  end
end

local function sample_direction(self, prefix, direction)
  if not direction or (direction.operations or 0) == 0 then return end
  local function add(name, value, unit)
    if not value then return end
    self.metrics:sample(prefix .. name, value, unit)
    local pending = self.pending[prefix .. name]
    if pending then pending.told:add(value) end
  end
  add(".mib_s", direction.mib_s, "MiB/s")
  add(".iops", direction.iops, "1/s")
  add(".p99_ns", direction.latency and direction.latency.p99_ns, "ns")
end

--- The metrics that a measure samples by itself.
---@param case_id string
---@param result table
function Recorder:sample_result(case_id, result)
  if result.read and result.write then
    sample_direction(self, case_id .. ".read", result.read)
    sample_direction(self, case_id .. ".write", result.write)
  else
    sample_direction(self, case_id, result.read or result.write or result.trim)
  end
end

---@async
---@param fields table case_id, labels, spec, result, verdict, reason
function Recorder:measure(fields)
  write_counted(self, "write_durable", "measure", {
    case_id = fields.case_id, labels = fields.labels, spec = fields.spec,
    result = fields.result or event.null, verdict = fields.verdict,
    reason = fields.reason or event.null,
  }, function()
    self.totals.measures = self.totals.measures + 1
    if fields.verdict == "fail" then
      self.totals.measures_failed = self.totals.measures_failed + 1
      self:fail("measure", fields.case_id, fields.reason, fields.labels)
    end
    if not fields.result then return end
    self:add_result(fields)
    self:sample_result(fields.case_id, fields.result)
  end)
end

--- A measurement or test of memory: on disk when it returns.
---@async
---@param fields table case_id, labels, spec, result, reason
function Recorder:memory(fields)
  local failed = fields.reason ~= nil
  write_counted(self, "write_durable", "memory", {
    case_id = fields.case_id, labels = fields.labels, spec = fields.spec,
    result = fields.result or event.null, verdict = failed and "fail" or "pass",
    reason = fields.reason or event.null,
  }, function()
    self.totals.measures = self.totals.measures + 1
    if not failed then return end
    self.totals.measures_failed = self.totals.measures_failed + 1
    self:fail("memory", fields.case_id, fields.reason, fields.labels)
  end)
end

---@async
local function write_sample(self, name, now_ns)
  local pending = self.pending[name]
  local m = pending.metric
  pending.metric, pending.at_ns = metrics.new_metric(), now_ns
  local fields = { metric = name, unit = pending.unit or event.null, count = m.count, min = m.min,
                   max = m.max, mean = m.mean, last = m.last }
  self.log:write("sample", fields, function() pending.told:merge(fields) end)
end

local function new_pending(self, name, unit)
  local metric = self.metrics.samples[name]
  return { metric = metrics.new_metric(), unit = unit, at_ns = math.mininteger,
           told = metric and metrics.from_state(metric:state()) or metrics.new_metric(unit) }
end

---@async
---@param name string
---@param value number
---@param unit? string
function Recorder:sample(name, value, unit)
  local pending = self.pending[name] or new_pending(self, name, unit)
  self.metrics:sample(name, value, unit)
  self.pending[name] = pending
  pending.metric:add(value)
  local now_ns = loop.now_ns()
  if pending.at_ns == math.mininteger or now_ns - pending.at_ns >= recorder.sample_interval_ns then
    write_sample(self, name, now_ns)
  end
end

--- Writes what was sampled since the last sample events.
---@async
function Recorder:flush_samples()
  local names = {}
  for name, pending in pairs(self.pending) do
    if pending.metric.count > 0 then names[#names + 1] = name end
  end
  table.sort(names)
  for _, name in ipairs(names) do write_sample(self, name, loop.now_ns()) end
end

---@async
---@param name string
---@param text string
---@param n integer
function Recorder:count(name, text, n)
  local total = self.metrics:count(name, text, 0) + n
  local fields = { metric = name, delta = n, total = total, text = text or event.null }
  write_counted(self, "write", "count", fields, function() self.metrics:count(name, text, n) end)
end

--- Writes a line of the kernel, and counts it when it tells of an error.
---@async
---@param fields table
function Recorder:kernel(fields)
  write_counted(self, "write", "kernel", fields, function()
    if fields.class ~= "error" then return end
    self.totals.kernel_errors = self.totals.kernel_errors + 1
  end)
end

--- The sums so far, for a new part of the log. What was sampled and not yet
--- written is not in them.
---@return table
function Recorder:carried()
  local samples = {}
  for name, metric in pairs(self.metrics.samples) do
    local pending = self.pending[name]
    samples[name] = pending and pending.told or metric
  end
  return carry.of(self, samples)
end

--- Takes over what an earlier part of the run had established.
---@param carried table
function Recorder:adopt(carried) carry.adopt(self, carried) end

--- Why the statistic of a rule cannot be had of the whole run; nil when it can.
---@param rule storlua.Threshold
---@return string|nil
function Recorder:lost_reason(rule) return carry.lost_reason(self, rule) end

return recorder
