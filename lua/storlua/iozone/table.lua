-- SPDX-License-Identifier: MIT
--- The familiar table and the text matrices of a matrix. A number of the page
--- cache has a * behind it; each column ends where it always has.

local event = require("storlua.event")
local results_of = require("storlua.iozone.results")
local tests = require("storlua.iozone.tests")

local iozone_table = {}

local function known(value)
  if value == event.null then return nil end
  return value
end

-- The usual columns are always there, so that each stays in its place.
local function columns_of(plan)
  local list, seen = {}, {}
  for _, column in ipairs(tests.columns(tests.usual)) do
    list[#list + 1], seen[column.id] = column, true
  end
  for _, id in ipairs(plan.columns) do
    if not seen[id] then list[#list + 1] = tests.column(id) end
  end
  return list
end

--- The lines before the table.
---@param results storlua.IozoneResults
---@return string[]
function iozone_table.header(results)
  local plan = results.plan
  local conditions = results.start and known(results.start.conditions) or {}
  local lines = { "" }
  local function add(format, ...) lines[#lines + 1] = "\t" .. format:format(...) end
  add("Storlua: performance of file I/O, the tests of iozone")
  if conditions.kernel then
    add("Kernel %s, %s; on %s%s", conditions.kernel, conditions.machine or "?",
      conditions.device or "?",
      conditions.filesystem and ", " .. conditions.filesystem or "")
  end
  add("Run began: %s", plan.began)
  lines[#lines + 1] = ""
  for _, text in ipairs(plan.flags) do add("%s", text) end
  for _, text in ipairs(plan.words) do add("%s", text) end
  for _, one in ipairs(plan.skipped) do
    add("%d combinations are not run: %s", one.cells, one.reason)
  end
  if known(plan.command) then add("Command line used: iozone %s", plan.command) end
  add("Output is in %s", results_of.unit_text(plan))
  if known(plan.cache_kib) then add("Processor cache size %d kBytes", plan.cache_kib) end
  if known(plan.cache_line_bytes) then
    add("Processor cache line size %d bytes", plan.cache_line_bytes)
  end
  add("File stride size %d * record size", plan.stride)
  return lines
end

--- The two lines over the columns.
---@param plan table
---@return string[]
function iozone_table.head(plan)
  local first, second = { (" "):rep(24) }, { ("%16s%8s"):format("kB", "reclen") }
  for i, column in ipairs(columns_of(plan)) do
    local format = "%" .. column.width .. "s"
    first[i + 1] = format:format(column.head[1])
    second[i + 1] = format:format(column.head[2])
  end
  return { (table.concat(first):gsub("%s+$", "")), table.concat(second) }
end

local function number_text(value)
  if math.type(value) == "integer" then return ("%d"):format(value) end
  return (("%.2f"):format(value):gsub(",", "."))
end

--- The text of a cell: "" when it is not there, "FAIL", or a number; * marks
--- the page cache.
---@param one? storlua.IozoneValue
---@return string text
---@return string mark
function iozone_table.cell(one)
  if not one then return "", "" end
  if one.failed then return "FAIL", "" end
  if not one.value then return "-", "" end
  return number_text(one.value), one.cached and "*" or ""
end

-- 4, or 0.5 for half a KiB.
local function kib_text(bytes)
  if bytes % 1024 == 0 then return ("%d"):format(bytes // 1024) end
  return (("%.1f"):format(bytes / 1024):gsub(",", "."))
end

--- The line of one size and record.
---@param results storlua.IozoneResults
---@param size_bytes integer
---@param record_bytes integer
---@return string
function iozone_table.row(results, size_bytes, record_bytes)
  local parts = { ("%16s%8s"):format(kib_text(size_bytes), kib_text(record_bytes)) }
  local mark = ""
  for _, column in ipairs(columns_of(results.plan)) do
    local text, this = iozone_table.cell(results:at(size_bytes, record_bytes, column.id))
    -- numbers never touch, however long they are
    local gap = math.max(#text > 0 and 1 or 0, column.width - #mark - #text)
    parts[#parts + 1] = mark .. (" "):rep(gap) .. text
    mark = this
  end
  return ((table.concat(parts) .. mark):gsub("%s+$", ""))
end

--- What stands under the table.
---@param results storlua.IozoneResults
---@return string[]
function iozone_table.legend(results)
  local lines = {}
  if results:has_cached() then
    lines[1] = "* cached: the number is that of the page cache, not of the medium (stdio, reads "
      .. "that were not cold, buffered writes without their flush)"
  end
  if results.notes.ram_backed then
    lines[#lines + 1] = "The file lay in memory: no medium was measured."
  end
  local ended = results.ended
  if ended then
    lines[#lines + 1] = ("%d cells planned, %d done, %d skipped"):format(ended.planned, ended.done,
      ended.skipped_cells)
    for _, one in ipairs(ended.skipped) do
      lines[#lines + 1] = ("  %d skipped: %s"):format(one.cells, one.reason)
    end
  elseif results.plan then
    lines[#lines + 1] = ("%d cells planned, %d known so far"):format(results.plan.cells,
      results.measured)
  end
  return lines
end

local function add_matrix(lines, results, column)
  local plan = results.plan
  lines[#lines + 1] = ""
  lines[#lines + 1] = ("\"%s report\" (%s)"):format(column.title, results_of.unit_text(plan))
  local head = { (" "):rep(10) }
  for _, record in ipairs(plan.records) do
    head[#head + 1] = ("%12s"):format("\"" .. kib_text(record) .. "\"")
  end
  lines[#lines + 1] = table.concat(head)
  for _, size in ipairs(plan.sizes) do
    local row = { ("%-10s"):format("\"" .. kib_text(size) .. "\"") }
    for _, record in ipairs(plan.records) do
      local text, mark = iozone_table.cell(results:at(size, record, column.id))
      row[#row + 1] = ("%12s"):format(text == "" and "-" or text .. mark)
    end
    lines[#lines + 1] = table.concat(row)
  end
end

--- A matrix for each column that was measured: file sizes down, record sizes
--- across, in kB.
---@param results storlua.IozoneResults
---@return string[]
function iozone_table.matrices(results)
  local lines = {}
  for _, id in ipairs(results.plan.columns) do
    if results:has_column(id) then add_matrix(lines, results, tests.column(id)) end
  end
  return lines
end

--- All values, one line for each size and record; the last cell names the
--- columns whose number is that of the page cache.
---@param results storlua.IozoneResults
---@return string
function iozone_table.csv(results)
  local plan = results.plan
  local lines = { "kB,reclen," .. table.concat(plan.columns, ",") .. ",cached" }
  for _, row in ipairs(plan.rows) do
    local cells, cached = { kib_text(row.size_bytes), kib_text(row.record_bytes) }, {}
    for _, id in ipairs(plan.columns) do
      local one = results:at(row.size_bytes, row.record_bytes, id)
      cells[#cells + 1] = (iozone_table.cell(one))
      if one and one.cached then cached[#cached + 1] = id end
    end
    lines[#lines + 1] = table.concat(cells, ",") .. "," .. table.concat(cached, " ")
  end
  return table.concat(lines, "\r\n") .. "\r\n"
end

return iozone_table
