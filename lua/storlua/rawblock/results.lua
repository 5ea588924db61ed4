-- SPDX-License-Identifier: MIT
--- The runs of a raw-device procedure as its events tell them, live or later:
--- one row of figures for each test.

local histogram = require("storlua.histogram")
local statistics = require("storlua.statistics")

local rawblock_results = {}

local MIB = 1048576

---@class storlua.RawblockRow
---@field id string case id
---@field severity string
---@field test string
---@field record_bytes integer
---@field operation string
---@field mib_s number[] of each run, with the flush
---@field phase_mib_s number[] without it
---@field iops number[] with the flush
---@field latency table percentiles over all runs
---@field coverage_percent number mean share of the target that one run touched

---@class storlua.RawblockResults
---@field target? table of x_rawblock_target
---@field ids string[] in order of appearance
---@field left_out integer tests that failed or were interrupted
local Results = {}
Results.__index = Results

---@return storlua.RawblockResults
function rawblock_results.new()
  return setmetatable({ ids = {}, by_id = {}, left_out = 0 }, Results)
end

local function row_of(self, fields)
  local row = self.by_id[fields.case_id]
  if row then return row end
  row = {
    id = fields.case_id, severity = fields.labels.severity, test = fields.labels.test,
    record_bytes = fields.spec.record_bytes, operation = fields.spec.operation,
    mib_s = {}, phase_mib_s = {}, iops = {}, coverage = {}, io_ns = {}, flush_ns = {},
    total_ns = {}, histogram = histogram.new(), issued_bytes = 0, counted_bytes = 0,
    flushes = 0, notes = {}, sustained_mib_s = {},
  }
  self.ids[#self.ids + 1] = fields.case_id
  self.by_id[fields.case_id] = row
  return row
end

-- A sequential run goes round; a random one takes each record once a pass.
local function coverage_percent(fields, tally)
  local range = fields.spec.range_bytes
  if range == 0 then return nil end
  return math.min(100, tally.bytes / range * 100)
end

local function add_truth(row, result, tally)
  row.issued_bytes = row.issued_bytes + tally.bytes
  local device = result.device or {}
  local counted = device[row.operation .. "_bytes"]
  if counted then
    row.counted_bytes = row.counted_bytes + counted
    row.flushes = row.flushes + (device.flushes or 0)
  else
    row.reason = device.reason or "the device does not count"
  end
  for _, note in ipairs(result.notes or {}) do row.notes[note] = true end
  local unbacked = result.cache and tonumber(result.cache.unbacked_before_bytes)
  if unbacked then row.unbacked_bytes = math.max(row.unbacked_bytes or 0, unbacked) end
end

local function add(list, value)
  if type(value) == "number" then list[#list + 1] = value end
end

local function add_run(self, fields)
  local result, labels = fields.result, fields.labels
  if not labels or not labels.severity then return end
  -- Half of a test is no figure of it; a resume does it again.
  if fields.verdict ~= "pass" then self.left_out = self.left_out + 1 end
  if fields.verdict ~= "pass" or type(result) ~= "table" then return end
  local tally = result[fields.spec.operation]
  if type(tally) ~= "table" or tally.operations == 0 or tally.io_ns == 0 then return end
  local row = row_of(self, fields)
  local flush_ns = type(result.flush) == "table" and result.flush.ns or 0
  local all_s = (tally.io_ns + flush_ns) / 1e9
  add(row.mib_s, tally.bytes / MIB / all_s)
  add(row.phase_mib_s, tally.bytes / MIB / (tally.io_ns / 1e9))
  add(row.iops, tally.operations / all_s)
  add(row.coverage, coverage_percent(fields, tally))
  add(row.io_ns, tally.io_ns)
  add(row.flush_ns, flush_ns)
  add(row.total_ns, result.total_ns)
  add(row.sustained_mib_s, result.sustained_mib_s)
  if type(tally.latency) == "table" and tally.latency.count > 0 then
    row.histogram:merge(histogram.from_summary(tally.latency))
  end
  add_truth(row, result, tally)
end

--- Takes one event; those of other kinds are passed over.
---@param fields table
function Results:add(fields)
  if fields.kind == "x_rawblock_target" then self.target = fields end
  if fields.kind == "measure" then add_run(self, fields) end
end

--- The rows in order of appearance, with the figures over their runs.
---@return storlua.RawblockRow[]
function Results:rows()
  local rows = {}
  for i, id in ipairs(self.ids) do
    local row = self.by_id[id]
    row.latency = row.histogram:summary()
    row.coverage_percent = statistics.median(row.coverage)
    rows[i] = row
  end
  return rows
end

--- The row of a test, or nil.
---@param severity string
---@param test string
---@return storlua.RawblockRow|nil
function Results:row(severity, test) return self.by_id[severity .. "." .. test] end

return rawblock_results
