-- SPDX-License-Identifier: MIT
--- A matrix of file size × record size × test as data: each cell is a workload.
--- matrix:run(t) measures the cells one after another; see storlua.iozone.run.

local errors = require("storlua.errors")
local grid = require("storlua.iozone.grid")
local quantity = require("storlua.quantity")
local tests = require("storlua.iozone.tests")

local iozone = {}

local DEFAULT_STRIDE = 17 -- records
local VECTOR_MAX_BYTES = 16 << 20 -- of one pwritev or preadv

-- Engines of -B, -H, -k are for the tests 0 to 5 and the mix.
local QUEUED_TESTS = { [0] = true, true, true, true, true, true, [8] = true }

---@class storlua.IozoneCell
---@field case_id string
---@field size_bytes integer
---@field record_bytes integer
---@field records integer
---@field bytes integer that it moves
---@field column storlua.IozoneColumn
---@field spec table workload; the run adds stamps and what verifying needs

---@class storlua.IozoneMatrix
---@field options table
---@field sizes integer[]
---@field records integer[]
---@field columns storlua.IozoneColumn[]
---@field rows table[] {size_bytes, record_bytes, cells}
---@field skipped table[] {case_id, reason}: combinations that are not run
---@field said string[]
---@field cells integer that are run
---@field bytes_written integer
---@field bytes_read integer
local Matrix = {}
Matrix.__index = Matrix
Matrix.__name = "storlua.IozoneMatrix"

