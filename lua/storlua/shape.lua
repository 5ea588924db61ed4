-- SPDX-License-Identifier: MIT
--- Checks tables that scripts and boards hand over: each error names the field.

local errors = require("storlua.errors")
local nearest = require("storlua.nearest")

local shape = {}

--- Raises "<where> <format>" with the code "DECLARATION", which ends in exit
--- code 2 as long as nothing runs.
---@param where string the field: "options[2].type"
function shape.fail(where, format, ...)
  errors.raise("DECLARATION", "%s %s", where, format:format(...))
end

local function type_text(value)
  return value == nil and "nothing" or math.type(value) or type(value)
end

--- Checks a table against its fields. `fields` maps each allowed name to its
--- types, "string" or "string|function", with "!" in front when required, or
--- to a function(value, where).
---@param value any
---@param where string
---@param fields table<string, string|function>
function shape.check(value, where, fields)
  if type(value) ~= "table" then
    shape.fail(where, "must be a table, not %s", type_text(value))
  end
  local prefix = where == "" and "" or where .. "."
  local names = {}
  for name in pairs(fields) do names[#names + 1] = name end
  table.sort(names)
  for key in pairs(value) do
    if fields[key] == nil then
      shape.fail(prefix .. tostring(key), "is not a field%s",
        type(key) == "string" and nearest.hint(key, names) or "")
    end
  end
  for _, name in ipairs(names) do
    local rule, field = fields[name], value[name]
    if type(rule) == "function" then
      if field ~= nil then rule(field, prefix .. name) end
    else
      local required, types = rule:match("^(!?)(.*)$")
      if field == nil then
        if required == "!" then shape.fail(prefix .. name, "is missing") end
      elseif not ("|" .. types .. "|"):find("|" .. type(field) .. "|", 1, true) then
        shape.fail(prefix .. name, "must be a %s, not %s", types:gsub("|", " or "),
          type_text(field))
      end
    end
  end
end

--- Checks that a value is a list and calls `each(element, "where[i]")`.
---@param value any
---@param where string
---@param each fun(element: any, where: string)
function shape.list(value, where, each)
  if type(value) ~= "table" then
    shape.fail(where, "must be a list, not %s", type_text(value))
  end
  for key in pairs(value) do
    if math.type(key) ~= "integer" or key < 1 or key > #value then
      shape.fail(where, "must be a list; it has the key %s", tostring(key))
    end
  end
  for i = 1, #value do each(value[i], ("%s[%d]"):format(where, i)) end
end

--- A rule for shape.check: a list of strings that are not empty.
function shape.strings(value, where)
  shape.list(value, where, function(element, at)
    if type(element) ~= "string" or element == "" then
      shape.fail(at, "must be a text, not %s", type_text(element))
    end
  end)
end

return shape
