-- SPDX-License-Identifier: MIT
--- What the events of a run add up to, in bounded memory: the ground that the
--- text, JUnit and live reports stand on.

local coverage = require("storlua.report.coverage")
local event = require("storlua.event")

local model = {
  cases_max = 5000,
  kept_max = 20, -- kernel lines, errors and the like
}

--- True for the verdict of a part that touched nothing. Of a resume it changes
--- nothing.
---@param verdict table
---@return boolean
function model.is_refused(verdict)
  return verdict.status == "usage" or verdict.status == "refused"
end

---@class storlua.Case
---@field id string
---@field checks integer
---@field checks_failed integer
---@field measures integer
---@field measures_failed integer
---@field interrupted integer
---@field message? string of the first failure
---@field total_ns integer
---@field read? table sums of one direction
---@field write? table
---@field memory? table the last measurement of memory

---@class storlua.Model
---@field start? table the latest start event
---@field cases storlua.Case[] in order of appearance
---@field rounds integer
---@field verdict? table
---@field coverage storlua.Coverage of the cases and their numbers
---@field failures_unnamed integer whose case is not known: their events were rotated away
local Model = {}
Model.__index = Model
Model.__name = "storlua.Model"

---@return storlua.Model
function model.new()
  return setmetatable({
    cases = {}, by_id = {}, cases_left_out = 0, rounds = 0, thresholds = {}, notes = {},
    kernel = {}, kernel_total = 0, errors = {}, stuck = {}, cleanups = {}, boots = 0,
    resumes = 0, events = 0, measures = 0, truths = {}, coverage = coverage.new(),
    failures_unnamed = 0,
  }, Model)
end

