-- SPDX-License-Identifier: MIT
--- Dependencies run one way: scripts use the library, never the C modules; the
--- core knows nothing of Lua.

local lu = require("luaunit")
local process = require("storlua.process")

local test = {}
local top = arg[0]:match("^(.*)/tests/[^/]*$") or "."

-- Lines of files below a folder that match; grep ends with 1 where none do.
local function lines_of(pattern, folder)
  return process.try_run { "grep", "-rnE", pattern, top .. "/" .. folder }.stdout
end

function test.test_scripts_do_not_reach_past_the_library()
  lu.assertEquals(lines_of("require[ (]*.storlua\\.core", "scripts"), "")
end

function test.test_the_core_knows_no_lua()
  lu.assertEquals(lines_of("#include[ ]*[<\"](lua|lauxlib|lualib)", "core"), "")
end

return test
