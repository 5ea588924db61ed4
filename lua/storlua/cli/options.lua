-- SPDX-License-Identifier: MIT
--- Declared options: checks the declaration, then turns a command line into
--- values. Every mistake of the user is one error with the code "USAGE",
--- raised before anything is touched.

local errors = require("storlua.errors")
local nearest = require("storlua.nearest")
local option_types = require("storlua.cli.option_types")
local shape = require("storlua.shape")

local options = {}

---@class storlua.Option
---@field name string "write-limit"
---@field type string size duration count rate number string flag choice list
---@field short? string one letter
---@field default? any
---@field min? string|number
---@field max? string|number
---@field choices? string[]
---@field required? boolean
---@field help? string
---@field metavar? string
---@field positional? boolean given without its name
---@field path? boolean the text is a path, so it is not empty
---@field key string "write_limit": its name in `opt`

---@class storlua.Options
---@field list storlua.Option[]
---@field by_name table<string, storlua.Option>
---@field by_short table<string, storlua.Option>
---@field positionals storlua.Option[]

--- Raises a usage error: one line on stderr, exit code 2.
---@param format string
function options.usage(format, ...)
  errors.raise("USAGE", format, ...)
end
local usage = options.usage

local FIELDS = {
  name = "!string", type = "!string", short = "string", min = "string|number",
  max = "string|number", default = "string|number|boolean|table", choices = shape.strings,
  required = "boolean", help = "string", metavar = "string", positional = "boolean",
  path = "boolean",
}

local function check_fields(option, where)
  local function fail(field, ...) shape.fail(where .. "." .. field, ...) end
  shape.check(option, where, FIELDS)
  if not option.name:find("^%l[%l%d]*$") and not option.name:find("^%l[%l%d-]*[%l%d]$") then
    fail("name", "must be small letters, digits and '-', not %s",
      option_types.quote(option.name))
  end
  local types = option_types.names()
  if not (" " .. table.concat(types, " ") .. " "):find(" " .. option.type .. " ", 1, true) then
    fail("type", "must be one of %s, not '%s'%s", table.concat(types, ", "), option.type,
      nearest.hint(option.type, types))
  end
  if option.short and not option.short:find("^%a$") then fail("short", "must be one letter") end
  if option.type == "choice" and not (option.choices and option.choices[1]) then
    fail("choices", "is missing")
  end
  if option.choices and option.type ~= "choice" and option.type ~= "list"
    and option.type ~= "string" then
    fail("choices", "is for the types choice, list and string")
  end
  if option.path and option.type ~= "list" and option.type ~= "string" then
    fail("path", "is for the types string and list")
  end
  if option.required and option.default ~= nil then fail("required", "excludes a default") end
  if option.positional and (option.type == "flag" or option.short) then
    fail("positional", "excludes the type flag and a short name")
  end
end

local function check_values(option, where)
  for _, bound in ipairs { "min", "max" } do
    local value = option[bound]
    if value ~= nil then
      if not option_types.is_quantity(option.type) then
        shape.fail(where .. "." .. bound, "is for sizes, durations, counts and rates")
      end
      local ok, why = option_types.check({ type = option.type, min = 0 }, value)
      if not ok then shape.fail(where .. "." .. bound, "%s: %s", option_types.quote(value), why) end
    end
  end
  if option.type == "flag" and option.default == true then
    shape.fail(where .. ".default", "must be false: a flag is true when it is given")
  end
  if option.default ~= nil then
    local value, why = option_types.check(option, option.default)
    if value == nil then
      shape.fail(where .. ".default", "%s: %s", option_types.quote(option.default), why)
    end
    option.value = value
  end
end

