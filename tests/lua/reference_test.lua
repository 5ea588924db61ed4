-- SPDX-License-Identifier: MIT
--- docs/library.md says what the modules say; when it does not, run
--- `storlua tools/reference.lua`.

local disk = require("disk")
local fs = require("storlua.fs")
local lu = require("luaunit")
local process = require("storlua.process")

local root = debug.getinfo(1, "S").source:match("^@(.*)/tests/[^/]*/[^/]*$")

local suite = {}

function suite.test_the_reference_is_up_to_date()
  local place <close> = disk.directory()
  local path = place.path .. "/library.md"
  process.run { os.getenv("STORLUA"), root .. "/tools/reference.lua", path }
  lu.assertTrue(fs.read(path) == fs.read(root .. "/docs/library.md"),
    "run `storlua tools/reference.lua`")
end

-- A heading for each module, and nothing that is not there.
function suite.test_what_is_named_is_there()
  local module
  local count = 0
  for line in fs.read(root .. "/docs/library.md"):gmatch("[^\n]+") do
    local name = line:match("^### (storlua%.[%w_.]+)$")
    if name then module = require(name) end
    local called = line:match("^`[%w_]+%.([%w_]+)%(")
    if called then
      count = count + 1
      lu.assertEquals(type(module[called]), "function", line)
    end
  end
  lu.assertTrue(count > 80)
end

return suite
