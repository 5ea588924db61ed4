-- SPDX-License-Identifier: MIT
--- What a run has established so far: every result goes through here, into
--- the event log first and then into the bounded sums the verdict needs.

local event = require("storlua.event")
local loop = require("storlua.core.loop")
local metrics = require("storlua.metrics")
local verdict = require("storlua.verdict")

local recorder = {
  failures_max = 100,
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
---@field notes table<string, any>
---@field not_measured table<string, string> metrics that cannot be had here, and why
---@field lost table<string, string> metrics that were not had all the time, and why
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
    failures = {}, failures_total = 0, notes = {}, passed = {}, passed_ids = 0, pending = {},
    not_measured = {}, lost = {}, started_ns = loop.now_ns(),
    soaked_before_ns = 0, expected_bad_sectors = 0,
  }, Recorder)
end

function Recorder:elapsed_ns() return loop.now_ns() - self.started_ns end

--- Adds a reason why the run does not pass.
---@param status string as in storlua.verdict
---@param text string
function Recorder:find(status, text) verdict.add(self.findings, status, text) end

---@package
function Recorder:fail(kind, case_id, text, labels)
  self.failures_total = self.failures_total + 1
  if #self.failures < recorder.failures_max then
    self.failures[#self.failures + 1] = {
      kind = kind, case_id = case_id, message = text, labels = labels,
    }
  end
  local round = labels and labels.round
  self:find("failed", ("%s%s: %s"):format(case_id, round and " in round " .. round or "", text))
end

---@async
---@param case_id string
---@param ok boolean
---@param message string
---@param required? boolean
function Recorder:check(case_id, ok, message, required)
  self.totals.checks = self.totals.checks + 1
  if ok then
    local times = self.passed[case_id]
    if times then
      self.passed[case_id] = times + 1
      return
    end
    if self.passed_ids < recorder.case_ids_max then
      self.passed_ids = self.passed_ids + 1
      self.passed[case_id] = 1
    end
  else
    self.totals.checks_failed = self.totals.checks_failed + 1
    self:fail("check", case_id, message)
  end
  self.log:write_durable("check", {
    case_id = case_id, ok = ok, message = message, required = required or false,
  })
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
  local latency = direction.latency
  if direction.mib_s then self.metrics:sample(prefix .. ".mib_s", direction.mib_s, "MiB/s") end
  if direction.iops then self.metrics:sample(prefix .. ".iops", direction.iops, "1/s") end
  if latency and latency.p99_ns then
    self.metrics:sample(prefix .. ".p99_ns", latency.p99_ns, "ns")
  end
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
  self.totals.measures = self.totals.measures + 1
  if fields.result then
    self:add_result(fields)
    self:sample_result(fields.case_id, fields.result)
  end
  if fields.verdict == "fail" then
    self.totals.measures_failed = self.totals.measures_failed + 1
    self:fail("measure", fields.case_id, fields.reason, fields.labels)
  end
  self.log:write_durable("measure", {
    case_id = fields.case_id, labels = fields.labels, spec = fields.spec,
    result = fields.result or event.null, verdict = fields.verdict,
    reason = fields.reason or event.null,
  })
end

--- A measurement or test of memory: on disk when it returns.
---@async
---@param fields table case_id, labels, spec, result, reason
function Recorder:memory(fields)
  self.totals.measures = self.totals.measures + 1
  local failed = fields.reason ~= nil
  if failed then
    self.totals.measures_failed = self.totals.measures_failed + 1
    self:fail("memory", fields.case_id, fields.reason, fields.labels)
  end
  self.log:write_durable("memory", {
    case_id = fields.case_id, labels = fields.labels, spec = fields.spec,
    result = fields.result or event.null, verdict = failed and "fail" or "pass",
    reason = fields.reason or event.null,
  })
end

---@async
local function write_sample(self, name, now_ns)
  local pending = self.pending[name]
  local m = pending.metric
  pending.metric, pending.at_ns = metrics.new_metric(), now_ns
  self.log:write("sample", { metric = name, unit = pending.unit, count = m.count, min = m.min,
                             max = m.max, mean = m.mean, last = m.last })
end

---@async
---@param name string
---@param value number
---@param unit? string
function Recorder:sample(name, value, unit)
  self.metrics:sample(name, value, unit)
  local now_ns = loop.now_ns()
  local pending = self.pending[name]
  if not pending then
    pending = { metric = metrics.new_metric(), unit = unit or event.null, at_ns = math.mininteger }
    self.pending[name] = pending
  end
  pending.metric:add(value)
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
  local total = self.metrics:count(name, text, n)
  self.log:write("count", { metric = name, delta = n, total = total, text = text or event.null })
end

--- The sums so far, for a new part of the log and for the verdict.
---@return table
function Recorder:carried()
  local carried = { failures = event.list(self.failures), failures_total = self.failures_total,
                    notes = event.object(self.notes), counters = event.object {},
                    reasons = event.list(self.findings.failed) }
  for name, value in pairs(self.totals) do carried[name] = value end
  for name, counter in pairs(self.metrics.counters) do carried.counters[name] = counter.total end
  return carried
end

--- Takes over what an earlier part of the run had established.
---@param carried table
function Recorder:adopt(carried)
  for name in pairs(self.totals) do
    self.totals[name] = carried[name] or self.totals[name]
  end
  for _, failure in ipairs(carried.failures or {}) do
    self.failures[#self.failures + 1] = failure
  end
  for _, text in ipairs(carried.reasons or {}) do self:find("failed", text) end
  self.failures_total = carried.failures_total or 0
  for key, value in pairs(carried.notes or {}) do self.notes[key] = value end
  for name, total in pairs(carried.counters or {}) do self.metrics:count(name, nil, total) end
end

return recorder
