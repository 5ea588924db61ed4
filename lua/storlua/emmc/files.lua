-- SPDX-License-Identifier: MIT
--- What the loops of an eMMC test leave behind: a log that grows line by line,
--- and one file of results for each loop.

local fs = require("storlua.fs")
local iozone_table = require("storlua.iozone.table")
local iozone_workbook = require("storlua.iozone.workbook")
local workbook = require("storlua.workbook")
local errors = require("storlua.errors")

local emmc_files = {}

---@class storlua.EmmcFiles
local Files = {}
Files.__index = Files
Files.__name = "storlua.EmmcFiles"

--- Makes the folder and opens the log; an earlier one of the same name goes on.
---@param t storlua.Run
---@param dir string
---@param name string "stability"
---@return storlua.EmmcFiles
function emmc_files.open(t, dir, name)
  local self = setmetatable({ t = t, base = dir .. "/test_iozone_emmc_" .. name }, Files)
  self.made_dir = not fs.exists(dir) and dir
  fs.mkdirs(dir)
  self.is_untouched = not fs.exists(self.base .. ".log")
  local log, message = io.open(self.base .. ".log", "a")
  if not log then errors.raise("USAGE", "%s", message) end
  self.log = log
  return self
end

--- A line of the log. A log that cannot be written is a failure of the test
--- once, and does not end it: the events are the record.
---@param text string
function Files:line(text)
  local ok, message = self.log:write(text, "\n")
  if ok then ok, message = self.log:flush() end
  if not ok and not self.broken then
    self.broken = true
    self.t:check("log", false, "%s.log cannot be written: %s", self.base, message)
  end
end

--- A line of the log and of the display.
---@async
---@param text string
function Files:say(text)
  self:line(text)
  self.t:event("x_loop", { text = text })
end

---@param results storlua.IozoneResults
function Files:plan(results)
  for _, line in ipairs(iozone_table.header(results)) do self:line(line) end
  for _, line in ipairs(iozone_table.head(results.plan)) do self:line(line) end
end

---@param row storlua.IozoneRow
---@param results storlua.IozoneResults
function Files:row(row, results)
  self.is_untouched = false
  self:line(iozone_table.row(results, row.size_bytes, row.record_bytes))
end

--- The results of one loop: a workbook, or a table of commas where workbooks
--- cannot be written.
---@async
---@param round integer
---@param results storlua.IozoneResults
function Files:results(round, results)
  for _, line in ipairs(iozone_table.legend(results)) do self:line(line) end
  local path = ("%s_%d"):format(self.base, round)
  local ok, err
  if workbook.available() then
    ok, err = errors.try(function()
      workbook.write(path .. ".xlsx", iozone_workbook.book(results))
      return true
    end)
  else
    ok, err = fs.try_write_atomic(path .. ".csv", iozone_table.csv(results))
  end
  self.t:check("result_file", ok, "loop %d: %s", round, err and err.message or "")
end

-- Bad input that the first loop found: nothing is left.
function Files:__close(err)
  self.log:close()
  if not (self.is_untouched and errors.is(err) and err.code == "USAGE") then return end
  fs.try_remove(self.base .. ".log")
  if self.made_dir then fs.try_remove(self.made_dir) end
end

return emmc_files
