-- SPDX-License-Identifier: MIT
--- Numbers of an iozone command line: strict, and a refusal says what iozone
--- itself would have made of the text.

local errors = require("storlua.errors")
local quantity = require("storlua.quantity")

local words = {}

local FACTORS = { k = 1024, m = 1 << 20, g = 1 << 30 }

--- Raises wrong usage.
---@param format string
function words.usage(format, ...) errors.raise("USAGE", format, ...) end

-- iozone looks at the last letter only and takes the leading digits.
local function iozone_reads(text)
  local digits = math.tointeger(tonumber(text:match("^%s*[+-]?%d+") or "0"))
  local unit = text:sub(-1):lower()
  local kib = digits * (FACTORS[unit] or 1024) // 1024
  if kib == 0 then return "its default" end
  return ("%d kB"):format(kib)
end

--- A size: digits and k, m or g; a bare number is KiB. Returns bytes.
---@param name string the flag, for messages
---@param text string
---@return integer
function words.size(name, text)
  local digits, unit = text:match("^(%d+)([kKmMgG]?)$")
  local value = digits and math.tointeger(tonumber(digits))
  local factor = unit and FACTORS[unit == "" and "k" or unit:lower()]
  if value and value > 0 and value <= math.maxinteger // factor // 2 then return value * factor end
  if text:find("^%-") then
    words.usage("%s: needs a size, not the flag '%s'", name, text)
  end
  words.usage("%s: '%s' is no size: digits and k, m or g, a bare number is kB (iozone would have "
    .. "taken it for %s)", name, text, iozone_reads(text))
end

--- A size of a long option: as everywhere in storlua, a bare number is bytes.
---@param name string
---@param text string
---@return integer
function words.plain_size(name, text)
  local value, why = quantity.parse("size", text)
  if not value or value < 1 then
    words.usage("%s: '%s': %s", name, text, why or "a size is above 0")
  end
  return value
end

--- A count of 1 or more.
---@param name string
---@param text string
---@return integer
function words.count(name, text)
  local value = text:match("^%d+$") and math.tointeger(tonumber(text))
  if value and value > 0 and value < 1 << 31 then return value end
  words.usage("%s: '%s' is no count of 1 or more", name, text)
end

--- Words of a command line as a shell would take them back.
---@param argv string[]
---@return string
function words.join(argv)
  local parts = {}
  for i, word in ipairs(argv) do
    parts[i] = word:find("^[%w%-_=+./:,@%%]+$") and word
      or "'" .. word:gsub("'", "'\\''") .. "'"
  end
  return table.concat(parts, " ")
end

return words
