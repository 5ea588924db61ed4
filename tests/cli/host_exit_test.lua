-- SPDX-License-Identifier: MIT
--- How a script can end, and what the caller sees of it: exit code, message
--- with file and line, clean-ups, complete output.

local cli_run = require("cli_run")
local disk = require("disk")
local fs = require("storlua.fs")
local lu = require("luaunit")
local process = require("storlua.process")

local suite = {}

-- Runs a script file of one line (so that it is line 1) with a closer and a
-- __gc, and checks that both ran.
local PROLOGUE = [[local task = require("storlua.task") ]]
  .. [[GC = setmetatable({}, { __gc = function() io.stderr:write("gc\n") end }) ]]
  .. [[local _ <close> = task.defer(function() task.sleep(0) io.stderr:write("closed\n") end) ]]

local function end_of(code, argv)
  local place <close> = disk.directory()
  local path = place.path .. "/script.lua"
  fs.write_atomic(path, PROLOGUE .. code .. "\n")
  local result = cli_run.run { path, table.unpack(argv or {}) }
  lu.assertStrContains(result.stderr, "closed\n")
  lu.assertStrContains(result.stderr, "gc\n")
  lu.assertNotStrContains(result.stderr, "PANIC")
  return result
end

local function check_raised(code, ...)
  local result = end_of(code)
  lu.assertEquals(result.code, 3, result.stderr)
  lu.assertStrContains(result.stderr, "script.lua:1: ")
  lu.assertStrContains(result.stderr, "stack traceback:\n")
  lu.assertNotStrContains(result.stderr, "storlua/scheduler.lua")
  for _, text in ipairs { ... } do lu.assertStrContains(result.stderr, text) end
end

function suite.test_a_scope_that_is_left_open()
  local result = end_of("task.scope():spawn('w', task.sleep, 60)")
  lu.assertEquals(result.code, 3)
  lu.assertStrContains(result.stderr, "task w still ran when all else had ended")
  check_raised("task.scope():spawn('w', function() error('dead') end) pcall(task.sleep, 1)",
    "script.lua:1: dead")
end

function suite.test_raise_of_any_value()
  check_raised([[error("text")]], "script.lua:1: text\n")
  check_raised([[error()]], "error(nil)")
  check_raised([[error(5)]], ": 5\n")
  check_raised([[error({ code = 7, list = { "x" } })]], [[{code = 7, list = {"x"}}]])
  check_raised([[error(setmetatable({}, { __tostring = function() return "own" end }))]],
    ": own\n")
  check_raised([[error(setmetatable({}, { __tostring = error }))]], "__tostring raises")
  check_raised([[local a a.b = 1]], "attempt to index a nil value")
  check_raised([[local function f() return f() + 1 end f()]], "stack overflow")
  check_raised([[require("storlua.fs").read("/nonexistent")]], "ENOENT")
end

function suite.test_raise_elsewhere()
  check_raised([[local s <close> = task.scope() s:spawn("kid", function() task.sleep(0) ]]
    .. [[error("in a child") end) task.sleep(60)]], "in a child")
  check_raised([[require("storlua.core.timer").start(0, function() error("in a callback") end) ]]
    .. [[task.sleep(60)]], "in a callback")
  check_raised([[coroutine.wrap(function() error("in a coroutine") end)()]], "in a coroutine")
  check_raised([[coroutine.wrap(function() task.sleep(0) end)()]], "use scope:spawn")
  check_raised([[task.await(function() end)]], "waits for something that cannot happen")
  check_raised([[os.execute("true")]], "use process.run")
  check_raised([[io.popen("true")]], "use process.run")
  check_raised([[os.exit(256)]], "0 to 255")
  check_raised([[io.open("a\0b")]], "contains a NUL")
end

function suite.test_failed_clean_up_is_a_code_of_its_own()
  local result = end_of([[local _ <close> = task.defer(function() error("umount") end)]])
  lu.assertEquals(result.code, 6)
  lu.assertStrContains(result.stderr, "clean-up failed in task main: ")
  lu.assertStrContains(result.stderr, "script.lua:1: umount")
end

