-- SPDX-License-Identifier: MIT
--- What an earlier part of a run left behind, read from its events.

local errors = require("storlua.errors")
local event = require("storlua.event")
local loop = require("storlua.core.loop")
local metrics = require("storlua.metrics")
local model = require("storlua.report.model")
local reader = require("storlua.report.reader")

local resume = {
  flushed_max = 64, -- ranges that are remembered for each target
}

---@class storlua.Pass
---@field target any as it was written
---@field generation integer
---@field range_offset integer
---@field range_bytes integer

---@class storlua.Resume
---@field soaked_ns integer time of all earlier parts
---@field rebooted boolean the machine was started anew since
---@field interrupted boolean it was stopped by a signal
---@field rounds integer begun before, the last one perhaps not ended
---@field writing table<any, storlua.Pass[]> by target: passes that began and whose flush is not
--- known to have returned, oldest first
---@field flushed table<any, storlua.Pass[]> by target: passes that are on the medium, oldest
--- first; those a later one covers are left out
---@field newest table<any, integer> by target: the highest generation that was begun
---@field sizes table<any, integer> by target: where its passes ended, in bytes
---@field removed table<any, boolean> targets that the run itself removed; of them nothing is in
--- `writing` and `flushed`
---@field given table<string, any> options of this command line
---@field cwd? string where the earlier part was started
---@field settings table of the earlier part
---@field memory table<string, table> by case id: what tests of memory have verified, as one
--- result of all: verified_bytes, passes, patterns
---@field torn_bytes integer of the last line
---@field options table effective options of the run
---@field seed integer
---@field run_id integer
---@field conditions? table of the earlier part

local function covers(outer, inner)
  return outer.range_offset <= inner.range_offset
    and outer.range_offset + outer.range_bytes >= inner.range_offset + inner.range_bytes
end

local function same(a, b)
  return a.generation == b.generation and a.range_offset == b.range_offset
    and a.range_bytes == b.range_bytes
end

