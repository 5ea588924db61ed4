-- SPDX-License-Identifier: MIT
--- Lua 5.4.4 and older miscompile a loop whose iterator has a closing value,
--- whose body captures the variable, and which is left by break: something that
--- follows calls nil, or the program crashes. No iterator of the library has a closing
--- value; this says whether the Lua we are linked with needs that rule.

local cli_run = require("cli_run")
local lu = require("luaunit")
local task = require("storlua.task")

local suite = {}

local SHAPE = [[
local function iterate(closing)
  local i = 0
  return function() i = i + 1 return i < 3 and i or nil end, nil, nil, closing
end
local function shape()
  local kept
  for v in iterate(%s) do
    kept = function() return v end
    break
  end
  local text = tostring
  return text(kept())
end
io.write("value ", shape())
]]

local function run(closing)
  return cli_run.run { "-e", SHAPE:format(closing) }
end

function suite.test_shape_with_a_closing_value()
  local result = run("setmetatable({}, {__close = function() end})")
  if result.code ~= 0 then
    print("# " .. _VERSION .. " miscompiles loops with a closing value: exit code " .. result.code)
  end
  -- Wrong or right, it must not end as a success that printed something else.
  lu.assertTrue(result.code ~= 0 or result.stdout == "value 1")
end

function suite.test_shape_without_it_is_right()
  local result = run("nil")
  lu.assertEquals(result.stderr, "")
  lu.assertEquals(result.stdout, "value 1")
end

function suite.test_io_lines_has_no_closing_value()
  local path = os.tmpname()
  local _ <close> = task.defer(function() os.remove(path) end)
  local file = assert(io.open(path, "w"))
  file:write("one\ntwo\n")
  file:close()
  lu.assertEquals(select("#", io.lines(path)), 1)
  local lines = {}
  for line in io.lines(path) do lines[#lines + 1] = line end
  lu.assertEquals(lines, { "one", "two" })
end

return suite
