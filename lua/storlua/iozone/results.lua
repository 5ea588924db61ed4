-- SPDX-License-Identifier: MIT
--- The cells of a matrix as far as they are known: a fold over the events of a
--- run, so a table can be made while it goes on, later, or after a crash.

local event = require("storlua.event")
local tests = require("storlua.iozone.tests")

local results = {}

---@class storlua.IozoneValue
---@field value? number in the unit of the plan; nil when nothing was measured
---@field cached boolean it says how fast memory is, not the medium
---@field failed boolean
---@field reason? string why it failed
---@field streams? table of throughput mode, see storlua.iozone.streams

---@class storlua.IozoneResults
---@field plan? table the event x_iozone_plan of this round
---@field start? table the start event of the run
---@field values table<string, table<string, storlua.IozoneValue>> by row, then column
---@field measured integer
---@field failed integer
---@field is_evidence_kept? boolean the file under test holds bad sectors and stays
local Results = {}
Results.__index = Results
Results.__name = "storlua.IozoneResults"

---@param round? integer only this one; default: the last one that has a plan
---@return storlua.IozoneResults
function results.new(round)
  return setmetatable({ round = round, values = {}, measured = 0, failed = 0, notes = {} }, Results)
end

local function known(value)
  if value == nil or value == event.null then return nil end
  return value
end

--- What the timed part of a cell took: the operations, and the flush and the
--- closing where the plan includes them.
---@param plan table include_flush, include_close
---@param result table of a workload
---@return integer|nil ns
---@return integer bytes
---@return integer operations
function results.timed(plan, result)
  local ns, bytes, operations = 0, 0, 0
  for _, name in ipairs { "read", "write" } do
    local part = known(result[name])
    if part then
      ns, bytes, operations = ns + part.io_ns, bytes + part.bytes, operations + part.operations
    end
  end
  local flush = known(result.flush)
  -- reads and writes under way at the same time count once
  if (plan.queue_depth or 1) > 1 and known(result.read) and known(result.write) then
    ns = result.total_ns - (flush and flush.ns or 0)
  end
  if plan.include_flush and flush then ns = ns + flush.ns end
  if plan.include_close then ns = ns + (known(result.close_ns) or 0) end
  return ns > 0 and ns or nil, bytes, operations
end

local UNITS = {
  kb_s = function(ns, bytes) return bytes * 1000000000 // ns // 1024 end,
  ops_s = function(ns, _, operations) return operations * 1000000000 // ns end,
  us_op = function(ns, _, operations) return ns / 1000 / operations end,
}

local function exact_kb_s(ns, bytes)
  -- beyond 8 GB the product leaves 64 bits
  if bytes > 8000000000 then return math.tointeger(bytes / 1024 / (ns / 1e9) // 1) end
  return UNITS.kb_s(ns, bytes)
end

--- A rate in the unit of the plan.
---@param plan table
---@param ns integer
---@param bytes integer
---@param operations integer
---@return number
function results.rate(plan, ns, bytes, operations)
  if plan.unit == "kb_s" then return exact_kb_s(ns, bytes) end
  return UNITS[plan.unit](ns, bytes, operations)
end

--- True when the number of a cell is that of the page cache.
---@param plan table
---@param column storlua.IozoneColumn
---@param spec table
---@param result table
---@return boolean
function results.is_cached(plan, column, spec, result)
  if spec.engine == "stdio" then return true end
  local cache = known(result.cache) or {}
  if column.spec.operation ~= "write" then return not known(cache.cold) end
  return not spec.direct and (spec.open_sync or "none") == "none" and not plan.include_flush
    and spec.map_sync ~= "record"
end

local function value_of(plan, column, fields)
  local result, failed = known(fields.result), fields.verdict == "fail"
  local one = { failed = failed, reason = known(fields.reason), cached = false }
  if not result then return one end
  one.cached = results.is_cached(plan, column, fields.spec or {}, result)
  local ns, bytes, operations = results.timed(plan, result)
  if failed or not ns or operations == 0 then return one end
  one.value = results.rate(plan, ns, bytes, operations)
  if plan.throughput then
    one.streams = require("storlua.iozone.streams").summary(plan, result)
    one.value = one.streams.parent
  end
  return one
end

--- The key of a row in `values`.
---@param row table size_bytes, record_bytes, streams
---@return string
function results.key(row)
  return ("%d %d %d"):format(row.size_bytes, row.record_bytes, known(row.streams) or 0)
end

local kinds = {}

function kinds.start(self, fields) self.start = self.start or fields end

function kinds.x_iozone_plan(self, fields)
  if self.round and fields.round ~= self.round then return end
  if self.plan and self.plan.round ~= fields.round then
    self.values, self.measured, self.failed = {}, 0, 0
  end
  self.plan = fields
  return "plan"
end

function kinds.x_iozone_end(self, fields)
  if self.plan and self.plan.round == fields.round then self.ended = fields end
end

function kinds.measure(self, fields)
  local labels, plan = known(fields.labels) or {}, self.plan
  local column = plan and labels.column and tests.column(labels.column)
  if not column or labels.round ~= plan.round then return end
  local key = results.key(labels)
  local row = self.values[key] or {}
  self.values[key] = row
  if not row[column.id] then self.measured = self.measured + 1 end
  local one = value_of(plan, column, fields)
  if one.failed then self.failed = self.failed + 1 end
  row[column.id] = one
  for _, note in ipairs(known(fields.result) and known(fields.result.notes) or {}) do
    self.notes[note] = true
  end
  return "cell", labels, column
end

--- Takes one event; says what it was of the matrix: "plan", or "cell" with its
--- labels and column.
---@param fields table
---@return string|nil
---@return table|nil labels
---@return storlua.IozoneColumn|nil column
function Results:add(fields)
  local add = kinds[fields.kind]
  if add then return add(self, fields) end
end

--- A cell, or nil when it was not measured.
---@param size_bytes integer
---@param record_bytes integer
---@param column string
---@param streams? integer
---@return storlua.IozoneValue|nil
function Results:at(size_bytes, record_bytes, column, streams)
  local row = self.values[results.key { size_bytes = size_bytes, record_bytes = record_bytes,
                                        streams = streams }]
  return row and row[column]
end

--- True when some cell of the column was measured.
---@param column string
---@return boolean
function Results:has_column(column)
  for _, row in pairs(self.values) do
    if row[column] then return true end
  end
  return false
end

--- True when some cell holds a number of the page cache.
---@return boolean
function Results:has_cached()
  for _, row in pairs(self.values) do
    for _, one in pairs(row) do
      if one.cached then return true end
    end
  end
  return false
end

--- What the numbers are, in words.
---@param plan table
---@return string
function results.unit_text(plan)
  if plan.unit == "ops_s" then return "operations per second" end
  if plan.unit == "us_op" then return "microseconds per operation" end
  return "kBytes/sec (1 kB = 1024 bytes)"
end

return results
