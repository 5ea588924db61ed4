-- SPDX-License-Identifier: MIT
--- The tests of iozone as data: which columns each has, and which workload
--- does what the description of the column promises. docs/iozone.md says where
--- that differs from the original.

local nearest = require("storlua.nearest")

local tests = {}

---@class storlua.IozoneColumn
---@field id string last segment of the case id
---@field head string[] two header lines
---@field title string of its matrix and sheet
---@field spec table fields of a workload
---@field new_file? boolean the file is emptied first: blocks are allocated in the timed part
---@field again? string the column it repeats; left out with no_retest
---@field engine? string the engine is part of the test
---@field hot? boolean record 0 over and over
---@field vectors? integer neighbouring records in one call
---@field number? integer set below: of its test
---@field width? integer set below
---@field streams? string set below: what throughput mode calls it

local function write(order) return { operation = "write", order = order } end
local function read(order) return { operation = "read", order = order } end

-- A test is a number of -i, a name of --test, and one or two columns.
local TESTS = {
  { number = 0, name = "write", columns = {
    { id = "write", head = { "", "write" }, title = "Writer", new_file = true,
      spec = write("sequential") },
    { id = "rewrite", head = { "", "rewrite" }, title = "Re-writer", again = "write",
      spec = write("sequential") },
  } },
  { number = 1, name = "read", columns = {
    { id = "read", head = { "", "read" }, title = "Reader", spec = read("sequential") },
    { id = "reread", head = { "", "reread" }, title = "Re-Reader", again = "read",
      spec = read("sequential") },
  } },
  -- the same seed for both: the same permutation, every record once
  { number = 2, name = "random", columns = {
    { id = "random_read", head = { "random", "read" }, title = "Random read",
      spec = read("random") },
    { id = "random_write", head = { "random", "write" }, title = "Random write",
      spec = write("random") },
  } },
  { number = 3, name = "backward", columns = {
    { id = "backward_read", head = { "bkwd", "read" }, title = "Backward read",
      spec = read("backward") },
  } },
  { number = 4, name = "record", columns = {
    { id = "record_rewrite", head = { "record", "rewrite" }, title = "Record rewrite", hot = true,
      spec = write("sequential") },
  } },
  { number = 5, name = "stride", columns = {
    { id = "stride_read", head = { "stride", "read" }, title = "Stride read",
      spec = read("strided") },
  } },
  { number = 6, name = "fwrite", columns = {
    { id = "fwrite", head = { "", "fwrite" }, title = "Fwrite", new_file = true,
      engine = "stdio", spec = write("sequential") },
    { id = "frewrite", head = { "", "frewrite" }, title = "Re-Fwrite", again = "fwrite",
      engine = "stdio", spec = write("sequential") },
  } },
  { number = 7, name = "fread", columns = {
    { id = "fread", head = { "", "fread" }, title = "Fread", engine = "stdio",
      spec = read("sequential") },
    { id = "freread", head = { "", "freread" }, title = "Re-Fread", again = "fread",
      engine = "stdio", spec = read("sequential") },
  } },
  { number = 8, name = "mix", columns = {
    { id = "random_mix", head = { "random", "mix" }, title = "Random mix",
      spec = { operation = "mixed", order = "random" } },
  } },
  { number = 9, name = "pwrite", columns = {
    { id = "pwrite", head = { "", "pwrite" }, title = "Pwrite", engine = "psync",
      spec = write("sequential") },
    { id = "repwrite", head = { "", "repwrite" }, title = "Re-Pwrite", again = "pwrite",
      engine = "psync", spec = write("sequential") },
  } },
  { number = 10, name = "pread", columns = {
    { id = "pread", head = { "", "pread" }, title = "Pread", engine = "psync",
      spec = read("sequential") },
    { id = "repread", head = { "", "repread" }, title = "Re-Pread", again = "pread",
      engine = "psync", spec = read("sequential") },
  } },
  { number = 11, name = "pwritev", columns = {
    { id = "pwritev", head = { "", "pwritev" }, title = "Pwritev", engine = "vsync",
      vectors = 16, spec = write("random") },
    { id = "repwritev", head = { "", "repwritev" }, title = "Re-Pwritev", again = "pwritev",
      engine = "vsync", vectors = 16, spec = write("random") },
  } },
  { number = 12, name = "preadv", columns = {
    { id = "preadv", head = { "", "preadv" }, title = "Preadv", engine = "vsync",
      vectors = 16, spec = read("random") },
    { id = "repreadv", head = { "", "repreadv" }, title = "Re-Preadv", again = "preadv",
      engine = "vsync", vectors = 16, spec = read("random") },
  } },
}

