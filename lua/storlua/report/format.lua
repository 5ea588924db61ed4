-- SPDX-License-Identifier: MIT
--- Numbers and texts as reports show them, whatever the locale.

local event = require("storlua.event")
local quantity = require("storlua.quantity")

local format = {}

--- A number with a fixed count of decimals; "-" for none.
---@param x number|nil
---@param decimals? integer default 1
---@return string
function format.number(x, decimals)
  if type(x) ~= "number" then return "-" end
  return (("%." .. (decimals or 1) .. "f"):format(x):gsub(",", "."))
end

--- The beginning of a text in UTF-8: at most so many characters.
---@param s string
---@param characters integer
---@return string
function format.clip(s, characters)
  local stop = utf8.offset(s, math.max(characters, 0) + 1)
  return stop and s:sub(1, stop - 1) or s
end

--- Nanoseconds in the unit that reads best.
---@param ns integer|nil
---@return string
function format.ns(ns)
  if type(ns) ~= "number" then return "-" end
  if ns < 1000 then return ("%d ns"):format(math.floor(ns)) end
  if ns < 1000000 then return format.number(ns / 1e3, 1) .. " us" end
  if ns < 1000000000 then return format.number(ns / 1e6, 1) .. " ms" end
  return format.number(ns / 1e9, 2) .. " s"
end

--- A duration for people: "12.4 s", "5 min 03 s", "48 h 00 min".
---@param ns integer|nil
---@return string
function format.duration(ns)
  return type(ns) == "number" and quantity.duration_text(ns / 1e9) or "-"
end

--- Bytes with a decimal unit: "48.3 GB".
---@param bytes integer|nil
---@return string
function format.bytes(bytes)
  if type(bytes) ~= "number" then return "-" end
  local units = { "B", "kB", "MB", "GB", "TB", "PB" }
  local at, x = 1, bytes
  while x >= 1000 and at < #units do
    at, x = at + 1, x / 1000
  end
  return at == 1 and ("%d B"):format(x) or format.number(x, 1) .. " " .. units[at]
end

--- Text for one line of a terminal or log: UTF-8 without control characters.
---@param text any
---@return string
function format.line(text)
  return (event.clean(tostring(text)):gsub("%c", " "))
end

--- Rows as aligned columns; the first `left` columns to the left, the others
--- to the right.
---@param rows string[][]
---@param left? integer default 1
---@return string[] lines
function format.table(rows, left)
  local widths = {}
  for _, row in ipairs(rows) do
    for i, cell in ipairs(row) do
      widths[i] = math.max(widths[i] or 0, utf8.len(cell) or #cell)
    end
  end
  local lines = {}
  for at, row in ipairs(rows) do
    local cells = {}
    for i, cell in ipairs(row) do
      local gap = (" "):rep(widths[i] - (utf8.len(cell) or #cell))
      cells[i] = i <= (left or 1) and cell .. gap or gap .. cell
    end
    lines[at] = table.concat(cells, "  "):gsub("%s+$", "")
  end
  return lines
end

return format
