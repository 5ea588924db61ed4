-- SPDX-License-Identifier: MIT
--- Sizes, durations, counts and rates as people write them: `64M`, `4kB`,
--- `30m`, `10MB/s`. Every function takes a text, or a number that is already
--- in the base unit. See core/base/quantity.h for the table of units.

local core = require("storlua.core.quantity")
local errors = require("storlua.errors")

local quantity = {}

local NS = 1000000000
local here = debug.getinfo(1, "S").source

---@alias storlua.QuantityKind "size"|"duration"|"count"|"rate"

local allowed = {
  size = "a size is a number of bytes, or with k, m, g, t, p, e in powers of 1024"
    .. " (kB, MB, … of 1000): 4096, 4k, 1.5G, 0x1000",
  duration = "a duration is a number of seconds, or with ns, us, ms, s, m, h, d:"
    .. " 90, 1.5, 500ms, 30m, 48h",
  count = "a count is a whole number without a unit: 1000, 0x10",
  rate = "a rate is a size per second: 10M, 10MiB/s, 10MB/s",
}

-- Texts of users end up in messages: short, and without control characters.
local function shown(text)
  text = text:gsub("%c", "?")
  return #text <= 60 and text or text:sub(1, 60) .. "…"
end

local function refuse(kind, text, why, code)
  return nil, errors.new {
    code = code,
    op = "quantity",
    message = ('"%s" is not a %s: %s (%s)'):format(shown(text), kind, why, allowed[kind]),
  }
end

-- Raises at the line that called this module; tail calls make a fixed level
-- of error() point elsewhere.
local function misuse(message)
  local level = 2
  local info = debug.getinfo(level, "S")
  while info and (info.what == "C" or info.source == here) do
    level = level + 1
    info = debug.getinfo(level, "S")
  end
  error(message, level)
end

-- A number in the base unit, which for durations is the second.
local function from_number(kind, value)
  local scaled = kind == "duration" and value * NS or value
  if value ~= value or value < 0 then
    return refuse(kind, tostring(value), "it is negative or not a number", "EINVAL")
  end
  if kind == "duration" then
    if math.type(value) == "integer" and value > math.maxinteger // NS or scaled >= 2.0 ^ 63 then
      return refuse(kind, tostring(value), "too large", "ERANGE")
    end
    return math.type(scaled) == "integer" and scaled or math.tointeger(math.floor(scaled + 0.5))
  end
  local whole = math.tointeger(scaled)
  if whole then return whole end
  if value >= 2.0 ^ 63 then return refuse(kind, tostring(value), "too large", "ERANGE") end
  return refuse(kind, tostring(value), "not a whole number", "EINVAL")
end

-- Integer in the smallest unit (bytes, ns, pieces, bytes per second).
local function try_base(kind, value)
  if type(value) == "number" then return from_number(kind, value) end
  if type(value) ~= "string" then
    misuse(("a %s must be a text or a number, got %s"):format(kind, type(value)))
  end
  local parsed, why, code = core.parse(kind, value)
  if parsed then return parsed end
  return refuse(kind, value, why, code)
end

-- Seconds; an integer when they are whole.
local function seconds(ns)
  return ns % NS == 0 and ns // NS or ns / NS
end

local function try_value(kind, value)
  local base, err = try_base(kind, value)
  if not base then return nil, err end
  return kind == "duration" and seconds(base) or base
end

local function raise_or_pass(value, err)
  if value == nil then error(err, 0) end
  return value
end

--- Bytes of a size.
---@param value string|number
---@return integer bytes
function quantity.size(value) return raise_or_pass(try_value("size", value)) end

--- Like quantity.size; returns nil and the error instead of raising it.
---@param value string|number
---@return integer|nil bytes
---@return storlua.Error|nil err
function quantity.try_size(value) return try_value("size", value) end

--- Seconds of a duration: an integer when they are whole, else a float.
---@param value string|number
---@return number seconds
function quantity.duration(value) return raise_or_pass(try_value("duration", value)) end

--- Like quantity.duration; returns nil and the error instead of raising it.
---@param value string|number
---@return number|nil seconds
---@return storlua.Error|nil err
function quantity.try_duration(value) return try_value("duration", value) end

--- Nanoseconds of a duration, exact.
---@param value string|number
---@return integer ns
function quantity.duration_ns(value) return raise_or_pass(try_base("duration", value)) end

--- Like quantity.duration_ns; returns nil and the error instead of raising it.
---@param value string|number
---@return integer|nil ns
---@return storlua.Error|nil err
function quantity.try_duration_ns(value) return try_base("duration", value) end

--- A count of pieces.
---@param value string|number
---@return integer
function quantity.count(value) return raise_or_pass(try_value("count", value)) end

--- Like quantity.count; returns nil and the error instead of raising it.
---@param value string|number
---@return integer|nil
---@return storlua.Error|nil err
function quantity.try_count(value) return try_value("count", value) end

--- Bytes per second of a rate.
---@param value string|number
---@return integer bytes_s
function quantity.rate(value) return raise_or_pass(try_value("rate", value)) end

--- Like quantity.rate; returns nil and the error instead of raising it.
---@param value string|number
---@return integer|nil bytes_s
---@return storlua.Error|nil err
function quantity.try_rate(value) return try_value("rate", value) end

--- Parses the text of an option: bytes, seconds, pieces or bytes per second.
---@param kind storlua.QuantityKind
---@param text string
---@return number|nil value
---@return string|nil why what is wrong with the text, and what is allowed
function quantity.parse(kind, text)
  local value, why = core.parse(kind, text)
  if not value then return nil, why end
  return kind == "duration" and seconds(value) or value
end

--- "64 MiB"
---@param bytes integer
---@return string
function quantity.size_text(bytes) return core.size_text(bytes) end

--- "30 min 00 s", "12.4 s", "840 ns"
---@param duration_seconds number
---@return string
function quantity.duration_text(duration_seconds)
  return core.duration_text(math.floor(duration_seconds * NS + 0.5))
end

--- "10 MiB/s"
---@param bytes_s integer
---@return string
function quantity.rate_text(bytes_s) return core.size_text(bytes_s) .. "/s" end

--- The value in words, by kind.
---@param kind storlua.QuantityKind
---@param value number what quantity.parse returns
---@return string
function quantity.text(kind, value)
  if kind == "size" then return quantity.size_text(value) end
  if kind == "rate" then return quantity.rate_text(value) end
  if kind == "count" then return ("%d"):format(value) end
  return quantity.duration_text(value)
end

return quantity
