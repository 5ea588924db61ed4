-- SPDX-License-Identifier: MIT
--- The prompt at a terminal (a pseudo-terminal) and at the end of a pipe.
local lu = require("luaunit")
local loop = require("storlua.core.loop")
local process = require("storlua.process")
local task = require("storlua.task")

local helpers = assert(os.getenv("STORLUA_HELPERS"))
local storlua = assert(os.getenv("STORLUA"))

local Terminal = {}
Terminal.__index = Terminal

local function open_terminal()
  local self = setmetatable({ seen = "" }, Terminal)
  self.child = process.start { helpers .. "/pty", "run", storlua, "-i" }
  self.scope = task.scope()
  self.scope:spawn("screen", function()
    for text in function() return self.child:read() end do self.seen = self.seen .. text end
    self.has_ended = true
  end)
  self:wait_for("> ")
  return self
end

function Terminal:__close()
  self.scope:cancel()
  self.child:close()
  local _ <close> = self.scope
end

-- Waits until the screen shows `text`, and forgets what came before.
function Terminal:wait_for(text)
  local deadline_ns = loop.monotonic_ns() + 20 * 1000000000
  while true do
    local from, to = self.seen:find(text, 1, true)
    if from then
      local before = self.seen:sub(1, to)
      self.seen = self.seen:sub(to + 1)
      return before
    end
    if loop.monotonic_ns() > deadline_ns or self.has_ended then
      lu.fail(("%q does not show up in %q"):format(text, self.seen))
    end
    task.sleep(0.005)
  end
end

function Terminal:type(keys) self.child:write(keys) end

local function run_piped(text)
  return process.try_run { storlua, "-i", stdin = text, timeout = 60 }
end

local T = {}

function T.test_piped_lines_print_their_values()
  local result = run_piped('1 + 1\n"a\\nb", nil, true\nx = { 1, 2, k = "v" }\nx\n{}\n')
  lu.assertEquals(result.stdout, '2\n"a\\nb"\tnil\ttrue\n{ 1, 2, k = "v" }\n{}\n')
  lu.assertEquals(result.code, 0)
end

function T.test_piped_lines_may_go_on()
  local result = run_piped("for i = 1, 2 do\nprint(i)\nend\nfunction f()\nreturn 3\nend\nf()\n")
  lu.assertEquals(result.stdout, "1\n2\n3\n")
end

function T.test_piped_lines_may_wait()
  local result = run_piped('task.sleep(0.01)\nprocess.run({ "echo", "hi" }).stdout\n')
  lu.assertEquals(result.stdout, '"hi\\n"\n')
end

function T.test_a_failed_line_does_not_end_the_prompt_but_is_not_success()
  local result = run_piped('error("boo")\nx y\nerror({})\nerror()\n7\n')
  lu.assertEquals(result.stdout, "7\n")
  lu.assertStrContains(result.stderr, "prompt:1: boo")
  lu.assertStrContains(result.stderr, "syntax error near 'y'")
  lu.assertEquals(result.code, 3)
end

function T.test_piped_lines_that_are_not_finished_are_no_success()
  local result = run_piped("7\nprint(\n1")
  lu.assertEquals(result.stdout, "7\n")
  lu.assertStrContains(result.stderr, "the input ends in the middle of this:\nprint(\n1\n")
  lu.assertEquals(result.code, 3)
end

function T.test_error_tables_are_shown()
  lu.assertEquals(run_piped('error({ code = "EX" })\n').stderr, '{code = "EX"}\n')
end

function T.test_os_exit_at_a_terminal_is_quiet()
  local terminal <close> = open_terminal()
  terminal:type("os.exit(3)\r")
  terminal.scope:join()
  lu.assertNotStrContains(terminal.seen, "clean-up failed")
end

function T.test_exit_ends_it_with_a_code()
  local result = run_piped("exit(4)\nprint('not reached')\n")
  lu.assertEquals(result.code, 4)
  lu.assertEquals(result.stdout, "")
  lu.assertEquals(run_piped("os.exit(6)\nprint(1)\n").code, 6)
  lu.assertEquals(run_piped("local t <close> = task.defer(function() print('unwound') end) exit()")
    .stdout, "unwound\n")
end

function T.test_input_may_be_a_file_or_nothing()
  local result = process.try_run { storlua, "-i", stdin_path = "/dev/null", timeout = 60 }
  lu.assertEquals(result.code, 0)
  local path = os.tmpname()
  local file = assert(io.open(path, "w"))
  file:write("40 + 2\n")
  file:close()
  result = process.try_run { storlua, "-i", stdin_path = path, timeout = 60 }
  os.remove(path)
  lu.assertEquals(result.stdout, "42\n")
end

function T.test_terminal_edits_and_ends()
  local terminal <close> = open_terminal()
  terminal:type("1+2\r")
  terminal:wait_for("\n3\r\n")
  terminal:type("40+3\127\0272\27[D1\27[C\r") -- ESC 2 is no key; 40+, 1 before nothing
  terminal:wait_for("\n")
  terminal:type("\27[A\27[A\1\5\23\"héé\127x\"\r")
  terminal:wait_for('\n"héx"\r\n')
  terminal:type("for i = 1, 1 do\r")
  terminal:wait_for(">> ")
  terminal:type("print('in loop') end\r")
  terminal:wait_for("\nin loop\r\n")
  terminal:type("abc\21\4")
  lu.assertEquals(terminal.child:wait(), 0)
end

function T.test_terminal_background_task_prints_while_one_types()
  local terminal <close> = open_terminal()
  terminal:type('spawn("bg", function() task.sleep(0.05) print("from bg") end)\r')
  terminal:wait_for("> ")
  terminal:type("12")
  terminal:wait_for("from bg")
  terminal:wait_for("> 12")
  terminal:type("34\r")
  terminal:wait_for("\n1234\r\n")
end

function T.test_terminal_ctrl_c_cancels_the_line_only()
  local terminal <close> = open_terminal()
  terminal:type('spawn("bg", function() task.sleep(0.3) print("still here") end)\r')
  terminal:wait_for("\n")
  for _ = 1, 3 do
    terminal:type('do local _ <close> = task.defer(function() print("undone") end) '
      .. "print('begun') task.sleep(60) end\r")
    terminal:wait_for("\nbegun")
    terminal:type("\3")
    terminal:wait_for("undone")
  end
  terminal:type("print('spinning') while true do end\r")
  terminal:wait_for("\nspinning")
  terminal:type("\3")
  terminal:wait_for("^C")
  terminal:type("unfinished\3")
  terminal:wait_for("^C")
  terminal:type("'ok'\r")
  terminal:wait_for('"ok"')
  terminal:wait_for("still here")
  terminal:type("exit(9)\r")
  lu.assertEquals(terminal.child:wait(), 9)
end

return T