-- What throughput mode calls the streams of a column.
local STREAMS = {
  write = "initial writers", rewrite = "rewriters", read = "readers", reread = "re-readers",
  backward_read = "reverse readers", stride_read = "stride readers",
  random_read = "random readers", random_mix = "mixed workload", random_write = "random writers",
  record_rewrite = "record rewriters", pwrite = "pwrite writers", repwrite = "pwrite rewriters",
  pread = "pread readers", repread = "pread re-readers", fwrite = "fwriters",
  frewrite = "frewriters", fread = "freaders", freread = "fre-readers",
  pwritev = "pwritev writers", repwritev = "pwritev rewriters", preadv = "preadv readers",
  repreadv = "preadv re-readers",
}

-- Widths of the familiar table; what is not in it follows with a width of its own.
local WIDTHS = { record_rewrite = 11, stride_read = 11 }

local by_name, by_column, names = {}, {}, {}
for _, test in ipairs(TESTS) do
  by_name[test.name], by_name[test.number] = test, test
  names[#names + 1] = test.name
  for _, column in ipairs(test.columns) do
    column.number, column.width = test.number, WIDTHS[column.id] or 10
    column.streams = STREAMS[column.id]
    by_column[column.id] = column
  end
end

--- Tests that run when none is named; the table always has their columns.
tests.usual = { 0, 1, 2, 3, 4, 5, 6, 7 }

--- Tests of throughput mode when none is named.
tests.of_streams = { 0, 1, 2, 3, 5, 6, 7, 8, 9, 10 }

--- What -E adds.
tests.extended = { 9, 10, 11, 12 }

--- The names of all tests, by their number.
---@return string[]
function tests.names() return { table.unpack(names) } end

--- A test by its number, its name, or the name of one of its columns; nil and
--- what there is when there is none.
---@param wanted integer|string
---@return table|nil test
---@return string|nil message
function tests.find(wanted)
  local column = by_column[wanted]
  local test = by_name[wanted] or by_name[tonumber(wanted)] or column and by_name[column.number]
  if test then return test end
  local hint = type(wanted) == "string" and nearest.hint(wanted, names) or ""
  return nil, ("there is no test '%s': they are 0 to 12, or %s%s"):format(tostring(wanted),
    table.concat(names, ", "), hint)
end

--- The column of an id.
---@param id string
---@return storlua.IozoneColumn
function tests.column(id) return by_column[id] end

--- The columns of the tests that were chosen, in the order of the table.
---@param chosen (integer|string)[]
---@param no_retest? boolean
---@return storlua.IozoneColumn[]
function tests.columns(chosen, no_retest)
  local wanted, columns = {}, {}
  for _, one in ipairs(chosen) do
    local test, message = tests.find(one)
    if not test then error(message, 3) end
    wanted[test.number] = true
  end
  for _, test in ipairs(TESTS) do
    for _, column in ipairs(wanted[test.number] and test.columns or {}) do
      if not (no_retest and column.again) then columns[#columns + 1] = column end
    end
  end
  return columns
end

--- True for columns that write.
---@param column storlua.IozoneColumn
---@return boolean
function tests.writes(column) return column.spec.operation ~= "read" end

return tests
