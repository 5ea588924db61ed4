-- SPDX-License-Identifier: MIT
--- The types of options: how a text or a Lua value becomes the value of an
--- option, and how that is shown in help.

local quantity = require("storlua.quantity")
local nearest = require("storlua.nearest")

local option_types = {}

local QUANTITIES = { size = true, duration = true, count = true, rate = true, number = true }
local NAMES = {
  "size", "duration", "count", "rate", "number", "string", "flag", "choice", "list",
}

--- Makes a text of the user fit to stand in a one-line message.
---@param text any
---@return string
function option_types.quote(text)
  local shown = tostring(text):gsub("%c", function(c) return ("\\x%02x"):format(c:byte()) end)
  return "'" .. shown .. "'"
end
local quote = option_types.quote

--- The names of all types, for messages.
---@return string[]
function option_types.names() return NAMES end

---@return boolean whether the type is a number with min and max
function option_types.is_quantity(kind) return QUANTITIES[kind] ~= nil end

-- A Lua number that stands for a quantity: in an option declaration or file.
local function quantity_from_number(kind, value)
  if kind == "duration" or kind == "number" then
    if value == value and value >= 0 and value < 9e9 then return value end
    return nil, "must be a number from 0 to 9000000000"
  end
  local whole = math.tointeger(value)
  if whole and whole >= 0 then return whole end
  return nil, "must be a whole number, 0 or more"
end

-- Digits and a point, in every locale: no signs, exponents, hexadecimals.
local function parse_number(text)
  local whole, fraction = text:match("^(%d+)(%.?%d*)$")
  if not whole or fraction == "." then return nil, "must be a number such as 48 or 0.5" end
  local value = math.tointeger(whole)
  if value and fraction ~= "" then
    value = value + tonumber(fraction:sub(2)) / 10 ^ (#fraction - 1)
  end
  return quantity_from_number("number", value or math.huge)
end

local function parse_quantity(option, value)
  if type(value) == "number" then return quantity_from_number(option.type, value) end
  if type(value) ~= "string" then return nil, "must be a text or a number" end
  if option.type == "number" then return parse_number(value) end
  return quantity.parse(option.type, value)
end

-- Zero is of use only where the declaration says so; for counts it always is.
local function lower_bound(option)
  if option.min ~= nil then return parse_quantity(option, option.min) end
  return option.type == "count" and 0 or nil
end

local function bound_text(option, bound)
  if type(bound) == "string" then return bound end
  if option.type == "number" then return (("%.14g"):format(bound):gsub(",", ".")) end
  return quantity.text(option.type, bound)
end

local function check_bounds(option, value)
  local min = lower_bound(option)
  local max = option.max ~= nil and parse_quantity(option, option.max)
  if not min and value == 0 then return nil, "must be more than 0" end
  if min and value < min then
    return nil, "must be at least " .. bound_text(option, option.min or min)
  end
  if max and value > max then return nil, "must be at most " .. bound_text(option, option.max) end
  return value
end

local function check_choice(option, value)
  if type(value) ~= "string" then return nil, "must be a text" end
  if option.path and value == "" then return nil, "must not be empty: a path is needed" end
  for _, choice in ipairs(option.choices or { value }) do
    if choice == value then return value end
  end
  return nil, "is none of " .. table.concat(option.choices, ", ")
    .. nearest.hint(value, option.choices)
end

local function check_list(option, value)
  if type(value) ~= "table" then return nil, "must be a list of texts" end
  local copy = {}
  for i, element in ipairs(value) do
    local checked, why = check_choice(option, element)
    if not checked then return nil, ("%s %s"):format(quote(element), why) end
    copy[i] = checked
  end
  for key in pairs(value) do
    if math.type(key) ~= "integer" or key < 1 or key > #copy then
      return nil, "must be a list of texts"
    end
  end
  return copy
end

--- Turns a text from the command line, or a Lua value from a declaration or an
--- options file, into the value of the option.
---@param option storlua.Option
---@param value any
---@return any|nil checked
---@return string|nil why begins after "'value' "
function option_types.check(option, value)
  local kind = option.type
  if QUANTITIES[kind] then
    local number, why = parse_quantity(option, value)
    if not number then return nil, why end
    return check_bounds(option, number)
  end
  if kind == "flag" then
    if type(value) == "boolean" then return value end
    return nil, "must be true or false"
  end
  if kind == "list" then return check_list(option, value) end
  return check_choice(option, value)
end

--- What stands for the value in help: "SIZE", or the option's own metavar.
---@param option storlua.Option
---@return string|nil nil for a flag
function option_types.metavar(option)
  if option.type == "flag" then return nil end
  if option.metavar then return option.metavar end
  if option.type == "string" or option.type == "list" then return "TEXT" end
  if option.type == "choice" then return table.concat(option.choices, "|") end
  return option.type:upper()
end

--- Range and default in words: "at least 4k; default 64M".
---@param option storlua.Option
---@return string
function option_types.facts(option)
  local facts = {}
  local has_min = option.min ~= nil and parse_quantity(option, option.min) ~= 0
  local min = has_min and bound_text(option, option.min)
  local max = option.max ~= nil and bound_text(option, option.max)
  if min and max then
    facts[1] = min .. " to " .. max
  elseif min or max then
    facts[1] = (min and "at least " or "at most ") .. (min or max)
  end
  local default = option.default
  if option.choices and (option.type ~= "choice" or option.metavar) then
    facts[#facts + 1] = "one of " .. table.concat(option.choices, ", ")
  end
  if option.required then facts[#facts + 1] = "required" end
  if option.type == "list" then facts[#facts + 1] = "repeatable" end
  if type(default) == "table" then
    if default[1] then facts[#facts + 1] = "default " .. table.concat(default, ", ") end
  elseif type(default) == "number" then
    facts[#facts + 1] = "default " .. bound_text(option, default)
  elseif default ~= nil and default ~= false then
    facts[#facts + 1] = "default " .. default
  end
  return table.concat(facts, "; ")
end

return option_types
