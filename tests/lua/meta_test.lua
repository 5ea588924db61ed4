-- SPDX-License-Identifier: MIT
--- The type definitions of the C modules name what the modules register; when
--- they do not, run `storlua tools/meta.lua`.
local lu = require("luaunit")
local fs = require("storlua.fs")
local process = require("storlua.process")

local here = debug.getinfo(1, "S").source:match("^@(.*)/[^/]*$")
local meta_dir = here .. "/../../lua/meta/storlua/core"

local function function_names(t)
  local names = {}
  for name, value in pairs(t) do
    if type(name) == "string" and type(value) == "function" and not name:find("^__") then
      names[#names + 1] = name
    end
  end
  table.sort(names)
  return names
end

local function defined_names(text, pattern)
  local names = {}
  for name in text:gmatch(pattern) do names[#names + 1] = name end
  table.sort(names)
  return names
end

local T = {}

function T.test_every_module_has_its_definitions()
  local modules = {}
  for name in pairs(package.preload) do
    local module = name:match("^storlua%.core%.(.+)$")
    if module then modules[#modules + 1] = module .. ".lua" end
  end
  table.sort(modules)
  lu.assertTrue(#modules > 10)
  lu.assertEquals(fs.list(meta_dir), modules, "run `storlua tools/meta.lua`")
end

function T.test_definitions_name_what_is_registered()
  process.run { "true" } -- the methods of streams are registered by the first of them
  for _, file in ipairs(fs.list(meta_dir)) do
    local text = fs.read(meta_dir .. "/" .. file)
    local module = file:match("^(.*)%.lua$")
    lu.assertEquals(defined_names(text, "\nfunction " .. module .. "%.([%w_]+)%("),
      function_names(require("storlua.core." .. module)), "functions of " .. module)
    local class = text:match("%-%-%-@class (%S+)")
    local metatable = class and debug.getregistry()[class]
    if metatable then
      lu.assertEquals(defined_names(text, "\nfunction methods:([%w_]+)%("),
        function_names(metatable.__index), "methods of " .. class)
    end
  end
end

return T
