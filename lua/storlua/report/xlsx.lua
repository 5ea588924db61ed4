-- SPDX-License-Identifier: MIT
--- A workbook (.xlsx) of the matrix of a run.

local closing = require("storlua.report.closing")
local fs = require("storlua.fs")
local iozone_workbook = require("storlua.iozone.workbook")
local results_of = require("storlua.iozone.results")
local errors = require("storlua.errors")
local workbook = require("storlua.workbook")

local report = {}

--- The bytes of a workbook.
---@param results storlua.IozoneResults
---@return string
function report.bytes(results)
  local folder <close> = fs.temp_dir()
  local path = folder.path .. "/book.xlsx"
  workbook.write(path, iozone_workbook.book(results))
  return fs.read(path)
end

---@param write fun(text: string)
---@return table reporter
function report.new(write)
  local available, why = workbook.available()
  if not available then
    errors.raise("USAGE", "xlsx: %s; on a host that can: storlua report RUN_DIR --to xlsx "
      .. "--output FILE.xlsx", why)
  end
  local results = results_of.new()
  return {
    event = function(_, fields) results:add(fields) end,
    earlier = function(_, fields) results:add(fields) end,
    finish = function()
      if not results.plan then closing.refuse("no matrix of iozone") end
      write(report.bytes(results))
    end,
  }
end

return report
