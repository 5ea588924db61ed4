-- SPDX-License-Identifier: MIT
--- One row for each direction of each measure: for spreadsheets. RFC 4180,
--- decimal points; an empty cell is "not known". Of measures whose events were
--- rotated away a row without a case says how many they are, and rows without
--- numbers name the failures among what is missing.

local coverage = require("storlua.report.coverage")
local event = require("storlua.event")

local csv = {}

local COLUMNS = {
  "seq", "wall", "case_id", "round", "labels", "verdict", "reason", "direction", "engine", "order",
  "record_bytes", "operations", "bytes", "io_ns", "mib_s", "mb_s", "iops", "min_ns", "mean_ns",
  "p50_ns", "p99_ns", "p999_ns", "max_ns", "flush_ns", "total_ns", "errors", "bad_sectors",
  "cold", "direct", "notes",
}

local function cell(value)
  if value == nil or value == event.null then return "" end
  if type(value) == "number" then return event.number_text(value) end
  local text = event.clean(tostring(value))
  -- a spreadsheet would run a text that begins so as a formula
  if text:find("^[=+@\t\r-]") then text = "'" .. text end
  if text:find("[\",\r\n]") then return "\"" .. text:gsub("\"", "\"\"") .. "\"" end
  return text
end

local function labels_text(labels)
  local parts = {}
  for key, value in pairs(labels or {}) do
    if key ~= "round" then parts[#parts + 1] = ("%s=%s"):format(key, tostring(value)) end
  end
  table.sort(parts)
  return table.concat(parts, " ")
end

local function row_of(fields, name, direction)
  local spec, result = fields.spec or {}, fields.result or {}
  local latency = direction.latency or {}
  local row = {
    seq = fields.seq, wall = fields.wall, case_id = fields.case_id,
    round = (fields.labels or {}).round, labels = labels_text(fields.labels),
    verdict = fields.verdict, reason = fields.reason, direction = name,
    engine = result.engine or spec.engine,
    order = spec.order, record_bytes = spec.record_bytes, operations = direction.operations,
    bytes = direction.bytes, io_ns = direction.io_ns, mib_s = direction.mib_s,
    mb_s = direction.mib_s and direction.mib_s * 1.048576, iops = direction.iops,
    flush_ns = name == "write" and result.flush and result.flush.ns or nil,
    total_ns = result.total_ns, errors = result.errors_total,
    bad_sectors = result.verify and result.verify.bad_sectors,
    notes = result.notes and table.concat(result.notes, " "),
    cold = result.cache and result.cache.cold, direct = result.target and result.target.direct,
  }
  for _, key in ipairs { "min_ns", "mean_ns", "p50_ns", "p99_ns", "p999_ns", "max_ns" } do
    row[key] = latency[key]
  end
  return row
end

-- A measurement of memory: the median of what its loop moved, or of a load.
local function memory_row(fields)
  local spec, result = fields.spec or {}, fields.result or {}
  return {
    seq = fields.seq, wall = fields.wall, case_id = fields.case_id,
    labels = labels_text(fields.labels), verdict = fields.verdict, reason = fields.reason,
    direction = spec.operation, engine = result.kernel,
    record_bytes = spec.buffer_bytes or spec.bytes, mb_s = result.mb_s,
    mib_s = result.mb_s and result.mb_s / 1.048576, p50_ns = result.ns,
    min_ns = result.best_ns, errors = result.errors_total,
  }
end

local function failure_row(one, reason)
  return { case_id = one.case_id, round = (one.labels or {}).round,
           labels = labels_text(one.labels), verdict = "fail", reason = reason or one.message }
end

-- The failures that a start event tells of and that were not told before.
local function missing_failures(carried, told)
  local rows, is_named = {}, {}
  for i, one in ipairs(carried.failures or {}) do
    is_named[one.case_id] = true
    if i > told then rows[#rows + 1] = failure_row(one) end
  end
  -- of many failures only the first ones are kept, but one of each case
  for _, one in ipairs(carried.failed_cases or {}) do
    local times = (one.checks_failed or 0) + (one.measures_failed or 0)
    if not is_named[one.case_id] then
      rows[#rows + 1] = failure_row(one, ("%s (%d times)"):format(one.message, times))
    end
  end
  return rows
end

---@param write fun(text: string)
---@return table reporter
function csv.new(write)
  local covered, failures = coverage.new(), 0
  local function put(row)
    local cells = {}
    for i, column in ipairs(COLUMNS) do cells[i] = cell(row[column]) end
    write(table.concat(cells, ",") .. "\r\n")
  end
  write(table.concat(COLUMNS, ",") .. "\r\n")
  return {
    event = function(_, fields)
      local missing = covered:add(fields)
      if missing > 0 then
        put { seq = fields.seq, wall = fields.wall, verdict = "missing",
              reason = ("%d earlier measures are not in this table: %s"):format(missing,
                covered.reason) }
      end
      if fields.verdict == "fail" or fields.kind == "check" and not fields.ok then
        failures = failures + 1
      end
      local total = fields.kind == "start" and fields.carried and fields.carried.failures_total
      if total and total > failures then
        for _, row in ipairs(missing_failures(fields.carried, failures)) do put(row) end
        failures = total
      end
      if fields.kind == "memory" then
        return put(memory_row(fields))
      end
      if fields.kind ~= "measure" then return end
      local result = type(fields.result) == "table" and fields.result or {}
      local written = false
      for _, name in ipairs { "read", "write", "trim" } do
        if result[name] and result[name] ~= event.null then
          put(row_of(fields, name, result[name]))
          written = true
        end
      end
      if not written then put(row_of(fields, nil, {})) end
    end,
    finish = function() end,
  }
end

return csv