function suite.test_exit_codes_pass_through()
  for code, wanted in pairs {
    ["os.exit()"] = 0, ["os.exit(true)"] = 0, ["os.exit(false)"] = 1, ["os.exit(0)"] = 0,
    ["os.exit(0, true)"] = 0, ["os.exit(255)"] = 255, ["os.exit(42.0)"] = 42,
    ["return"] = 0, ["return 9"] = 9, ["pcall(os.exit, 8) task.sleep(0)"] = 8,
    ["pcall(os.exit, 8)"] = 8,
    ["local s <close> = task.scope() s:spawn('kid', os.exit, 5) task.sleep(60)"] = 5,
    ["coroutine.wrap(function() os.exit(4) end)()"] = 4,
    ["local _ <close> = task.defer(function() os.exit(1) end) os.exit(7)"] = 7,
  } do
    local result = end_of(code)
    lu.assertEquals(result.code, wanted, code .. "\n" .. result.stderr)
    lu.assertNotStrContains(result.stderr, "storlua:")
  end
end

function suite.test_output_is_complete_before_the_end()
  for _, ending in ipairs { "", "os.exit(0)", "error('x', 0)" } do
    local result = process.try_run { "sh", "-c", [[{ "$0" -e "$1"; echo $? >&2; } | ]]
      .. [[{ sleep 0.5; wc -c; }]], cli_run.program,
      "print(('x'):rep(1048575)) " .. ending, timeout = 60 }
    lu.assertEquals(tonumber(result.stdout), 1048576, result.stderr)
  end
end

function suite.test_closed_output_ends_quietly()
  for _, call in ipairs { "print(i)", "io.write(i, '\\n')", "io.stdout:write(i, '\\n')" } do
    local result = process.try_run { "sh", "-c", [[{ "$0" -e "$1"; echo $? >&2; } | head -1]],
      cli_run.program, PROLOGUE .. "for i = 1, 1e9 do " .. call .. " end", timeout = 60 }
    lu.assertEquals(result.stdout, "1\n")
    -- head(1) may take a second to begin where much else goes on
    local said = result.stderr:gsub("storlua: the loop was busy[^\n]*\n", "")
    lu.assertEquals(said, "closed\ngc\n1\n")
  end
end

-- Only the reader of our own output goes without a word.
function suite.test_a_pipe_that_broke_elsewhere_is_told()
  check_raised([[local child <close> = require("storlua.process").start { "true" } child:wait() ]]
    .. [[while true do child:write("x") task.sleep(0) end]], "EPIPE", "true stdin")
end

function suite.test_full_output_is_a_failure()
  local result = process.try_run { "sh", "-c", [["$0" -e 'print("x")' > /dev/full]],
    cli_run.program, timeout = 60 }
  lu.assertEquals(result.code, 1)
  lu.assertStrContains(result.stderr, "No space left on device")
end

-- A file that gets the number of a stream would take what is printed.
function suite.test_streams_that_are_closed_at_the_start_stay_harmless()
  for _, closed in ipairs { "<&-", ">&-", "2>&-", "<&- >&- 2>&-" } do
    local place <close> = disk.directory()
    local path = place.path .. "/file"
    local result = process.try_run { "sh", "-c", '"$0" -e "$1" "$2" ' .. closed,
      cli_run.program, [[
        local file = assert(io.open(..., "w"))
        print("out") io.stderr:write("err") io.stdout:flush()
        require("storlua.process").run { "true" }
        file:write("own") file:close()
      ]], path, timeout = 60 }
    lu.assertEquals(result.code, 0, closed .. result.stderr)
    lu.assertEquals(fs.read(path), "own", closed)
  end
end

function suite.test_numbers_keep_their_point()
  local result = cli_run.run { "-e", [[
    for _, locale in ipairs { "de_DE.UTF-8", "" } do os.setlocale(locale) end
    print(os.setlocale("C", "numeric"), os.setlocale("de_DE.UTF-8", "numeric"))
    print(1.5, ("%.1f"):format(2.5), os.setlocale(nil, "numeric"))
  ]], env = { LC_ALL = "de_DE.UTF-8" } }
  lu.assertEquals(result.stdout, "C\tnil\n1.5\t2.5\tC\n")
end

return suite
