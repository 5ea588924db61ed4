-- SPDX-License-Identifier: MIT
--- What one run offers for a comparison: its cases with all their values, and
--- the conditions it was measured under.

local coverage = require("storlua.report.coverage")
local errors = require("storlua.errors")
local reader = require("storlua.report.reader")

local compare_run = {}

-- Labels that tell repetitions apart, not cases.
local REPETITION = { round = true, run = true }

-- What makes two measures of one name different tests. How long they lasted and
-- how large the target was does not.
local DEFINES = { "operation", "read_percent", "record_bytes", "order", "stride_records", "direct",
                  "open_sync", "flush", "flush_every", "engine", "queue_depth", "streams",
                  "vectors", "map_sync", "rate_bytes_s", "rate_operations_s", "think_seconds",
                  "verify", "distribution", "zipf_theta", "pareto_h", "normal_percent", "size_mix",
                  "zones", "buffer_bytes", "threads", "pages" }

-- Differ from one plug-in to the next.
local PASSING = { boot_id = true, ["device_identity.disk_sequence"] = true,
                  ["device_identity.node"] = true, ["device_identity.number"] = true,
                  ["device_identity.name"] = true }

---@class storlua.CompareCase
---@field key string
---@field id string
---@field values table<string, number[]> by metric
---@field failed integer measures that are left out
---@field spec table<string, string>

---@class storlua.CompareRun
---@field path string
---@field script string
---@field status string
---@field wall? string when it began, nil when that is not in its log any more
---@field coverage? string what the log lacks
---@field conditions table<string, string> flat
---@field cases table<string, storlua.CompareCase> by key
---@field keys string[] in order of appearance

