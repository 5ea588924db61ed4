-- SPDX-License-Identifier: MIT
--- The texts of error values, for storlua.failure.

local failure = require("storlua.failure")

local failure_text = {}

local function show(value, depth)
  if type(value) == "string" and depth > 0 then return ("%q"):format(value) end
  if type(value) ~= "table" or depth > 2 then return tostring(value) end
  local keys, parts = {}, {}
  for key in pairs(value) do keys[#keys + 1] = key end
  table.sort(keys, function(a, b) return tostring(a) < tostring(b) end)
  for i = 1, math.min(#keys, 20) do
    local key = keys[i]
    local name = type(key) == "number" and "" or tostring(key) .. " = "
    parts[i] = name .. show(value[key], depth + 1)
  end
  if #keys > 20 then parts[#parts + 1] = "…" end
  return "{" .. table.concat(parts, ", ") .. "}"
end

--- One text for any error value; a table without __tostring is shown.
---@return string
function failure_text.text(err)
  local meta = getmetatable(err)
  if type(err) == "table" and not (type(meta) == "table" and meta.__tostring) then
    return show(err, 0)
  end
  local ok, text = pcall(tostring, err)
  return ok and text or "an error whose __tostring raises"
end

--- The text with the place in the script in front, and the traceback under it.
---@return string
function failure_text.report(err)
  local text, traceback = failure_text.text(err), failure.traceback(err)
  if not traceback or traceback == "" then return text end
  local place = traceback:match("^%s*([^\n]-:%d+):")
  if place and not text:match("^[^\n]-:%d+:") then text = place .. ": " .. text end
  return text .. "\nstack traceback:\n" .. traceback
end

return failure_text
