-- SPDX-License-Identifier: MIT
--- Workbooks (.xlsx). The writer is a C module of its own, loaded on use: the
--- library behind it would double the time to start.

local fs = require("storlua.fs")

local workbook = {}

local MODULE = "storlua_xlsx"

-- Beside the program, or where it was installed.
local function places()
  local program = fs.try_readlink("/proc/self/exe") or ""
  local folder = program:match("^(.*)/[^/]*$") or "."
  local above = folder:match("^(.*)/[^/]*$") or ""
  local list = { folder .. "/" .. MODULE .. ".so" }
  local libs = { "lib", "lib64" }
  for _, name in ipairs(fs.try_list(above .. "/lib") or {}) do libs[#libs + 1] = "lib/" .. name end
  for _, lib in ipairs(libs) do
    list[#list + 1] = ("%s/%s/storlua/%s.so"):format(above, lib, MODULE)
  end
  return list
end

local writer, reason
local function load()
  if writer or reason then return end
  for _, path in ipairs(places()) do
    if fs.try_exists(path) then
      local open, message = package.loadlib(path, "luaopen_" .. MODULE)
      if open then
        writer = open()
        return
      end
      reason = "the module for workbooks does not load: " .. tostring(message)
    end
  end
  reason = reason or "this build cannot write workbooks (storlua_xlsx.so is not beside it)"
end

--- True when workbooks can be written here, else false and why not.
---@return boolean
---@return string|nil
function workbook.available()
  load()
  return writer ~= nil, reason
end

--- Writes a workbook; raises when that is not possible.
---@param path string
---@param book table sheets, each {name, rows, widths, scale, chart}
function workbook.write(path, book)
  load()
  if not writer then require("storlua.errors").raise("ENOTSUP", "%s", reason) end
  local ok, message = writer.write(path, book)
  if not ok then require("storlua.errors").raise("EIO", "%s: %s", path, message) end
end

return workbook
