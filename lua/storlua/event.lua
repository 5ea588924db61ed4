-- SPDX-License-Identifier: MIT
--- Events as text: one table, one line of JSON, and back.
---
--- dkjson alone turns NaN into null, passes on bytes that are not UTF-8 and
--- writes floats in the locale's way, so lines are made here. What a line
--- promises is in docs/events.md.

local dkjson = require("dkjson")
local keys = require("storlua.event.keys")

local event = {
  null = dkjson.null, -- a value that is unknown
}

local MAX_DEPTH = 24
local rank, by_rank, list_names = keys.rank, keys.by_rank, keys.lists

-- Most text needs no escapes, and the same keys come all the time.
local function quote(s)
  if s:find("[^ !#-%[%]-~]") then return dkjson.quotestring(s) end
  return "\"" .. s .. "\""
end

local key_texts = setmetatable({}, { __index = function(self, key)
  local text = quote(key) .. ":"
  if rank[key] then self[key] = text end
  return text
end })
local list_meta = { __jsontype = "array" }
local object_meta = { __jsontype = "object" }

--- Marks a table as a list, also when it is empty.
---@param t? table
---@return table t
function event.list(t) return setmetatable(t or {}, list_meta) end

--- Marks a table as an object, also when it is empty.
---@param t? table
---@return table t
function event.object(t) return setmetatable(t or {}, object_meta) end

-- Digits of a float without an exponent, shortest that reads back the same.
-- string.format follows the locale; JSON does not.
local function float_text(x)
  if x ~= x or x >= math.huge or x <= -math.huge then
    error("event: a number that is not finite: " .. tostring(x), 0)
  end
  local text
  for digits = 15, 17 do
    text = ("%." .. digits .. "g"):format(x)
    if tonumber(text) == x then break end
  end
  local mantissa, exponent = text:match("^(.-)e([+-]%d+)$")
  if mantissa then
    local decimals = #mantissa:gsub("[^0-9]", "") - 1 - math.tointeger(tonumber(exponent))
    -- string.format takes two digits of precision at most
    if decimals > 99 then return "0.0" end
    text = ("%." .. math.max(decimals, 0) .. "f"):format(x)
  end
  text = text:gsub("[^0-9%-]", ".")
  return text:find(".", 1, true) and text or text .. ".0"
end

local function number_text(x)
  if math.type(x) == "integer" then return ("%d"):format(x) end
  return float_text(x)
end

-- A string with its bad bytes replaced; second value true when there are any.
local function clean(s)
  if utf8.len(s) then return s, false end
  local out, at = {}, 1
  while at <= #s do
    local _, bad = utf8.len(s, at)
    if not bad then
      out[#out + 1] = s:sub(at)
      break
    end
    out[#out + 1] = s:sub(at, bad - 1) .. "\u{FFFD}"
    at = bad + 1
  end
  return table.concat(out), true
end

local function hex(s)
  return (s:gsub(".", function(c) return ("%02x"):format(c:byte()) end))
end

-- The keys of an object in their order: known ones by rank, then the others.
local function ordered(t)
  local ranks, others = {}, nil
  for key in next, t do
    local at = rank[key]
    if at then
      ranks[#ranks + 1] = at
    elseif type(key) == "string" and utf8.len(key) then
      others = others or {}
      others[#others + 1] = key
    else
      error(("event: %s is not a name for a field"):format(tostring(key)), 0)
    end
  end
  table.sort(ranks)
  for i, at in ipairs(ranks) do ranks[i] = by_rank[at] end
  if others then
    table.sort(others)
    table.move(others, 1, #others, #ranks + 1, ranks)
  end
  return ranks
end

local put -- forward declaration

-- The hex of the elements that are not UTF-8, null for the others.
local function list_hex(t)
  local out
  for i = 1, #t do
    if type(t[i]) == "string" and not utf8.len(t[i]) then
      out = out or {}
      out[i] = quote(hex(t[i]))
    end
  end
  if not out then return nil end
  for i = 1, #t do out[i] = out[i] or "null" end
  return "[" .. table.concat(out, ",") .. "]"
end

local function put_list(out, t, depth)
  local n = #t
  local integers = n > 0
  for i = 1, n do
    if math.type(t[i]) ~= "integer" then
      integers = false
      break
    end
  end
  if integers then
    out[#out + 1] = "[" .. table.concat(t, ",") .. "]"
    return
  end
  out[#out + 1] = "["
  for i = 1, n do
    if i > 1 then out[#out + 1] = "," end
    put(out, t[i], depth)
  end
  out[#out + 1] = "]"
end

local function put_pair(out, key, value, depth, owner)
  out[#out + 1] = key_texts[key]
  put(out, value, depth, key)
  local bytes
  if type(value) == "string" and not utf8.len(value) then
    bytes = quote(hex(value))
  elseif type(value) == "table" and type(value[1]) == "string" then
    bytes = list_hex(value)
  end
  if bytes and owner[key .. "_hex"] == nil then
    out[#out + 1] = "," .. quote(key .. "_hex") .. ":" .. bytes
  end
end

local function put_object(out, t, depth)
  out[#out + 1] = "{"
  for i, key in ipairs(ordered(t)) do
    if i > 1 then out[#out + 1] = "," end
    put_pair(out, key, t[key], depth, t)
  end
  out[#out + 1] = "}"
end

local function put_table(out, t, depth, name)
  if depth > MAX_DEPTH then error("event: tables too deep, or one that holds itself", 0) end
  local meta = getmetatable(t)
  local kind = type(meta) == "table" and meta.__jsontype
  if kind == "array" or t[1] ~= nil
    or (not kind and list_names[name] and next(t) == nil) then
    put_list(out, t, depth + 1)
  else
    put_object(out, t, depth + 1)
  end
end

function put(out, value, depth, name)
  local kind = type(value)
  if kind == "string" then
    out[#out + 1] = quote((clean(value)))
  elseif kind == "number" then
    out[#out + 1] = number_text(value)
  elseif kind == "boolean" then
    out[#out + 1] = value and "true" or "false"
  elseif value == nil or value == event.null then
    out[#out + 1] = "null"
  elseif kind == "table" then
    put_table(out, value, depth, name)
  else
    error(("event: a %s in field %s"):format(kind, tostring(name)), 0)
  end
end

--- One line of JSON, without the newline. Raises on what JSON cannot say: NaN,
--- infinity, functions, keys that are not text, a table that holds itself.
---@param fields table
---@return string line
function event.encode(fields)
  local out = {}
  put_object(out, fields, 0)
  return table.concat(out)
end

--- The number as it stands in every output: a point, no exponent.
---@param x number
---@return string
function event.number_text(x) return number_text(x) end

--- The text in UTF-8, bad bytes as U+FFFD.
---@param s string
---@return string
function event.clean(s) return (clean(s)) end

--- A line back into a table; null becomes nil. Integers stay integers.
---@param line string
---@return table|nil fields
---@return string|nil message
function event.decode(line)
  local ok, value, next_at, message = pcall(dkjson.decode, line)
  if not ok then return nil, tostring(value) end
  if message then return nil, message end
  if type(value) ~= "table" then return nil, "not an object" end
  if line:find("%S", next_at) then return nil, "more than one object" end
  return value
end

return event
