-- SPDX-License-Identifier: MIT
--- Throughput mode: what several streams did together, as text and numbers.
---
--- children  the sum of the streams' own rates, each over its own time: high
---           when they were not at work at the same time
--- parent    all that was moved, from the first start to the last end
--- together  what was moved while all were at work
---
--- The last two are over real time: making and verifying data is part of it.

local format = require("storlua.report.format")
local results_of = require("storlua.iozone.results")
local tests = require("storlua.iozone.tests")

local iozone_streams = {}

local MIB_KB = 1024.0

-- From the first start to the last end; the flush is part of it where it counts.
local function span_ns(result)
  local first, last = math.maxinteger, math.mininteger
  for _, share in ipairs(result.window and result.window.streams or {}) do
    first, last = math.min(first, share.start_ns), math.max(last, share.end_ns)
  end
  return last > first and last - first or nil
end

local function bytes_of(result)
  local bytes, operations = 0, 0
  for _, name in ipairs { "read", "write" } do
    local part = result[name]
    bytes = bytes + (part and part.bytes or 0)
    operations = operations + (part and part.operations or 0)
  end
  return bytes, operations
end

local function each_of(plan, result)
  local list = {}
  for i, one in ipairs(result.streams or { result }) do
    local ns, bytes, operations = results_of.timed(plan, one)
    list[i] = { kb = bytes / 1024, rate = ns and results_of.rate(plan, ns, bytes, operations) or 0 }
  end
  return list
end

--- The numbers of one phase.
---@param plan table
---@param result table of a workload
---@return table children, parent, together, min, max, mean, min_kb, skew_ns, each
function iozone_streams.summary(plan, result)
  local each = each_of(plan, result)
  local s = { each = each, children = 0, min = math.huge, max = 0, min_kb = math.huge }
  for _, one in ipairs(each) do
    s.children = s.children + one.rate
    s.min, s.max = math.min(s.min, one.rate), math.max(s.max, one.rate)
    s.min_kb = math.min(s.min_kb, one.kb)
  end
  s.mean = s.children / #each
  local bytes, operations = bytes_of(result)
  local ns = #each > 1 and span_ns(result)
  s.parent = ns and results_of.rate(plan, ns, bytes, operations) or s.children
  local window = #each > 1 and type(result.window) == "table" and result.window or nil
  if window then
    local rate = plan.unit == "ops_s" and window.iops or window.mib_s and window.mib_s * MIB_KB
    s.together, s.skew_ns = rate and math.floor(rate), window.start_skew_ns
  end
  return s
end

local function unit_of(plan) return plan.unit == "ops_s" and "ops/sec" or "kB/sec" end

local function value_line(name, value, unit, mark)
  return ("\t%-48s= %12s %s%s"):format(name, format.number(value, 2), unit, mark or "")
end

--- The lines of one phase.
---@param plan table
---@param column storlua.IozoneColumn
---@param streams integer
---@param one storlua.IozoneValue
---@return string[]
function iozone_streams.phase(plan, column, streams, one)
  local title = ("%2d %s"):format(streams, column.streams)
  if one.failed or not one.streams then
    return { "", ("\t%s: FAIL: %s"):format(title, format.line(one.reason or "no result")) }
  end
  local s, unit, mark = one.streams, unit_of(plan), one.cached and " *" or ""
  local lines = { "",
    value_line("Children see throughput for " .. title, s.children, unit, mark),
    value_line("Parent sees throughput for " .. title, s.parent, unit, mark),
    value_line("Min throughput per stream", s.min, unit),
    value_line("Max throughput per stream", s.max, unit),
    value_line("Avg throughput per stream", s.mean, unit),
    value_line("Min xfer", s.min_kb, "kB") }
  if s.together then
    lines[#lines + 1] = value_line("While all were at work", s.together, unit, mark)
  elseif streams > 1 then
    lines[#lines + 1] = "\tWhile all were at work: never; the file is too small for a rate"
  end
  for i, stream in ipairs(plan.show_streams and s.each or {}) do
    lines[#lines + 1] = ("\tChild[%d] xfer count = %10s kB, Throughput = %10s %s"):format(i - 1,
      format.number(stream.kb, 2), format.number(stream.rate, 2), unit)
  end
  return lines
end

--- Rows of {test, streams, children, parent, together, min, max, mean, cached}.
---@param results storlua.IozoneResults
---@return table[]
function iozone_streams.rows(results)
  local rows = {}
  for _, id in ipairs(results.plan.columns) do
    for _, row in ipairs(results.plan.rows) do
      local one = results:at(row.size_bytes, row.record_bytes, id, row.streams)
      if one then
        rows[#rows + 1] = { tests.column(id).streams, row.streams, one.streams or {}, one.cached,
                            one.failed }
      end
    end
  end
  return rows
end

--- What -R prints: the total of each test over the numbers of streams.
---@param results storlua.IozoneResults
---@return string[]
function iozone_streams.matrix(results)
  local plan = results.plan
  if not plan.matrices then return {} end
  local table_rows = { { "test", "streams", "children", "parent", "together", "min", "max",
                         "avg" } }
  for _, row in ipairs(iozone_streams.rows(results)) do
    local s, mark = row[3], row[4] and "*" or ""
    local line = { row[1], ("%d"):format(row[2]) }
    for i, key in ipairs { "children", "parent", "together", "min", "max", "mean" } do
      line[i + 2] = row[5] and "FAIL" or s[key] and format.number(s[key], 0) .. mark or "-"
    end
    table_rows[#table_rows + 1] = line
  end
  local lines = { "", ("\"Throughput report\" (%s)"):format(results_of.unit_text(plan)) }
  local body = format.table(table_rows, 1)
  return table.move(body, 1, #body, #lines + 1, lines)
end

return iozone_streams
