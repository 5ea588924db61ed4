-- SPDX-License-Identifier: MIT
--- The workbook of a matrix: a sheet for each test with sizes × records as
--- numbers, a colour scale and a chart, and one with the conditions.

local event = require("storlua.event")
local results_of = require("storlua.iozone.results")
local tests = require("storlua.iozone.tests")

local iozone_workbook = {}

local HEAD_ROW = 4 -- the record sizes; the file sizes follow below

local function known(value)
  if value == nil or value == event.null then return nil end
  return value
end

local function kib(bytes)
  return bytes % 1024 == 0 and bytes // 1024 or bytes / 1024
end

local function size_text(bytes)
  local units, at = { "B", "KiB", "MiB", "GiB", "TiB" }, 1
  while bytes >= 1024 and bytes % 1024 == 0 and at < #units do
    bytes, at = bytes // 1024, at + 1
  end
  return ("%d %s"):format(bytes, units[at])
end

local function value_cell(one)
  if not one then return false end
  if one.failed then return { "failed", "failed" } end
  if not one.value then return false end
  return one.cached and { one.value, "cached" } or one.value
end

local function sheet_rows(results, column)
  local plan = results.plan
  local rows = { { { column.title .. " report", "title" } },
    { "in " .. results_of.unit_text(plan) }, {} }
  local head = { { "file kB \\ record kB", "head" } }
  for _, record in ipairs(plan.records) do head[#head + 1] = { kib(record), "head" } end
  rows[HEAD_ROW] = head
  local cached = false
  for _, size in ipairs(plan.sizes) do
    local row = { { kib(size), "head" } }
    for _, record in ipairs(plan.records) do
      local one = results:at(size, record, column.id)
      cached = cached or one ~= nil and one.cached
      row[#row + 1] = value_cell(one)
    end
    rows[#rows + 1] = row
  end
  rows[#rows + 1] = {}
  rows[#rows + 1] = { cached and "Grey and slanted: cached. The number is that of the page cache, "
    .. "not of the medium." or "No number of this sheet is that of the page cache." }
  rows[#rows + 1] = { "An empty cell was not measured; the sheet \"conditions\" says why." }
  return rows
end

local function chart_of(results, column, row)
  local plan = results.plan
  local last = #plan.records + 1
  local series = {}
  for i, size in ipairs(plan.sizes) do
    series[i] = { name = size_text(size), area = { HEAD_ROW + i, 2, HEAD_ROW + i, last } }
  end
  return {
    title = column.title .. ", a line for each file size", x = "record size in kB",
    y = plan.unit == "kb_s" and "kB/s" or results_of.unit_text(plan), row = row, column = 1,
    x_min = kib(plan.records[1]), x_max = kib(math.max(plan.records[#plan.records],
      2 * plan.records[1])),
    records = { HEAD_ROW, 2, HEAD_ROW, last }, series = series,
  }
end

local function test_sheet(results, column)
  local plan = results.plan
  local rows = sheet_rows(results, column)
  local last = #plan.records + 1
  return {
    name = column.id, rows = rows, columns = last, widths = { 20 },
    scale = { HEAD_ROW + 1, 2, HEAD_ROW + #plan.sizes, last },
    chart = chart_of(results, column, #rows + 2),
  }
end

local function streams_sheet(results)
  local rows = { { { "Throughput report", "title" } },
    { "in " .. results_of.unit_text(results.plan) }, {} }
  local head = { "test", "streams", "children see", "parent sees", "while all were at work", "min",
                 "max", "avg", "min xfer kB" }
  rows[HEAD_ROW] = {}
  for i, name in ipairs(head) do rows[HEAD_ROW][i] = { name, "head" } end
  for _, one in ipairs(require("storlua.iozone.streams").rows(results)) do
    local s, row = one[3], { one[1], one[2] }
    for i, key in ipairs { "children", "parent", "together", "min", "max", "mean", "min_kb" } do
      local value = s[key] or false
      if one[5] then value = { "failed", "failed" } end
      row[i + 2] = value and one[4] and not one[5] and { value, "cached" } or value
    end
    rows[#rows + 1] = row
  end
  rows[#rows + 1] = {}
  rows[#rows + 1] = { "Grey and slanted: cached. The number is that of the page cache." }
  return { name = "throughput", rows = rows, columns = #head, widths = { 24, 9, 18, 18, 22 } }
end

local function device_text(conditions)
  local identity = known(conditions.device_identity) or {}
  local parts = { known(conditions.device) or "?" }
  for _, name in ipairs { "vendor", "model", "firmware" } do
    parts[#parts + 1] = known(identity[name])
  end
  return table.concat(parts, ", ")
end

local function conditions_sheet(results)
  local plan, start = results.plan, results.start or {}
  local conditions, rows = known(start.conditions) or {}, {}
  local function add(name, value)
    value = known(value)
    if value ~= nil then
      local text = math.type(value) == "integer" and value or tostring(value)
      rows[#rows + 1] = { { name, "head" }, text }
    end
  end
  rows[1] = { { "Conditions", "title" } }
  add("command", known(plan.command) and "iozone " .. plan.command)
  add("file under test", plan.path)
  add("round", plan.round)
  add("began", plan.began)
  add("storlua", start.version)
  add("kernel", conditions.kernel)
  add("machine", conditions.model or conditions.machine)
  add("board", start.board)
  add("device", device_text(conditions))
  add("file system", conditions.filesystem)
  add("mount options", conditions.mount_options or plan.mount_options)
  add("write cache", conditions.write_cache)
  add("what a flush means here", conditions.sync_meaning)
  add("governor", conditions.governor)
  add("processor cache (kB)", plan.cache_kib)
  add("cache line (bytes)", plan.cache_line_bytes)
  for _, text in ipairs(plan.flags) do add("flag", text) end
  for _, text in ipairs(plan.words) do add("plan", text) end
  for _, one in ipairs(plan.skipped) do
    add("not run", ("%d combinations: %s"):format(one.cells, one.reason))
  end
  local ended = results.ended
  add("cells planned", plan.cells)
  add("cells done", ended and ended.done or results.measured)
  for _, one in ipairs(ended and ended.skipped or {}) do
    add("skipped", ("%d cells: %s"):format(one.cells, one.reason))
  end
  if not ended then add("state", "the run goes on or was cut off: these are the cells so far") end
  return { name = "conditions", rows = rows, columns = 2, widths = { 26, 100 } }
end

--- The sheets, for storlua.workbook.write.
---@param results storlua.IozoneResults
---@return table book
function iozone_workbook.book(results)
  local sheets = {}
  if results.plan.throughput then sheets[1] = streams_sheet(results) end
  for _, id in ipairs(results.plan.throughput and {} or results.plan.columns) do
    local column = tests.column(id)
    if results:has_column(id) then sheets[#sheets + 1] = test_sheet(results, column) end
  end
  sheets[#sheets + 1] = conditions_sheet(results)
  return { sheets = sheets }
end

return iozone_workbook
