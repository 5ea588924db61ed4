-- SPDX-License-Identifier: MIT
--- Runs LuaUnit suites inside storlua, so that tests may wait:
---   storlua tests/run.lua FILE_test.lua [LuaUnit options]
--- A test file returns a table of test functions or of classes of them.
--- Exit 77: every test was skipped; with STORLUA_REQUIRE_ALL a skip fails.
--- After each test no handle, job or child may be left open.

local here = arg[0]:match("^(.*)/[^/]*$") or "."
package.path = here .. "/?.lua;/usr/share/lua/5.4/?.lua;" .. package.path
local lu = require("luaunit")
local loop = require("storlua.core.loop")

local file = assert(arg[1], "usage: storlua tests/run.lua FILE_test.lua")
local suite = assert(loadfile(file, "t"))()

local instances = {}
local function add(name, test)
  table.insert(instances, { name, function(...)
    local before = loop.handles()
    test(...)
    collectgarbage()
    collectgarbage()
    loop.turn(false)
    lu.assertEquals((loop.handles()), before, "handles left open by the test")
  end })
end
local names = {}
for name in pairs(suite) do names[#names + 1] = name end
table.sort(names)
for _, name in ipairs(names) do
  local value = suite[name]
  if type(value) == "function" then
    add(name, value)
  elseif type(value) == "table" then
    for method, test in pairs(value) do
      if type(test) == "function" and method:match("^test") then
        add(name .. "." .. method, function() test(value) end)
      end
    end
  end
end
assert(#instances > 0, file .. " has no tests")

local runner = lu.LuaUnit.new()
runner:setOutputType("tap")
for i = 2, #arg do runner:parseCmdLine { arg[i] } end
local failures = runner:runSuiteByInstances(instances)
if failures > 0 then return 1 end
local result = runner.result
if result.skippedCount > 0 then
  io.stderr:write(("%d SKIPPED in %s\n"):format(result.skippedCount, file))
  if os.getenv("STORLUA_REQUIRE_ALL") then return 1 end
  if result.skippedCount == result.selectedCount then return 77 end
end
return 0
