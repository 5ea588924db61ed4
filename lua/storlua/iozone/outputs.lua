-- SPDX-License-Identifier: MIT
--- The outputs that a command line of iozone asks for, as reports of the run.

local preflight = require("storlua.iozone.preflight")

local outputs = {}

--- The name of a workbook: always .xlsx, for that is what it is.
---@param name string
---@return string
function outputs.workbook_name(name)
  if name:lower():find("%.xlsx$") then return name end
  return (name:gsub("%.[xX][lL][sS]$", "")) .. ".xlsx"
end

--- The reports of these options: the table on stdout, and files.
---@param opt table
---@return table[]
function outputs.reports(opt)
  local list = { { format = "iozone" } }
  if opt.workbook and require("storlua.workbook").available() then
    list[#list + 1] = { format = "xlsx", file = outputs.workbook_name(opt.workbook) }
  end
  if opt.csv then list[#list + 1] = { format = "csv", file = opt.csv } end
  return list
end

--- Finds before the run what could not be written after it, and says what the
--- files will be called.
---@async
---@param t storlua.Run
---@param opt table
function outputs.check(t, opt)
  if opt.csv then preflight.check_output(opt.csv) end
  if not opt.workbook then return end
  local name = outputs.workbook_name(opt.workbook)
  local available, why = require("storlua.workbook").available()
  if not available then
    t:note("workbook", ("%s; on a host that can: storlua report %s --to xlsx --output %s"):format(
      why, t.run_dir, name))
    return
  end
  preflight.check_output(name)
  if name ~= opt.workbook then
    t:note("workbook", ("%s is written as %s: it is an Office Open XML workbook"):format(
      opt.workbook, name))
  end
end

return outputs