--- Checks a list of option declarations and copies it.
---@param list table[]
---@param where string the field it stands in, for messages
---@param taken? table<string, string> names that are not free → why
---@return storlua.Options
function options.declare(list, where, taken)
  local declaration = { list = {}, by_name = {}, by_short = {}, positionals = {} }
  shape.list(list, where, function(given, at)
    check_fields(given, at)
    local option = { key = given.name:gsub("-", "_") }
    for field, value in pairs(given) do option[field] = value end
    check_values(option, at)
    if declaration.by_name[option.name] then shape.fail(at .. ".name", "is declared twice") end
    local why = taken and taken[option.name]
    if why then shape.fail(at .. ".name", "'%s' is %s", option.name, why) end
    if option.short then
      if declaration.by_short[option.short] then shape.fail(at .. ".short", "is used twice") end
      declaration.by_short[option.short] = option
    end
    declaration.by_name[option.name] = option
    table.insert(declaration.list, option)
    if option.positional then table.insert(declaration.positionals, option) end
  end)
  return declaration
end

--- Both declarations as one; the first one wins a short name.
---@param first storlua.Options
---@param second storlua.Options
---@return storlua.Options
function options.join(first, second)
  local joined = { list = {}, by_name = {}, by_short = {}, positionals = {} }
  for _, declaration in ipairs { first, second } do
    for _, option in ipairs(declaration.list) do
      table.insert(joined.list, option)
      joined.by_name[option.name] = option
      if option.positional then table.insert(joined.positionals, option) end
      if option.short and not joined.by_short[option.short] then
        joined.by_short[option.short] = option
      end
    end
  end
  return joined
end

--- The value of one option from a text or a Lua value; raises what is wrong.
---@param option storlua.Option
---@param value any
---@param label? string how the message names it
---@return any
function options.value(option, value, label)
  local checked, why = option_types.check(option, value)
  if checked == nil then
    local name = label or (option.positional and option.name or "--" .. option.name)
    if option.type == "list" and type(value) == "table" then usage("%s: %s", name, why) end
    usage("%s: %s: %s", name, option_types.quote(value), why)
  end
  return checked
end

--- Reads an options file: `return { size = "64M", hours = 2 }`. It is data:
--- nothing can be called in it.
---@param declaration storlua.Options
---@param path string
---@return table<string, any> values by key
function options.read_file(declaration, path)
  local source = require("storlua.source")
  local content, message = source.read(path)
  if not content then usage("--options: %s", message) end
  local chunk, syntax = source.compile(content, path, {})
  if not chunk then usage("--options: %s", syntax) end
  local ok, result = pcall(chunk)
  if not ok then usage("--options: %s", tostring(result)) end
  if type(result) ~= "table" then usage("--options: %s: must return a table", path) end
  local by_key, names, values = {}, {}, {}
  for _, option in ipairs(declaration.list) do
    by_key[option.key] = option
    names[#names + 1] = option.key
  end
  for key, value in pairs(result) do
    local name = type(key) == "string" and key:gsub("-", "_") or nil
    local option = by_key[name]
    if not option then
      usage("%s: unknown option %s%s", path, option_types.quote(key),
        name and nearest.hint(name, names) or "")
    end
    if values[option.key] ~= nil then
      usage("%s: %s is given twice, once with '-' and once with '_'", path, option.name)
    end
    values[option.key] = options.value(option, value, path .. ": " .. option.key)
  end
  return values
end

--- Values in order of precedence: defaults, an options file, the command line.
---@param declaration storlua.Options
---@param given table<string, any> from options.parse
---@param file? string path of an options file
---@param lenient? boolean required options may be missing
---@return table<string, any> opt
---@return table<string, any> given also from the file
function options.complete(declaration, given, file, lenient)
  local opt, all_given = {}, {}
  local from_file = file and options.read_file(declaration, file) or {}
  for _, option in ipairs(declaration.list) do
    local value = given[option.key]
    if value == nil then value = from_file[option.key] end
    all_given[option.key] = value
    if value == nil then value = option.value end
    if value == nil and option.required and not lenient then
      usage("%s is required", not option.positional and "--" .. option.name
        or option.metavar or option.name)
    end
    if value == nil and option.type == "flag" then value = false end
    if value == nil and option.type == "list" then value = {} end
    -- A script may change the list it gets, not the declaration.
    if type(value) == "table" then value = table.move(value, 1, #value, 1, {}) end
    opt[option.key] = value
  end
  return opt, all_given
end

return options
