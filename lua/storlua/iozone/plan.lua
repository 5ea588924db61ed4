-- SPDX-License-Identifier: MIT
--- What a matrix announces before it starts and accounts for when it ends: the
--- events that reports stand on.

local event = require("storlua.event")
local format = require("storlua.report.format")
local fs = require("storlua.fs")
local loop = require("storlua.core.loop")
local reader = require("storlua.report.reader")
local results_of = require("storlua.iozone.results")

local plan = {}

local CASES_NAMED = 20 -- of each reason

-- Cells that are not run, summed up by their reason.
local function by_reason(skipped)
  local list, seen = event.list {}, {}
  for _, one in ipairs(skipped) do
    local sum = seen[one.reason]
    if not sum then
      sum = { reason = one.reason, cells = 0, case_ids = event.list {} }
      seen[one.reason] = sum
      list[#list + 1] = sum
    end
    sum.cells = sum.cells + 1
    if #sum.case_ids < CASES_NAMED then sum.case_ids[sum.cells] = one.case_id end
  end
  return list
end

--- The cache of the first processor, as the kernel tells it.
---@return integer|nil kib of the largest level
---@return integer|nil line_bytes
function plan.processor_cache()
  local largest, line
  for index = 0, 9 do
    local folder = ("/sys/devices/system/cpu/cpu0/cache/index%d/"):format(index)
    local size = fs.try_read(folder .. "size")
    if not size then break end
    local kib = math.tointeger(tonumber(size:match("^(%d+)K")))
    largest = kib and math.max(largest or 0, kib) or largest
    line = math.tointeger(tonumber(fs.try_read(folder .. "coherency_line_size") or "")) or line
  end
  return largest, line
end

local function bytes_prepared(self)
  return self.place.reads_only and 0 or self.matrix:prepared_bytes()
end

local function share_of_life(self)
  local rated = self.place.rated_write_bytes
  if not rated or rated == 0 then return nil end
  return (self.matrix.bytes_written + bytes_prepared(self)) / rated * 100
end

-- The plan in words: what people should know before it starts.
local function words(self)
  local m, list = self.matrix, event.list {}
  local prepared = bytes_prepared(self)
  list[1] = ("%d cells: %s will be written, %s read"):format(m.cells,
    format.bytes(m.bytes_written + prepared), format.bytes(m.bytes_read))
  if prepared > 0 then
    list[2] = ("%s of that makes the files of tests that no test writes before"):format(
      format.bytes(prepared))
  end
  local share = share_of_life(self)
  if share then
    list[#list + 1] = ("that is %s %% of the rated life of the medium"):format(
      format.number(share, share < 0.1 and 4 or 2))
  end
  for _, text in ipairs(m.said) do list[#list + 1] = text end
  for _, text in ipairs(self.options.said or {}) do list[#list + 1] = text end
  return list
end

local function rows_of(matrix)
  local rows = event.list {}
  for i, row in ipairs(matrix.rows) do
    local ids = event.list {}
    for j, cell in ipairs(row.cells) do ids[j] = cell.column.id end
    rows[i] = { size_bytes = row.size_bytes, record_bytes = row.record_bytes, columns = ids,
                streams = row.streams }
  end
  return rows
end

-- Sizes and records that have a row: a column of the matrices that is empty
-- all over says nothing.
local function in_use(matrix, list, key)
  local used, kept = {}, event.list {}
  for _, row in ipairs(matrix.rows) do used[row[key]] = true end
  for _, value in ipairs(list) do
    if used[value] then kept[#kept + 1] = value end
  end
  return kept
end

local function fields_of(self)
  local m, o = self.matrix, self.options
  local columns = event.list {}
  for i, column in ipairs(m.columns) do columns[i] = column.id end
  local cache_kib, line_bytes = plan.processor_cache()
  return {
    round = self.round, began = os.date("!%Y-%m-%d %H:%M:%S UTC"),
    command = o.command or event.null, path = table.concat(m:paths(), " "), unit = o.unit or "kb_s",
    include_flush = o.include_flush or false, include_close = o.include_close or false,
    queue_depth = o.queue_depth or 1, matrices = o.matrices or false,
    throughput = m.rows[1].streams ~= nil, show_streams = o.show_streams or false,
    columns = columns,
    rows = rows_of(m), sizes = in_use(m, m.sizes, "size_bytes"),
    records = in_use(m, m.records, "record_bytes"),
    cells = m.cells, bytes_written = m.bytes_written + bytes_prepared(self),
    bytes_read = m.bytes_read,
    skipped = by_reason(m.skipped), words = words(self),
    flags = event.list(o.flag_words or {}), stride = o.stride or 17,
    cache_kib = o.cache_kib or cache_kib or event.null,
    cache_line_bytes = o.cache_line_bytes or line_bytes or event.null,
    mount_options = self.place.mount and self.place.mount.options or event.null,
  }
end

--- Writes the plan, and has the results of this round begin with it.
---@async
---@param self table of storlua.iozone.run
function plan.write(self)
  local fields = fields_of(self)
  self.t:event("x_iozone_plan", fields)
  fields.kind = "x_iozone_plan"
  self.results:add(fields)
  for _, one in ipairs(self.earlier or {}) do self.results:add(one) end
end

--- The rows that an earlier part of a resumed run had finished.
---@param self table of storlua.iozone.run
---@return table<string, boolean>
function plan.done_before(self)
  local done = {}
  if not self.t.resume then return done end
  local cells, kept = {}, {}
  reader.read(self.t.run_dir, function(fields)
    local labels = type(fields.labels) == "table" and fields.labels or {}
    if fields.kind == "measure" and fields.verdict == "pass" and labels.round == self.round
      and labels.column then
      cells[fields.case_id] = true
      kept[#kept + 1] = fields
    end
  end)
  for _, row in ipairs(self.matrix.rows) do
    local whole = true
    for _, cell in ipairs(row.cells) do whole = whole and cells[cell.case_id] ~= nil end
    if whole then done[results_of.key(row)] = true end
  end
  self.earlier = {}
  for _, fields in ipairs(kept) do
    local labels = fields.labels
    if done[results_of.key(labels)] then
      self.earlier[#self.earlier + 1] = fields
    end
  end
  return done
end

--- How busy the processors were with a cell: all of it, filling and verifying
--- too. os.clock is the time of this process on them, not a duration.
---@async
---@param self table of storlua.iozone.run
---@param cell storlua.IozoneCell
---@param begin_ns integer
---@param begin_cpu number
function plan.write_cpu(self, cell, begin_ns, begin_cpu)
  if not self.options.cpu then return end
  local ns, cpu = loop.now_ns() - begin_ns, os.clock() - begin_cpu
  if ns <= 0 or cpu < 0 then return end -- the counter of a 32-bit machine wraps
  self.t:event("x_iozone_cpu", { case_id = cell.case_id, round = self.round,
    cpu_percent = cpu * 1e11 / ns, cpu_ns = math.floor(cpu * 1e9), elapsed_ns = ns })
end

--- Writes how it came out: planned = done + skipped.
---@async
---@param self table of storlua.iozone.run
function plan.write_end(self)
  local skipped = #self.skipped
  local fields = {
    round = self.round, planned = self.matrix.cells, done = self.matrix.cells - skipped,
    taken_over = self.taken_over, skipped_cells = skipped, skipped = by_reason(self.skipped),
  }
  self.t:event("x_iozone_end", fields)
  fields.kind = "x_iozone_end"
  self.results:add(fields)
end

return plan
