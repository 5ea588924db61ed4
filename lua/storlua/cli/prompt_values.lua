-- SPDX-License-Identifier: MIT
--- How the prompt shows values: one line each, tables one level deep.

local prompt_values = {}

local MAX_ENTRIES = 40

local function quote(text)
  text = ("%q"):format(text):gsub("\\\n", "\\n"):gsub("\r", "\\r")
  return (text:gsub("[%z\1-\31\127]", function(c) return ("\\%d"):format(c:byte()) end))
end

local function scalar(value)
  if type(value) == "string" then return quote(value) end
  return tostring(value)
end

local function key_text(key)
  if type(key) == "string" and key:find("^[%a_][%w_]*$") then return key end
  return "[" .. scalar(key) .. "]"
end

local function by_text(a, b)
  if type(a) == "number" and type(b) == "number" then return a < b end
  return tostring(a) < tostring(b)
end

local function shallow(value)
  local parts, keys = {}, {}
  local count = #value
  for i = 1, math.min(count, MAX_ENTRIES) do parts[i] = scalar(value[i]) end
  for key in next, value do
    if math.type(key) ~= "integer" or key < 1 or key > count then keys[#keys + 1] = key end
  end
  table.sort(keys, by_text)
  for _, key in ipairs(keys) do
    if #parts >= MAX_ENTRIES then break end
    parts[#parts + 1] = key_text(key) .. " = " .. scalar(rawget(value, key))
  end
  local hidden = count + #keys - #parts
  if hidden > 0 then parts[#parts + 1] = ("… %d more"):format(hidden) end
  return parts[1] and "{ " .. table.concat(parts, ", ") .. " }" or "{}"
end

--- The text of a value.
---@param value any
---@return string
function prompt_values.show(value)
  local mt = debug.getmetatable(value)
  if type(value) ~= "table" or mt and mt.__tostring then
    return type(value) == "string" and quote(value) or tostring(value)
  end
  local ok, text = pcall(shallow, value)
  return ok and text or tostring(value)
end

--- The texts of several values, separated by tabs.
---@return string
function prompt_values.show_all(...)
  local texts = {}
  for i = 1, select("#", ...) do texts[i] = prompt_values.show((select(i, ...))) end
  return table.concat(texts, "\t")
end

return prompt_values
