-- SPDX-License-Identifier: MIT
--- What a new file of the log begins with when the log is rotated: the sums of
--- a run so far, small enough to leave most of the file to the events. What has
--- no room is named as lost or counted, so that nothing passes without it.

local event = require("storlua.event")
local format = require("storlua.report.format")

local carry = {
  text_characters = 1000, -- of a message
  case_characters = 200, -- of the message of a case
}

-- Shares of the log's limit, of which a file has half.
local METRICS_SHARE, CASES_SHARE, PASSED_SHARE = 8, 16, 16
-- Bytes of JSON, about: numbers with a comma, a metric without its percentiles.
local VALUE_BYTES, BUCKET_BYTES, METRIC_BYTES = 20, 12, 180

local LOST = "what was sampled before the log was rotated had no room in it"
local LOST_PERCENTILES = "percentiles of what was sampled before the log was rotated are lost"
local LOST_BY_OLDER = "what was sampled before the resume is lost: the log was rotated by an older "
  .. "storlua"

local function clipped(text, characters)
  return format.clip(event.clean(tostring(text)), characters)
end

local function size_of(state)
  return METRIC_BYTES + #(state.values or {}) * VALUE_BYTES
    + #(state.histogram or {}) // 2 * BUCKET_BYTES
end

-- The state with as much of its percentiles as fits; nil when nothing does.
local function fit(state, metric, room)
  if size_of(state) > room and state.values then
    state.values, state.histogram = nil, metric:histogram()
  end
  if size_of(state) > room then state.histogram = nil end
  return size_of(state) <= room and state or nil
end

-- Small ones first: what they leave is shared by the others.
local function add_metrics(carried, samples, room)
  local list = {}
  for name, metric in pairs(samples) do
    local state = metric:state()
    if state.count > 0 then
      list[#list + 1] = { name = name, state = state, size = size_of(state) }
    end
  end
  table.sort(list, function(a, b)
    if a.size ~= b.size then return a.size < b.size end
    return a.name < b.name
  end)
  for i, one in ipairs(list) do
    local share = room // (#list - i + 1) - #one.name
    local state = fit(one.state, samples[one.name], share)
    carried.metrics[one.name] = state
    if state then
      room = room - size_of(state) - #one.name
    else
      carried.metrics_left_out = carried.metrics_left_out + 1
    end
  end
end

-- What was lost already stays so, also where more was sampled since.
local function add_lost(carried, recorder)
  for name, text in pairs(recorder.lost) do carried.lost[name] = text end
  local others = recorder.lost_others
  if not others then return end
  carried.metrics_left_out = carried.metrics_left_out + 1
  for name in pairs(recorder.metrics.samples) do
    if not others.except[name] then carried.lost[name] = others.reason end
  end
end

local function add_cases(carried, cases, room)
  for _, case in ipairs(cases) do
    local message = clipped(case.message, carry.case_characters)
    room = room - #message - #case.case_id - 100
    if room < 0 then break end
    carried.failed_cases[#carried.failed_cases + 1] = {
      case_id = case.case_id, checks_failed = case.checks_failed,
      measures_failed = case.measures_failed, message = message,
    }
  end
end

local function add_passed(carried, passed, room)
  local ids = {}
  for id in pairs(passed) do ids[#ids + 1] = id end
  table.sort(ids)
  for _, id in ipairs(ids) do
    room = room - #id - 3
    if room < 0 then break end
    carried.passed[#carried.passed + 1] = id
  end
end

--- The sums of a run so far.
---@param recorder storlua.Recorder
---@param samples table<string, storlua.Metric> as far as the events before tell them
---@return table
function carry.of(recorder, samples)
  local carried = {
    failures = event.list {}, failures_total = recorder.failures_total,
    reasons = event.list {}, failed_cases = event.list {}, passed = event.list {},
    notes = event.object(recorder.notes), counters = event.object {},
    metrics = event.object {}, metrics_left_out = 0, lost = event.object {},
  }
  for name, value in pairs(recorder.totals) do carried[name] = value end
  for i, failure in ipairs(recorder.failures) do
    carried.failures[i] = { kind = failure.kind, case_id = failure.case_id,
                            message = clipped(failure.message, carry.text_characters),
                            labels = failure.labels }
  end
  for i, text in ipairs(recorder.findings.failed) do
    carried.reasons[i] = clipped(text, carry.text_characters)
  end
  for name, counter in pairs(recorder.metrics.counters) do
    carried.counters[name] = counter.total
  end
  local limit = recorder.log.limit_bytes
  add_metrics(carried, samples, limit // METRICS_SHARE)
  add_lost(carried, recorder)
  add_cases(carried, recorder.failed_cases, limit // CASES_SHARE)
  add_passed(carried, recorder.passed, limit // PASSED_SHARE)
  return carried
end

local function adopt_metrics(recorder, carried)
  local known = {}
  for name, total in pairs(carried.counters or {}) do
    known[name] = true
    recorder.metrics:count(name, nil, total)
  end
  for name, state in pairs(carried.metrics or {}) do
    known[name] = true
    recorder.metrics:adopt(name, state)
  end
  for name, text in pairs(carried.lost or {}) do recorder.lost[name] = text end
  if carried.metrics_left_out ~= 0 then
    recorder.lost_others = { except = known, reason = carried.metrics and LOST or LOST_BY_OLDER }
  end
end

--- Takes over what an earlier part of the run had established.
---@param recorder storlua.Recorder
---@param carried table of carry.of
function carry.adopt(recorder, carried)
  for name in pairs(recorder.totals) do
    recorder.totals[name] = carried[name] or recorder.totals[name]
  end
  for _, failure in ipairs(carried.failures or {}) do
    recorder.failures[#recorder.failures + 1] = failure
  end
  for _, case in ipairs(carried.failed_cases or {}) do recorder:add_failed(case) end
  for _, id in ipairs(carried.passed or {}) do recorder:pass(id) end
  for _, text in ipairs(carried.reasons or {}) do recorder:find("failed", text) end
  recorder.failures_total = carried.failures_total or 0
  for key, value in pairs(carried.notes or {}) do recorder.notes[key] = value end
  adopt_metrics(recorder, carried)
end

--- Why the statistic of a rule cannot be had of the whole run; nil when it can.
---@param recorder storlua.Recorder
---@param rule storlua.Threshold
---@return string|nil
function carry.lost_reason(recorder, rule)
  local name, others = rule.metric, recorder.lost_others
  if recorder.lost[name] then return recorder.lost[name] end
  if others and not others.except[name] then return others.reason end
  local metric = recorder.metrics.samples[name]
  if metric and metric.has_no_percentiles and not metric:statistic(rule.statistic) then
    return LOST_PERCENTILES
  end
end

return carry
