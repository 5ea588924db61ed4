-- SPDX-License-Identifier: MIT
--- Runs a matrix: one cell after another, each result an event before the next
--- begins. No cell is lost: planned = done + skipped, with reasons.

local estimate = require("storlua.iozone.estimate")
local format = require("storlua.report.format")
local legal = require("storlua.iozone.legal")
local loop = require("storlua.core.loop")
local place_of = require("storlua.iozone.place")
local plan_of = require("storlua.iozone.plan")
local quantity = require("storlua.quantity")
local results_of = require("storlua.iozone.results")
local task = require("storlua.task")

local iozone_run = {}

local SLOWEST_OPERATION_NS = 30000000000 -- longer is a stall, not a speed

local ESTIMATE_NS = 1000000000

local function labels_of(self, cell)
  return {
    column = cell.column.id, size_bytes = cell.size_bytes, record_bytes = cell.record_bytes,
    round = self.round, streams = cell.streams,
  }
end

-- What the display shows: where it is, and how much longer. Looking through all
-- cells that are left for each of them would be felt in a large matrix.
local function show(self, row, cell)
  local at, now_ns = self.matrix.rows[row], loop.now_ns()
  if now_ns - self.estimated_ns > ESTIMATE_NS then
    self.left = self.estimate:left(self.matrix.rows, row, cell)
    self.estimated_ns = now_ns
  end
  local left = self.left
  local column = at.cells[cell].column.id:gsub("_", " ")
  local time = left and "  ~" .. format.duration(math.floor(left * 1e9)) .. " left" or ""
  self.t:phase(("%d/%d  %s in %s, %s%s"):format(self.accounted + 1, self.matrix.cells,
    quantity.size_text(at.size_bytes), quantity.size_text(at.record_bytes), column, time))
end

local function skip(self, cell, reason)
  self.accounted = self.accounted + 1
  self.skipped[#self.skipped + 1] = { case_id = cell.case_id, reason = reason }
end

local function slowest_ns(result)
  local slowest = 0
  for _, name in ipairs { "read", "write" } do
    local latency = result[name] and result[name].latency
    slowest = math.max(slowest, latency and latency.max_ns or 0)
  end
  if result.flush then slowest = math.max(slowest, result.flush.latency.max_ns or 0) end
  return slowest
end

local function check_stall(self, cell, result)
  local ns = slowest_ns(result)
  if ns < SLOWEST_OPERATION_NS then return end
  self.t:check(cell.case_id .. ".stall", false, "one operation took %s", format.duration(ns))
end

-- A cell that is measured, and what that says about the file and the time.
local function measure(self, cell)
  self.place:before_test()
  local spec = self.content:spec_of(cell, self.options.stamp)
  local begin_ns, begin_cpu = loop.now_ns(), os.clock()
  local labels = labels_of(self, cell)
  self.running = cell
  -- one record over and over is no sequential write of a file
  local result = self.t:measure(cell.case_id, spec, {
    labels = labels, no_limits = cell.column.hot })
  local complete = result["end"] == "complete" and result.errors_total == 0
    and not (result.verify and result.verify.bad_sectors > 0)
  self.running, self.accounted = nil, self.accounted + 1
  self.estimate:add(cell, math.max(1, loop.now_ns() - begin_ns))
  self.content:done(cell, complete, result)
  plan_of.write_cpu(self, cell, begin_ns, begin_cpu)
  check_stall(self, cell, result)
  self.results:add { kind = "measure", case_id = cell.case_id, labels = labels, spec = spec,
                     result = result, verdict = complete and "pass" or "fail" }
  if result.verify and result.verify.bad_sectors > 0 then
    self.place:keep_as_evidence("bad sectors in " .. cell.case_id)
    self.results.is_evidence_kept = true
  end
  return complete, cell.case_id .. " failed"
end

-- Tests that read or rewrite need a whole file; where no test of the row wrote
-- it, it is written first, without being a result.
local function prepare(self, cell)
  if cell.column.new_file or self.place.reads_only then return true end
  if self.content.size_bytes == cell.size_bytes then return true end
  local writer = { case_id = cell.case_id:gsub("[^.]*$", "preparation"), column = { id = "" },
    size_bytes = cell.size_bytes, record_bytes = math.min(cell.size_bytes, 1 << 20), records = 1,
    spec = { path = self.options.path, operation = "write", order = "sequential",
             record_bytes = math.min(cell.size_bytes, 1 << 20), truncate = true,
             size_bytes = cell.size_bytes, flush = "end" } }
  for _, key in ipairs { "path", "paths", "streams" } do writer.spec[key] = cell.spec[key] end
  local spec = self.content:spec_of(writer, self.options.stamp)
  local result = self.t:measure(writer.case_id, spec, {
    labels = { preparation = true, round = self.round }, no_limits = true })
  local complete = result["end"] == "complete" and result.errors_total == 0
  self.content:done(writer, complete)
  return complete, writer.case_id .. " failed"
end

-- A failed cell ends the matrix, unless told to go on: then only its row.
local function run_row(self, at)
  local row = self.matrix.rows[at]
  -- more streams have more files: those that are new hold nothing yet
  if row.streams then self.content.size_bytes = 0 end
  for i, cell in ipairs(row.cells) do
    if self.stopped then
      skip(self, cell, self.stopped)
    else
      show(self, at, i)
      local ok, why = prepare(self, cell)
      if ok then ok, why = measure(self, cell) else skip(self, cell, why) end
      if not ok then self.stopped = "after the failure: " .. why end
    end
  end
  if self.stopped and self.options.keep_going then self.stopped = nil end
end

local function run_rows(self)
  for at, row in ipairs(self.matrix.rows) do
    if self.done_before[results_of.key(row)] then
      self.accounted = self.accounted + #row.cells
      self.taken_over = self.taken_over + #row.cells
    else
      run_row(self, at)
    end
    if self.on_row then self.on_row(row, self.results) end
  end
end

-- Whatever ends the matrix, the cells that were not measured are accounted for.
local function account(self)
  if self.running then skip(self, self.running, "it did not come to its end") end
  local index, accounted = 0, self.accounted
  for _, row in ipairs(self.matrix.rows) do
    for _, cell in ipairs(row.cells) do
      index = index + 1
      if index > accounted then
        skip(self, cell, "the run ended before")
      end
    end
  end
  plan_of.write_end(self)
end

--- Runs a matrix. A failed cell fails the run; what is left is then skipped.
---@async
---@param t storlua.Run
---@param matrix storlua.IozoneMatrix
---@param hooks table round (integer, for loops), on_plan(results), on_row(row, results)
---@return storlua.IozoneResults
function iozone_run.run(t, matrix, hooks)
  local self = {
    t = t, matrix = matrix, options = matrix.options, round = hooks.round, on_row = hooks.on_row,
    estimate = estimate.new(), content = legal.new(hooks.round), skipped = {}, accounted = 0,
    estimated_ns = loop.now_ns(),
    taken_over = 0, results = results_of.new(hooks.round),
  }
  self.place = place_of.open(t, matrix)
  local _ <close> = self.place
  self.done_before = plan_of.done_before(self)
  self.results:add { kind = "start", conditions = t.start.conditions, version = t.start.version,
                     board = t.start.board }
  plan_of.write(self)
  if hooks.on_plan then hooks.on_plan(self.results) end
  local _ <close> = task.defer(function() account(self) end)
  run_rows(self)
  return self.results
end

return iozone_run
