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
local math_type = math.type

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

local constants = { [true] = "true", [false] = "false", [event.null] = "null" }

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

local function unhex(s)
  return (s:gsub("%x%x", function(digits) return string.char(tonumber(digits, 16)) end))
end

local put -- forward declaration
local out, n -- pieces of the line that is being made

-- The hex of the elements that are not UTF-8, null for the others.
local function list_hex(t)
  local texts
  for i = 1, #t do
    if type(t[i]) == "string" and not utf8.len(t[i]) then
      texts = texts or {}
      texts[i] = quote(hex(t[i]))
    end
  end
  if not texts then return nil end
  for i = 1, #t do texts[i] = texts[i] or "null" end
  return "[" .. table.concat(texts, ",") .. "]"
end

local function add(text)
  n = n + 1
  out[n] = text
end

local function put_list(t, depth)
  local length = #t
  local integers = length > 0
  for i = 1, length do
    if math_type(t[i]) ~= "integer" then
      integers = false
      break
    end
  end
  if integers then return add("[" .. table.concat(t, ",") .. "]") end
  add("[")
  for i = 1, length do
    if i > 1 then add(",") end
    put(t[i], depth)
  end
  add("]")
end

-- The bytes of text that is not UTF-8, in a field of their own.
local function put_hex(key, value, owner)
  local bytes
  if type(value) == "string" then
    bytes = not utf8.len(value) and quote(hex(value))
  elseif type(value[1]) == "string" then
    bytes = list_hex(value)
  end
  if bytes and owner[key .. "_hex"] == nil then
    add("," .. quote(key .. "_hex") .. ":" .. bytes)
  end
end

-- Nearly all values of a log are integers: those take the short way.
local function put_object(t, depth)
  local order = ordered(t)
  add("{")
  for i = 1, #order do
    local key = order[i]
    local value = t[key]
    if i > 1 then add(",") end
    add(key_texts[key])
    if constants[value] or math_type(value) == "integer" then
      add(constants[value] or value)
    else
      put(value, depth, key)
      local kind = type(value)
      if kind == "string" or kind == "table" then put_hex(key, value, t) end
    end
  end
  add("}")
end

local function put_table(t, depth, name)
  if depth > MAX_DEPTH then error("event: tables too deep, or one that holds itself", 0) end
  local meta = getmetatable(t)
  local kind = type(meta) == "table" and meta.__jsontype
  if kind == "array" or t[1] ~= nil
    or (not kind and list_names[name] and next(t) == nil) then
    put_list(t, depth + 1)
  else
    put_object(t, depth + 1)
  end
end

function put(value, depth, name)
  local kind = type(value)
  if kind == "string" then
    add(quote((clean(value))))
  elseif kind == "number" then
    add(math_type(value) == "integer" and value or float_text(value))
  elseif value == nil or constants[value] then
    add(constants[value] or "null")
  elseif kind == "table" then
    put_table(value, depth, name)
  else
    error(("event: a %s in field %s"):format(kind, tostring(name)), 0)
  end
end

--- One line of JSON, without the newline. Raises on what JSON cannot say: NaN,
--- infinity, functions, keys that are not text, a table that holds itself.
---@param fields table
---@return string line
function event.encode(fields)
  out, n = {}, 0
  put_object(fields, 0)
  return table.concat(out)
end

--- The fields as a reader of the log gets them: what is null is absent.
---@param fields table is left as it is
---@return table
function event.as_read(fields)
  local copy
  for key, value in next, fields do
    local kept = value
    if value == event.null then
      kept = nil
    elseif type(value) == "table" then
      kept = event.as_read(value)
    end
    if kept ~= value then
      copy = copy or setmetatable({}, getmetatable(fields))
      copy[key] = kept
    end
  end
  if not copy then return fields end
  for key, value in next, fields do
    if copy[key] == nil and value ~= event.null then copy[key] = value end
  end
  return copy
end

--- The number as it stands in every output: a point, no exponent.
---@param x number
---@return string
function event.number_text(x)
  return math_type(x) == "integer" and ("%d"):format(x) or float_text(x)
end

--- The text in UTF-8, bad bytes as U+FFFD.
---@param s string
---@return string
function event.clean(s) return (clean(s)) end

--- Fields as they were given to the event: where a text was not UTF-8, its bytes
--- from the field beside it whose name ends in _hex. Not of tables within.
---@param fields table
---@return table
function event.raw(fields)
  local copy = {}
  for key, value in pairs(fields) do copy[key] = value end
  for key, bytes in pairs(fields) do
    local name = key:match("^(.+)_hex$")
    local value = name and fields[name]
    if type(value) == "string" and type(bytes) == "string" then
      copy[name], copy[key] = unhex(bytes), nil
    elseif type(value) == "table" and type(bytes) == "table" then
      local list = {}
      for i, text in ipairs(value) do list[i] = bytes[i] and unhex(bytes[i]) or text end
      copy[name], copy[key] = list, nil
    end
  end
  return copy
end

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