--- "iozone.65536k.4k.write"; sizes that are no whole KiB end in b.
local function case_id(prefix, size, record, column, streams)
  local function text(bytes)
    return bytes % 1024 == 0 and ("%dk"):format(bytes // 1024) or ("%db"):format(bytes)
  end
  if streams then prefix = ("%s.t%d"):format(prefix, streams) end
  return ("%s.%s.%s.%s"):format(prefix, text(size), text(record), column.id)
end

local function base_spec(o, size, record, column)
  local spec = {
    path = o.path, record_bytes = record, range_bytes = size,
    engine = column.engine or o.engine or "psync",
    direct = o.direct or false, open_sync = o.open_sync or "none",
  }
  for key, value in pairs(column.spec) do spec[key] = value end
  if spec.order == "strided" then spec.stride_records = o.stride or DEFAULT_STRIDE end
  if spec.engine == (o.engine or "psync") and not column.engine then
    spec.queue_depth, spec.map_sync = o.queue_depth, o.map_sync
  end
  return spec
end

-- Streams have a file each, and a common start and, unless told otherwise, end.
local function add_streams(o, spec, streams)
  spec.path = o.files[1]
  if streams == 1 then return end
  spec.streams, spec.stonewall = streams, not o.no_stonewall
  spec.paths = table.move(o.files, 1, streams, 1, {})
end

-- The tail that is no whole record is part of every order.
local function cell_of(o, size, record, column, streams)
  local spec = base_spec(o, size, record, column)
  local records = (size + record - 1) // record
  local cell = {
    case_id = case_id(o.prefix or "iozone", size, record, column, streams), size_bytes = size,
    record_bytes = record, records = records, bytes = size, column = column, spec = spec,
    streams = streams,
  }
  if column.new_file then
    spec.truncate, spec.size_bytes, spec.range_bytes = true, size, nil
  elseif column.hot then
    spec.range_bytes, spec.limit_records = record, records
    cell.bytes = records * record
  end
  if column.vectors then
    spec.vectors = math.max(1, math.min(column.vectors, records, VECTOR_MAX_BYTES // record))
  end
  -- The C library writes and reads through the page cache whatever is asked.
  if spec.engine == "stdio" then spec.direct, spec.open_sync = false, "none" end
  if spec.engine == "mmap" then spec.direct = false end
  if column.spec.operation == "read" then
    if o.cold and not spec.direct and not column.again then spec.cold = "drop" end
    if not o.sync_reads then spec.open_sync = "none" end
  else
    -- Always flushed: without include_flush that time is not in the rate, but
    -- no test begins with the dirty pages of the one before.
    spec.flush = o.include_flush and "end" or "after"
  end
  if streams then
    add_streams(o, spec, streams)
    cell.bytes = cell.bytes * streams
  end
  return cell
end

local function skip_reason(o, column, engines)
  local name = column.engine or o.engine or "psync"
  if o.engine and o.engine ~= "psync" and not QUEUED_TESTS[column.number] then
    return ("engine %s is for the tests 0 to 5 and 8"):format(o.engine)
  end
  if not engines[name] then return ("engine %s is not in this build"):format(name) end
end

local function to_bytes(what, values)
  local list = {}
  for i, value in ipairs(values or {}) do
    local bytes = type(value) == "string" and quantity.size(value) or math.tointeger(value)
    if not bytes or bytes < 1 then
      error(("iozone.matrix: %s[%d] is %s, not a size"):format(what, i, tostring(value)), 4)
    end
    list[i] = bytes
  end
  return list
end

-- In throughput mode a row for each number of streams.
local function rows_of(o, shape)
  if not o.streams or not o.streams[1] then return shape.rows end
  local rows = {}
  for _, row in ipairs(shape.rows) do
    for _, streams in ipairs(o.streams) do
      rows[#rows + 1] = { size_bytes = row.size_bytes, record_bytes = row.record_bytes,
                          streams = streams }
    end
  end
  return rows
end

local function fill(self, o, shape, columns, engines)
  for _, gap in ipairs(shape.skipped) do
    for _, column in ipairs(columns) do
      self.skipped[#self.skipped + 1] = {
        case_id = case_id(o.prefix or "iozone", gap.size_bytes, gap.record_bytes, column),
        reason = gap.reason,
      }
    end
  end
  for _, row in ipairs(rows_of(o, shape)) do
    row.cells = {}
    for _, column in ipairs(columns) do
      local reason = skip_reason(o, column, engines)
      local cell = cell_of(o, row.size_bytes, row.record_bytes, column, row.streams)
      if reason then
        self.skipped[#self.skipped + 1] = { case_id = cell.case_id, reason = reason }
      else
        row.cells[#row.cells + 1] = cell
        self:add_bytes(cell)
      end
    end
    if row.cells[1] then self.rows[#self.rows + 1] = row end
  end
end

---@package
function Matrix:add_bytes(cell)
  self.cells = self.cells + 1
  local operation = cell.spec.operation
  if operation == "mixed" then
    self.bytes_written = self.bytes_written + cell.bytes // 2
    self.bytes_read = self.bytes_read + cell.bytes - cell.bytes // 2
  elseif operation == "write" then
    self.bytes_written = self.bytes_written + cell.bytes
  else
    self.bytes_read = self.bytes_read + cell.bytes
  end
end

--- Builds a matrix.
---@param o table path; sizes, records (lists of bytes or texts), or auto with min_size, max_size,
--- min_record, max_record, multiplier, no_crossover; tests (numbers or names), no_retest; engine,
--- queue_depth, map_sync; direct, open_sync ("none", "data", "full"), sync_reads, cold;
--- include_flush, include_close, unit ("kb_s", "ops_s", "us_op"); stride (records), stamp;
--- streams (list of counts) with files (one for each stream) and no_stonewall
---@return storlua.IozoneMatrix
function iozone.matrix(o)
  if type(o.path) ~= "string" or o.path == "" then error("iozone.matrix: path is missing", 2) end
  local options = {}
  for key, value in pairs(o) do options[key] = value end
  options.sizes, options.records = to_bytes("sizes", o.sizes), to_bytes("records", o.records)
  local shape = grid.build(options)
  local columns = tests.columns(o.tests or tests.usual, o.no_retest)
  local engines = {}
  for _, name in ipairs(require("storlua.workload").engines()) do engines[name] = true end
  local self = setmetatable({
    options = options, sizes = shape.sizes, records = shape.records, columns = columns, rows = {},
    skipped = {}, said = shape.said, cells = 0, bytes_written = 0, bytes_read = 0,
  }, Matrix)
  fill(self, options, shape, columns, engines)
  if self.cells == 0 then
    local first = self.skipped[1]
    errors.raise("USAGE", "no cell to measure: %s", first and first.reason or "no test is chosen")
  end
  return self
end

--- The largest file of the matrix.
---@return integer bytes
function Matrix:largest_bytes() return self.rows[#self.rows].size_bytes end

--- The files under test.
---@return string[]
function Matrix:paths()
  local o = self.options
  if not o.streams or not o.streams[1] then return { o.path } end
  return table.move(o.files, 1, math.max(table.unpack(o.streams)), 1, {})
end

--- True when some cell writes.
---@return boolean
function Matrix:writes() return self.bytes_written > 0 end

--- What is written untimed for tests that need a whole file and follow none that
--- writes it.
---@return integer bytes
function Matrix:prepared_bytes()
  local sum, size = 0, nil
  for _, row in ipairs(self.rows) do
    if row.streams then size = nil end -- more streams have more files
    for _, cell in ipairs(row.cells) do
      if not cell.column.new_file and size ~= row.size_bytes then
        sum = sum + row.size_bytes * (row.streams or 1)
      end
      size = row.size_bytes
    end
  end
  return sum
end

--- Runs the cells; see storlua.iozone.run.
---@async
---@param t storlua.Run
---@param options? table round, on_row
---@return storlua.IozoneResults
function Matrix:run(t, options)
  return require("storlua.iozone.run").run(t, self, options or {})
end

return iozone