local function label_text(labels)
  local parts = {}
  for name, value in pairs(labels or {}) do
    if not REPETITION[name] then parts[#parts + 1] = name .. "=" .. tostring(value) end
  end
  table.sort(parts)
  return table.concat(parts, " ")
end

local function flat(value, name, into, skip)
  if type(value) == "table" then
    for key, element in pairs(value) do
      local path = name == "" and tostring(key) or name .. "." .. tostring(key)
      if not (skip and skip[path]) then flat(element, path, into, skip) end
    end
  elseif type(value) ~= "userdata" and type(value) ~= "function" then
    into[name] = math.type(value) == "float" and ("%.6g"):format(value) or tostring(value)
  end
  return into
end

local function text_of(value)
  if math.type(value) == "float" then return ("%.14g"):format(value) end
  if type(value) ~= "table" then return tostring(value) end
  local parts = {}
  for name, text in pairs(flat(value, "", {})) do parts[#parts + 1] = name .. "=" .. text end
  table.sort(parts)
  return table.concat(parts, " ")
end

-- Which engine ran is for the result to say: it may not be the one asked for.
local function spec_of(fields)
  local copy, spec = {}, fields.spec or {}
  local result = type(fields.result) == "table" and fields.result or {}
  local ran = { engine = result.engine, queue_depth = result.queue_depth }
  for _, name in ipairs(DEFINES) do
    local value = ran[name] or spec[name]
    if value ~= nil then copy[name] = text_of(value) end
  end
  return copy
end

local function case_of(run, fields, suffix)
  local id = fields.case_id .. suffix
  local key = id .. "\0" .. label_text(fields.labels)
  local case = run.cases[key]
  if case then return case end
  case = { key = key, id = id, labels = label_text(fields.labels), values = {}, failed = 0 }
  run.cases[key] = case
  run.keys[#run.keys + 1] = key
  return case
end

-- The case of a measure that passed: it says how it was done.
local function passed_case(run, fields, suffix)
  local case = case_of(run, fields, suffix)
  case.spec = case.spec or spec_of(fields)
  return case
end

local function add(case, metric, value)
  if type(value) ~= "number" then return end
  case.values[metric] = case.values[metric] or {}
  table.insert(case.values[metric], value)
end

-- Rates count the flush in: that is when the data was on the medium.
local function add_direction(run, fields, name, suffix)
  local result, tally = fields.result, fields.result[name]
  if type(tally) ~= "table" or (tally.operations or 0) == 0 then return end
  local case = passed_case(run, fields, suffix)
  local flush_ns = name == "write" and type(result.flush) == "table" and result.flush.ns or 0
  local seconds = (tally.io_ns + flush_ns) / 1e9
  if seconds > 0 then
    add(case, "rate", tally.bytes / 1048576 / seconds)
    add(case, "iops", tally.operations / seconds)
  end
  local latency = type(tally.latency) == "table" and tally.latency or {}
  for metric, field in pairs { p50 = "p50_ns", p99 = "p99_ns", p999 = "p999_ns", max = "max_ns" } do
    add(case, metric, latency[field])
  end
end

local kinds = {}

function kinds.start(run, fields)
  run.script = fields.script
  if not fields.continued then run.wall = run.wall or fields.wall end
  local carried = type(fields.carried) == "table" and fields.carried or {}
  run.kernel_errors = math.max(run.kernel_errors, carried.kernel_errors or 0)
  local conditions = type(fields.conditions) == "table" and fields.conditions or {}
  run.conditions = flat(conditions, "", {}, PASSING)
  run.conditions.storlua = tostring(fields.version)
  if type(fields.board) == "string" then run.conditions.board = fields.board end
  if type(fields.options) == "table" then flat(fields.options, "option", run.conditions) end
end

function kinds.measure(run, fields)
  if type(fields.result) ~= "table" or fields.verdict ~= "pass" then
    local is_mixed = type(fields.spec) == "table" and fields.spec.operation == "mixed"
    local case = case_of(run, fields, is_mixed and ".read" or "")
    case.failed = case.failed + 1
    return
  end
  for _, note in ipairs(fields.result.notes or {}) do run.notes[note] = true end
  local both = type(fields.result.read) == "table" and type(fields.result.write) == "table"
  add_direction(run, fields, "read", both and ".read" or "")
  add_direction(run, fields, "write", both and ".write" or "")
  add_direction(run, fields, "trim", "")
end

-- Bandwidth as MiB/s that are moved, the latency of a load as p50.
function kinds.memory(run, fields)
  local result = fields.result
  if type(result) ~= "table" or fields.verdict ~= "pass" then return kinds.measure(run, fields) end
  local case = passed_case(run, fields, "")
  if type(result.mb_s) == "number" then add(case, "rate", result.mb_s * 1e6 / 1048576) end
  add(case, "p50", result.ns)
end

-- Samples of one run follow each other and are not independent: they are
-- shown, never judged.
function kinds.sample(run, fields)
  local sample = run.samples[fields.metric]
  if not sample then
    sample = { unit = type(fields.unit) == "string" and fields.unit or "", values = {} }
    run.samples[fields.metric] = sample
    run.sample_names[#run.sample_names + 1] = fields.metric
  end
  if type(fields.mean) == "number" then table.insert(sample.values, fields.mean) end
end

function kinds.kernel(run, fields)
  if fields.class == "error" then run.kernel_errors = run.kernel_errors + 1 end
end

function kinds.verdict(run, fields) run.status = fields.status end

--- Reads a run; raises when there is none.
---@param path string its folder
---@return storlua.CompareRun
function compare_run.read(path)
  local run = { path = path, script = "?", status = "no verdict", cases = {}, keys = {},
                samples = {}, sample_names = {}, conditions = {}, kernel_errors = 0, notes = {} }
  local seen, has_begin = coverage.new(), nil
  reader.read(path, function(fields)
    if has_begin == nil then has_begin = not fields.continued end
    seen:add(fields)
    local add_event = kinds[fields.kind]
    if add_event then add_event(run, fields) end
  end)
  local notes = {}
  for note in pairs(run.notes) do notes[#notes + 1] = note end
  table.sort(notes)
  -- A cache that answered, a ring that was not used: what the rates rest on.
  run.conditions.notes = notes[1] and table.concat(notes, ", ") or "none"
  run.coverage = seen:text() or has_begin == false
    and "covers the last part only: the log was rotated" or nil
  if not run.keys[1] and not run.sample_names[1] then
    errors.raise("USAGE", "%s holds no measurement", path)
  end
  return run
end

return compare_run
