-- SPDX-License-Identifier: MIT
--- The table of a matrix, row by row, live or later. Live it also shows where
--- the run is, and the verdict at the end.

local closing = require("storlua.report.closing")
local iozone_streams = require("storlua.iozone.streams")
local iozone_table = require("storlua.iozone.table")
local live = require("storlua.report.live")
local reader = require("storlua.report.reader")
local results_of = require("storlua.iozone.results")
local tests = require("storlua.iozone.tests")

local report = {}

local function put_lines(write, lines)
  for _, line in ipairs(lines) do write(line .. "\n") end
end

-- The row of this size and record has all the cells that it will have.
local function is_whole(results, labels)
  for _, row in ipairs(results.plan.rows) do
    if results_of.key(row) == results_of.key(labels) then
      for _, id in ipairs(row.columns) do
        if not results:at(row.size_bytes, row.record_bytes, id, row.streams) then return false end
      end
      return true
    end
  end
  return false
end

local Table = {}
Table.__index = Table

local function put_row(self, row)
  local key = results_of.key(row)
  if self.shown[key] then return end
  self.shown[key] = true
  put_lines(self.write, { iozone_table.row(self.results, row.size_bytes, row.record_bytes) })
end

-- In throughput mode each phase has lines of its own.
local function put_phase(self, row, id)
  local one = self.results:at(row.size_bytes, row.record_bytes, id, row.streams)
  local key = results_of.key(row) .. " " .. id
  if not one or self.shown[key] then return end
  self.shown[key] = true
  put_lines(self.write, iozone_streams.phase(self.results.plan, tests.column(id), row.streams, one))
end

-- Rows that are known already: all of them at the end, whole ones before.
local function put_known(self, whole)
  local results = self.results
  for _, row in ipairs(results.plan.rows) do
    if results.plan.throughput then
      for _, id in ipairs(row.columns) do put_phase(self, row, id) end
    elseif results.values[results_of.key(row)] and (not whole or is_whole(results, row)) then
      put_row(self, row)
    end
  end
end

--- Rows that ended early, and what stands under the table.
function Table:close()
  local results = self.results
  if not results.plan or not self.open then return end
  put_known(self, false)
  self.write("\n")
  put_lines(self.write, iozone_table.legend(results))
  if results.plan.throughput then
    put_lines(self.write, iozone_streams.matrix(results))
  elseif results.plan.matrices then
    put_lines(self.write, iozone_table.matrices(results))
  end
  self.open = false
end

local function open_table(self, plan)
  self:close()
  self.shown, self.open = {}, true
  if plan.round then self.write(("loop_test: %d\n"):format(plan.round)) end
  put_lines(self.write, iozone_table.header(self.results))
  if not plan.throughput then put_lines(self.write, iozone_table.head(plan)) end
  -- what an earlier part of the run has measured
  put_known(self, true)
end

function Table:event(fields)
  if fields.continued then return end
  if fields.kind == "x_iozone_plan" then
    local going_on = self.open and self.results.plan.round == fields.round
    if not going_on then self:close() end
    self.results:add(fields)
    if not going_on then open_table(self, fields) end
    return
  end
  local what, labels, column = self.results:add(fields)
  if what == "cell" and self.results.plan.throughput then
    put_phase(self, labels, column.id)
  elseif what == "cell" and is_whole(self.results, labels) then
    put_row(self, labels)
  end
  if fields.kind == "x_iozone_end" then self:close() end
  if fields.kind == "x_loop" then self.write(fields.text .. "\n") end
end

function Table:finish()
  self:close()
  if not self.results.plan then closing.refuse("no matrix of iozone") end
end

--- What the earlier parts of a run that goes on have measured.
---@param directory string
function Table:take_over(directory)
  reader.read(directory, function(fields)
    if fields.kind ~= "x_iozone_end" then self.results:add(fields) end
  end)
end

local function new_table(write)
  return setmetatable({ write = write, results = results_of.new(), shown = {} }, Table)
end

-- Beside the table the live display goes on: failures, the line of progress,
-- the verdict.
local function new_live(write, options)
  local display = live.new { run_dir = options.run_dir, write = write, quiet = options.quiet }
  local rows = new_table(function(text) display:put(text) end)
  local show, finish = display.event, display.finish
  function display.event(self, fields, line)
    if fields.kind == "start" and fields.resumed then rows:take_over(options.run_dir) end
    if fields.kind == "measure" and fields.verdict ~= "fail" then
      self.model:add(fields)
    else
      show(self, fields, line)
    end
    rows:event(fields)
  end
  function display.finish(self, state)
    rows:close()
    -- the table has the numbers already
    self.model.cases = {}
    finish(self, state)
  end
  return display
end

---@param write fun(text: string)
---@param options table run_dir, live
---@return table reporter
function report.new(write, options)
  if options.live then return new_live(write, options) end
  return new_table(write)
end

return report
