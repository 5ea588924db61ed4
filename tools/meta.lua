-- SPDX-License-Identifier: MIT
--- storlua tools/meta.lua: writes the type definitions of the C modules for
--- editors, lua/meta/storlua/core/*.lua, from the comments and the function
--- tables of bindings/*.c. Run it after a change there; a test compares the
--- result with what the modules register.

local fs = require("storlua.fs")

local root = arg[0]:match("^(.*)/tools/[^/]*$") or "."
local out_dir = root .. "/lua/meta/storlua/core"

-- What the name of an argument says about its type.
local TYPES = {
  { "^fn$", "function" }, { "_ns$", "integer" }, { "_ms$", "integer" }, { "_bytes$", "integer" },
  { "^path$", "string" }, { "^name$", "string" }, { "^text$", "string" }, { "^host$", "string" },
  { "^address$", "string" }, { "^mode$", "string" }, { "^from$", "string" }, { "^to$", "string" },
  { "^template$", "string" }, { "^target$", "string" }, { "^event$", "string" },
  { "^port$", "integer" }, { "^fd$", "integer" }, { "^baud$", "integer" },
  { "^number$", "integer" }, { "^prefix$", "string" }, { "^content$", "string" },
  { "^wait$", "boolean" }, { "^follow$", "boolean" }, { "^is_", "boolean" }, { "^co$", "thread" },
  { "^argv$", "string[]" }, { "^env$", "string[]" }, { "^spec$", "table" }, { "^stdio$", "table" },
}

local function type_of(name)
  for _, rule in ipairs(TYPES) do
    if name:find(rule[1]) then return rule[2] end
  end
  return "any"
end

-- The comments over the C functions, in one line each.
local function read_comments(source)
  local comments = {}
  for comment, name in source:gmatch("/%*([^/]-)%*/%s*static int (l_[%w_]+)%(") do
    comments[name] = comment:gsub("%s*\n %*%s*", " "):gsub("^%s+", ""):gsub("%s+$", "")
  end
  return comments
end

local function read_tables(source)
  local tables = {}
  for name, body in source:gmatch("luaL_Reg ([%w_]+)%[%] = (%b{})") do
    name = name:match("_(methods)$") or name -- those of the module's other files
    local entries = tables[name] or {}
    for key, c_name in body:gmatch('{%s*"([%w_]+)",%s*([%w_]+)%s*}') do
      if not key:find("^__") then entries[#entries + 1] = { name = key, c_name = c_name } end
    end
    table.sort(entries, function(a, b) return a.name < b.name end)
    tables[name] = entries
  end
  return tables
end

local function wrap(out, text)
  local line = "---"
  for word in text:gmatch("%S+") do
    if #line + #word >= 98 then
      out[#out + 1] = line
      line = "---"
    end
    line = line .. " " .. word
  end
  out[#out + 1] = line
end

local function write_function(out, owner, separator, entry, comments)
  local comment = comments[entry.c_name]
  out[#out + 1] = ""
  if comment then wrap(out, comment) end
  local parameters = {}
  for name in (comment and comment:match("^[%w_]+%(([^)]*)%)") or ""):gmatch("[%w_.]+") do
    local type_name = name == "..." and "any" or type_of(name)
    if name:find("^[%a_][%w_]*$") or name == "..." then
      parameters[#parameters + 1] = name
      out[#out + 1] = ("---@param %s %s"):format(name, type_name)
    end
  end
  out[#out + 1] = ("function %s%s%s(%s) end"):format(owner, separator, entry.name,
    table.concat(parameters, ", "))
end

local function definition(module, source)
  local tables, comments = read_tables(source), read_comments(source)
  local out = {
    "-- SPDX-License-Identifier: MIT", "---@meta storlua.core." .. module,
    "--- Private to the library. Written by tools/meta.lua from bindings/" .. module .. ".c.", "",
    "local " .. module .. " = {}",
  }
  for _, entry in ipairs(tables.functions or {}) do
    write_function(out, module, ".", entry, comments)
  end
  local class = source:match("luaL_newmetatable%(L, ([%u_]+)%)")
    or source:match("l_new_class%(L, ([%u_]+),")
  if class and tables.methods and tables.methods[1] then
    out[#out + 1] = ""
    out[#out + 1] = "---@class " .. source:match("#define " .. class .. ' "([%w._]+)"')
    out[#out + 1] = "local methods = {}"
    for _, entry in ipairs(tables.methods) do
      write_function(out, "methods", ":", entry, comments)
    end
  end
  out[#out + 1] = ""
  out[#out + 1] = "return " .. module
  return table.concat(out, "\n") .. "\n"
end

fs.mkdirs(out_dir)
local written = {}
for _, file in ipairs(fs.list(root .. "/bindings")) do
  local module = file:match("^([%w_]+)%.c$")
  local source = module and fs.read(root .. "/bindings/" .. file)
  if source and source:find("int luaopen_storlua_core_" .. module .. "(", 1, true) then
    for _, other in ipairs(fs.list(root .. "/bindings")) do
      if other:find("^" .. module .. "_[%w_]+%.c$") then
        source = source .. fs.read(root .. "/bindings/" .. other)
      end
    end
    fs.write_atomic(out_dir .. "/" .. module .. ".lua", definition(module, source))
    written[module .. ".lua"] = true
  end
end
for _, file in ipairs(fs.list(out_dir)) do
  if not written[file] then fs.remove(out_dir .. "/" .. file) end
end