local function without(list, pass, test)
  local kept = {}
  for _, old in ipairs(list or {}) do
    if not test(pass, old) then kept[#kept + 1] = old end
  end
  return kept
end

local function pass_of(fields)
  fields = event.raw(fields)
  return { target = fields.target, generation = fields.generation,
           range_offset = fields.range_offset, range_bytes = fields.range_bytes }
end

local visitors = {}

-- What says where the run stood; `last` is its last event.
local STATE = { "start", "verdict", "part_begin_ns", "soaked_ns", "last" }

function visitors.start(found, fields)
  found.before = {}
  for _, key in ipairs(STATE) do found.before[key] = found[key] end
  found.verdict = nil -- a part that was stopped was gone on with
  if not found.start then
    found.first = fields
    -- sums of what rotation dropped; those of later starts are read here
    found.carried = fields.carried
  end
  found.start = fields
  found.part_begin_ns = fields.t_boot_ns
  found.soaked_ns = fields.soaked_ns or 0
end

-- A resume that was refused touched nothing: the run stands where it stood
-- before, its options too.
function visitors.verdict(found, fields)
  found.verdict = fields
  if not (model.is_refused(fields) and found.start and found.start.resumed) then return end
  for _, key in ipairs(STATE) do found[key] = found.before[key] end
  found.is_back = true
end

function visitors.round(found, fields)
  if fields.phase == "begin" then found.rounds = fields.round end
  if fields.phase == "end" then found.rounds_ended = found.rounds_ended + 1 end
end

function visitors.writing(found, fields)
  local pass = pass_of(fields)
  local list = without(found.writing[pass.target], pass, same)
  list[#list + 1] = pass
  found.writing[pass.target] = list
  -- A file that is made anew may be smaller.
  if found.removed[pass.target] then found.sizes[pass.target] = nil end
  found.removed[pass.target] = nil
  found.newest[pass.target] = math.max(found.newest[pass.target] or 0, pass.generation)
  found.sizes[pass.target] = math.max(found.sizes[pass.target] or 0,
    pass.range_offset + pass.range_bytes)
end

-- With the file goes what it promised.
function visitors.removed(found, fields)
  local path = event.raw(fields).path
  found.writing[path], found.flushed[path], found.removed[path] = nil, nil, true
end

function visitors.flushed(found, fields)
  local pass = pass_of(fields)
  found.writing[pass.target] = without(found.writing[pass.target], pass, covers)
  local list = without(found.flushed[pass.target], pass, covers)
  list[#list + 1] = pass
  if #list > resume.flushed_max then table.remove(list, 1) end
  found.flushed[pass.target] = list
end

function visitors.memory(found, fields)
  local result = type(fields.result) == "table" and fields.result or {}
  if not (result.patterns and result.passes and result.verified_bytes) then return end
  local sum = found.memory[fields.case_id] or { verified_bytes = 0, passes = 0, patterns = {} }
  found.memory[fields.case_id] = sum
  sum.verified_bytes = sum.verified_bytes + result.verified_bytes
  sum.passes = sum.passes + result.passes
  for name, one in pairs(result.patterns) do
    local before = sum.patterns[name] and sum.patterns[name].verified_bytes or 0
    sum.patterns[name] = { verified_bytes = before + one.verified_bytes }
  end
end

-- Results of earlier parts count in the verdict of the whole run.
local RESULTS = { check = true, measure = true, memory = true, count = true, note = true,
                  sample = true, kernel = true, stuck = true, lost = true }

--- Reads the folder of a run that was cut off. Refuses one that has ended or
--- belongs to another script.
---@param directory string
---@param script string
---@param visit fun(fields: table) sees the results, oldest first
---@return storlua.Resume
---@return table state of the log: seq, carried
function resume.read(directory, script, visit)
  local found = { writing = {}, flushed = {}, newest = {}, sizes = {}, removed = {},
                  memory = {}, soaked_ns = 0, rounds = 0, rounds_ended = 0 }
  local state = reader.read(directory, function(fields)
    local visitor = visitors[fields.kind]
    if visitor then visitor(found, fields) end
    if RESULTS[fields.kind] then visit(fields) end
    if not found.is_back then found.last = fields end
    found.is_back = false
  end)
  if not found.start then
    errors.raise("USAGE", "--resume %s: the run ended before its first event was on disk",
      directory)
  elseif found.verdict and found.verdict.status ~= "interrupted" then
    errors.raise("USAGE", "--resume %s: the run has ended (%s); nothing to go on with",
      directory, found.verdict.status)
  elseif found.start.script ~= script then
    errors.raise("USAGE", "--resume %s: that is a run of %s, not of %s", directory,
      found.start.script, script)
  end
  local part_ns = found.last.t_boot_ns - found.part_begin_ns
  return {
    soaked_ns = found.soaked_ns + math.max(0, part_ns),
    interrupted = found.verdict ~= nil,
    rebooted = found.last.boot_id ~= loop.boot_id(),
    rounds = found.rounds, rounds_ended = found.rounds_ended, writing = found.writing,
    flushed = found.flushed, newest = found.newest, sizes = found.sizes, removed = found.removed,
    memory = found.memory, torn_bytes = state.torn_bytes,
    options = event.raw(found.start.options or {}),
    settings = event.raw(found.start.settings or {}), cwd = event.raw(found.start).cwd,
    seed = found.start.seed, run_id = found.start.run_id,
    conditions = found.start.conditions,
  }, { seq = state.seq, carried = found.carried, lost_events = state.lost_events }
end

--- Puts one result of an earlier part into the recorder, without writing it.
---@param recorder storlua.Recorder
---@param fields table
function resume.replay(recorder, fields)
  local totals = recorder.totals
  if fields.kind == "check" then
    totals.checks = totals.checks + 1
    if fields.ok then
      recorder.passed[fields.case_id] = 1
    else
      totals.checks_failed = totals.checks_failed + 1
      recorder:fail("check", fields.case_id, fields.message or "")
    end
  elseif fields.kind == "measure" or fields.kind == "memory" then
    totals.measures = totals.measures + 1
    if fields.kind == "measure" and fields.result then
      recorder:add_result(fields)
      recorder:sample_result(fields.case_id, fields.result)
    end
    if fields.verdict == "fail" then
      totals.measures_failed = totals.measures_failed + 1
      recorder:fail(fields.kind, fields.case_id, fields.reason or "", fields.labels)
    end
  elseif fields.kind == "stuck" and fields.failure then
    recorder:find("failed", fields.failure)
  elseif fields.kind == "lost" then
    recorder.lost[fields.metric] = fields.reason
  elseif fields.kind == "count" then
    recorder.metrics:count(fields.metric, fields.text, fields.delta or 0)
  elseif fields.kind == "note" then
    recorder.notes[fields.key] = fields.value
  elseif fields.kind == "kernel" and fields.class == "error" then
    totals.kernel_errors = totals.kernel_errors + 1
  elseif fields.kind == "sample" and fields.count and fields.count > 0 then
    local m = recorder.metrics.samples[fields.metric] or metrics.new_metric(fields.unit)
    recorder.metrics.samples[fields.metric] = m
    m:merge(fields)
  end
end

return resume
