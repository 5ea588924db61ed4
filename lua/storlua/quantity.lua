-- SPDX-License-Identifier: MIT
--- Sizes, durations, counts and rates as people write them: `64M`, `4kB`,
--- `30m`, `10MB/s`. See core/base/quantity.h for the table of units.

local core = require("storlua.core.quantity")

local quantity = {}

local NS = 1000000000

---@alias storlua.QuantityKind "size"|"duration"|"count"|"rate"

--- Parses `text`: bytes, seconds, pieces or bytes per second. Seconds are an
--- integer when they are whole.
---@param kind storlua.QuantityKind
---@param text string
---@return number|nil value
---@return string|nil why what is wrong with the text
function quantity.parse(kind, text)
  local value, why = core.parse(kind, text)
  if not value then return nil, why end
  if kind ~= "duration" then return value end
  return value % NS == 0 and value // NS or value / NS
end

--- The value in words: "64 MiB", "30m 00s", "12", "10 MiB/s".
---@param kind storlua.QuantityKind
---@param value number what quantity.parse returns
---@return string
function quantity.text(kind, value)
  if kind == "size" then return core.size_text(value) end
  if kind == "rate" then return core.size_text(value) .. "/s" end
  if kind == "count" then return ("%d"):format(value) end
  return core.duration_text(math.floor(value * NS + 0.5))
end

return quantity