local function case_of(self, id)
  local case = self.by_id[id]
  if case then return case end
  if #self.cases >= model.cases_max then
    self.cases_left_out = self.cases_left_out + 1
    return { checks = 0, checks_failed = 0, measures = 0, measures_failed = 0, interrupted = 0,
             total_ns = 0 }
  end
  case = { id = id, checks = 0, checks_failed = 0, measures = 0, measures_failed = 0,
           interrupted = 0, total_ns = 0 }
  self.by_id[id] = case
  self.cases[#self.cases + 1] = case
  return case
end

local function keep(list, value)
  if #list < model.kept_max then list[#list + 1] = value end
end

local function add_direction(case, name, direction)
  if not direction or (direction.operations or 0) == 0 then return end
  local sum = case[name]
  if not sum then
    sum = { runs = 0, operations = 0, bytes = 0, io_ns = 0 }
    case[name] = sum
  end
  sum.runs = sum.runs + 1
  sum.operations = sum.operations + direction.operations
  sum.bytes = sum.bytes + (direction.bytes or 0)
  sum.io_ns = sum.io_ns + (direction.io_ns or 0)
  local rate = direction.mib_s
  if rate then
    sum.slowest_mib_s = math.min(sum.slowest_mib_s or rate, rate)
    sum.last_mib_s = rate
  end
  local latency = direction.latency or {}
  if latency.p99_ns then sum.p99_ns = math.max(sum.p99_ns or 0, latency.p99_ns) end
  if latency.max_ns then sum.max_ns = math.max(sum.max_ns or 0, latency.max_ns) end
end

-- Logs of versions that carried no cases name some failures.
local function failed_cases_of(carried)
  if carried.failed_cases then return carried.failed_cases end
  local cases = {}
  for _, one in ipairs(carried.failures or {}) do
    local case = cases[one.case_id]
    if not case then
      case = { case_id = one.case_id, checks_failed = 0, measures_failed = 0,
               message = one.message }
      cases[#cases + 1], cases[one.case_id] = case, case
    end
    local name = one.kind == "check" and "checks_failed" or "measures_failed"
    case[name] = case[name] + 1
  end
  return cases
end

-- The sums of all events before a start event: of those that were read too, so
-- only what they say beyond these is new.
local function take_over(self, carried)
  for _, one in ipairs(failed_cases_of(carried)) do
    local case = case_of(self, one.case_id or "?")
    for _, name in ipairs { "checks", "measures" } do
      local failed = name .. "_failed"
      case[failed] = math.max(case[failed], one[failed] or 0)
      case[name] = math.max(case[name], case[failed])
    end
    case.message = case.message or one.message ~= "" and one.message or nil
  end
  for i, id in ipairs(carried.passed or {}) do
    if i > model.cases_max // 2 then break end -- room for what was measured
    local case = case_of(self, id)
    case.checks = math.max(case.checks, case.checks_failed + 1)
  end
  local named = 0
  for _, case in ipairs(self.cases) do
    named = named + case.checks_failed + case.measures_failed
  end
  self.failures_unnamed = math.max(0, (carried.failures_total or 0) - named)
  self.kernel_total = math.max(self.kernel_total, carried.kernel_errors or 0)
  for key, value in pairs(carried.notes or {}) do self.notes[key] = value end
end

local kinds = {}

function kinds.start(self, fields)
  -- what stands if this part is refused; the live display has seen nothing else
  self.before = fields.resumed and self.first
    and { start = self.start, verdict = self.verdict, thresholds = self.thresholds }
  self.start = fields
  self.first = self.first or fields
  if fields.resumed then
    self.resumes = self.resumes + 1
    self.verdict, self.thresholds = nil, {} -- judged anew at the end
    self.round, self.deadline_ns = nil, nil
  end
  if type(fields.carried) == "table" and not self.is_of_part then
    take_over(self, fields.carried)
  end
end

-- How many measures have which note.
local function add_truths(self, notes)
  self.measures = self.measures + 1
  for _, name in ipairs(notes or {}) do
    self.truths[name] = (self.truths[name] or 0) + 1
  end
end

function kinds.measure(self, fields)
  local case = case_of(self, fields.case_id or "?")
  case.measures = case.measures + 1
  if fields.verdict == "interrupted" then case.interrupted = case.interrupted + 1 end
  if fields.verdict == "fail" then
    case.measures_failed = case.measures_failed + 1
    case.message = case.message or fields.reason
  end
  local result = fields.result
  if type(result) ~= "table" then return end
  add_truths(self, result.notes)
  case.total_ns = case.total_ns + (result.total_ns or 0)
  add_direction(case, "read", result.read)
  add_direction(case, "write", result.write)
  add_direction(case, "trim", result.trim)
end

-- A null of an event that was read back is nil, of a live one it is not.
local function known(value)
  if value ~= event.null then return value end
end

-- Only what a table shows is kept of each.
function kinds.memory(self, fields)
  local case = case_of(self, fields.case_id or "?")
  case.measures = case.measures + 1
  if fields.verdict == "fail" then
    case.measures_failed = case.measures_failed + 1
    case.message = case.message or fields.reason
  end
  local result = type(fields.result) == "table" and fields.result or {}
  local value = known(result.mb_s) or known(result.ns)
  -- a pass that was cut before it had a figure does not hide the last one
  if case.memory and not value then return end
  case.memory = {
    value = value, unit = result.mb_s and "MB/s" or result.ns and "ns",
    best = result.best_mb_s or result.best_ns, spread_percent = result.spread_percent,
    iqr_percent = result.iqr_percent, level = result.level, kernel = result.kernel,
    errors = result.errors_total,
  }
end

function kinds.check(self, fields)
  local case = case_of(self, fields.case_id or "?")
  case.checks = case.checks + 1
  if not fields.ok then
    case.checks_failed = case.checks_failed + 1
    case.message = case.message or (fields.message ~= "" and fields.message or "check failed")
  end
end

function kinds.round(self, fields)
  self.round = fields.round
  if fields.phase == "end" then self.rounds = self.rounds + 1 end
  self.deadline_ns = known(fields.deadline_ns)
end

function kinds.kernel(self, fields)
  if fields.class ~= "error" then return end
  self.kernel_total = self.kernel_total + 1
  keep(self.kernel, fields)
end

function kinds.threshold(self, fields)
  self.thresholds[#self.thresholds + 1] = {
    text = fields.text, metric = fields.metric, statistic = fields.statistic,
    value = known(fields.value), ok = known(fields.ok),
  }
end
function kinds.note(self, fields) self.notes[fields.key or "?"] = fields.value end
function kinds.error(self, fields) keep(self.errors, fields) end
function kinds.stuck(self, fields) keep(self.stuck, fields) end
function kinds.cleanup(self, fields) keep(self.cleanups, fields) end

function kinds.verdict(self, fields)
  self.verdict = fields
  local before = model.is_refused(fields) and self.before
  if not before then return end
  self.start, self.verdict, self.thresholds = before.start, before.verdict, before.thresholds
end

local function fold(self, fields)
  self.events = self.events + 1
  if fields.boot_id and fields.boot_id ~= self.boot_id then
    self.boots, self.boot_id = self.boots + 1, fields.boot_id
  end
  self.first_ns = self.first_ns or fields.t_boot_ns
  self.last = fields
  if not self.is_of_part then self.coverage:add(fields) end
  local add = kinds[fields.kind]
  if add then add(self, fields) end
end

--- Takes one event.
---@param fields table
function Model:add(fields)
  fold(self, fields)
  if self.part then fold(self.part, fields) end
end

--- Takes one event of the parts before a resume that goes on now.
---@param fields table
function Model:add_earlier(fields)
  if not self.part then
    self.part = model.new()
    self.part.is_of_part = true
  end
  fold(self, fields)
end

--- What is to be told at the end of a run: all of it, or of a resume that was
--- refused only why.
---@return storlua.Model
function Model:told()
  local verdict = self.part and self.part.verdict
  return verdict and model.is_refused(verdict) and self.part or self
end

--- Text for a run without a verdict.
---@param state table of storlua.report.reader
---@return string
function model.incomplete_text(state)
  if state.bytes == 0 then
    return "incomplete: events.jsonl is empty, the run ended before its first event was on disk"
  end
  local pid = state.directory and require("storlua.report.holder").of(state.directory)
  if pid then return ("incomplete: still running (process %d)"):format(pid) end
  return "incomplete: no verdict (crashed or still running)"
end

return model
