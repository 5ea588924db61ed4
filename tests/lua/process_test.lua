-- SPDX-License-Identifier: MIT
local fs = require("storlua.fs")
local lu = require("luaunit")
local loop = require("storlua.core.loop")
local process = require("storlua.process")
local task = require("storlua.task")

local function seconds_of(fn)
  local start_ns = loop.monotonic_ns()
  fn()
  return (loop.monotonic_ns() - start_ns) / 1e9
end

-- Tells whether a process runs (a zombie that nobody collects does not).
local function is_running(pid)
  local file = io.open("/proc/" .. pid .. "/stat")
  if not file then return false end
  local text = file:read("a") -- nil when it ends between the two calls
  file:close()
  return text ~= nil and text:match("%) (%a)") ~= "Z"
end

local function fails_with(code, pattern, fn, ...)
  local ok, err = pcall(fn, ...)
  lu.assertFalse(ok)
  lu.assertEquals(err.code, code)
  lu.assertStrContains(err.message, pattern)
  return err
end

local T = {}

function T.test_run_returns_what_the_command_wrote()
  local result = process.run { "sh", "-c", "cat; echo err >&2", stdin = "in" }
  lu.assertEquals(result, { code = 0, stdout = "in", stderr = "err\n" })
end

function T.test_run_raises_on_a_bad_exit_code()
  local err = fails_with("COMMAND", "exit code 3: second", process.run,
    { "sh", "-c", "echo first >&2; echo second >&2; exit 3" })
  lu.assertEquals(err.exit_code, 3)
  lu.assertEquals(err.stderr, "first\nsecond\n")
end

function T.test_run_names_the_signal()
  local err = fails_with("COMMAND", "ended by SIGKILL", process.run, { "sh", "-c", "kill -9 $$" })
  lu.assertEquals(err.signal, 9)
end

function T.test_try_run_returns_a_bad_exit_code()
  lu.assertEquals(process.try_run({ "sh", "-c", "exit 7" }).code, 7)
end

function T.test_program_not_found()
  local result, err = process.try_run { "no-such-program-here" }
  lu.assertNil(result)
  lu.assertEquals(err.code, "ENOENT")
  lu.assertStrContains(err.message, "no-such-program-here")
  fails_with("ENOENT", "no such program", process.run, { "no-such-program-here" })
  fails_with("EACCES", "/etc/passwd", process.run, { "/etc/passwd" })
  fails_with("ENOENT", "/no/such/folder", process.run, { "ls", cwd = "/no/such/folder" })
end

function T.test_misuse_is_refused()
  lu.assertErrorMsgContains("takes a list", process.run, "ls -l")
  lu.assertErrorMsgContains("contains a NUL", process.run, { "echo", "a\0b" })
  lu.assertErrorMsgContains("unknown field \"tiemout\"", process.run, { "echo", tiemout = 1 })
  lu.assertErrorMsgContains("argument 2 is nil, and 3 is not", process.run, { "echo", nil, "x" })
  lu.assertErrorMsgContains("timeout is a timeout of process.run", process.start,
    { "sleep", "9", timeout = 1 })
  lu.assertErrorMsgContains("no command", process.run, {})
  lu.assertErrorMsgContains("not a string", process.run, { "echo", true })
  lu.assertErrorMsgContains("not the name", process.run, { "echo", env = { ["A=B"] = "c" } })
  lu.assertErrorMsgContains("NUL", process.run, { "echo", cwd = "/tmp\0x" })
end

function T.test_locale_and_environment()
  local shown = "echo $LC_ALL/$STORLUA_TEST/${HOME-unset}"
  local result = process.run { "sh", "-c", shown, env = { STORLUA_TEST = "x y", HOME = false } }
  lu.assertEquals(result.stdout, "C/x y/unset\n")
  result = process.run { "sh", "-c", "echo $LC_ALL", env = { LC_ALL = "C.UTF-8" } }
  lu.assertEquals(result.stdout, "C.UTF-8\n")
end

function T.test_cwd_merge_and_files()
  lu.assertEquals(process.run({ "pwd", cwd = "/proc/sys" }).stdout, "/proc/sys\n")
  local result = process.run { "sh", "-c", "echo a; echo b >&2; echo c", merge_stderr = true }
  lu.assertEquals(result.stdout, "a\nb\nc\n")
  local path = os.tmpname()
  process.run { "echo", "to a file", stdout_path = path }
  lu.assertEquals(process.run({ "cat", stdin_path = path }).stdout, "to a file\n")
  os.remove(path)
  fails_with("ENOENT", "/no/such/file", process.run, { "cat", stdin_path = "/no/such/file" })
end

function T.test_output_can_be_opened_again()
  lu.assertEquals(process.run({ "sh", "-c", "echo x >/dev/stdout" }).stdout, "x\n")
end

function T.test_much_output_and_input_at_once()
  local text = ("0123456789abcdef"):rep(1 << 16)
  lu.assertEquals(#process.run({ "cat", stdin = text }).stdout, #text)
  lu.assertEquals(process.run({ "true", stdin = text }).code, 0)
end

function T.test_output_is_bounded()
  fails_with("EMSGSIZE", "more than 100000 bytes", process.run,
    { "yes", max_output_bytes = 100000 })
end

function T.test_timeout_ends_the_group()
  local took = seconds_of(function()
    fails_with("TIMEOUT", "not done within 0.1 s", process.run, { "sleep", "20", timeout = 0.1 })
  end)
  lu.assertTrue(took < 10)
end

function T.test_a_group_that_ignores_term_is_killed()
  local pids
  local took = seconds_of(function()
    local child <close> = process.start {
      "sh", "-c", "trap '' TERM; sleep 20 & echo $$ $!; wait; sleep 20", grace = 0.2,
    }
    pids = { child:read_line():match("(%d+) (%d+)") }
  end)
  lu.assertTrue(took < 10)
  for _, pid in ipairs(pids) do lu.assertFalse(is_running(pid)) end
end

function T.test_what_a_command_leaves_behind_is_ended()
  local pid
  local took = seconds_of(function()
    pid = process.run({ "sh", "-c", "sleep 20 & echo $!" }).stdout:match("%d+")
  end)
  lu.assertTrue(took < 10)
  lu.assertFalse(is_running(pid))
end

function T.test_cancelling_the_task_ends_the_child()
  local pid
  do
    local scope <close> = task.scope()
    scope:spawn("runner", function()
      local child <close> = process.start { "sleep", "20" }
      pid = child.pid
      child:wait()
    end)
    task.sleep(0.05)
    lu.assertTrue(is_running(pid))
  end
  lu.assertFalse(is_running(pid))
end

function T.test_a_cleanup_of_a_cancelled_task_may_run_commands()
  local text
  do
    local scope <close> = task.scope()
    scope:spawn("worker", function()
      local _ <close> = task.defer(function() text = process.run({ "echo", "done" }).stdout end)
      task.sleep(1000)
    end)
    task.sleep(0.01)
  end
  lu.assertEquals(text, "done\n")
end

function T.test_virtual_time_stands_still_while_a_child_runs()
  local code = [[
    local process, task = require("storlua.process"), require("storlua.task")
    local text = task.timeout(0.1, function()
      return process.run({ "sh", "-c", "sleep 0.3; echo done" }).stdout
    end)
    task.sleep(1000000)
    io.write(text)
  ]]
  local result = process.run {
    os.getenv("STORLUA"), "-e", code, env = { STORLUA_VIRTUAL_TIME = 1 }, timeout = 60,
  }
  lu.assertEquals(result.stdout, "done\n")
end

function T.test_two_tasks_wait_for_one_child()
  local child <close> = process.start { "sh", "-c", "read x; exit 4" }
  local codes = {}
  do
    local scope <close> = task.scope()
    for i = 1, 2 do
      scope:spawn("waiter " .. i, function() codes[i] = child:wait() end)
    end
    task.sleep(0.01)
    child:close_stdin()
    scope:join()
  end
  lu.assertEquals(codes, { 4, 4 })
end

function T.test_handle_reads_lines_and_writes()
  local child <close> = process.start { "cat" }
  child:write("one\ntw")
  lu.assertEquals(child:read_line(), "one")
  local ok, err = pcall(child.read_line, child, 0.05)
  lu.assertFalse(ok)
  lu.assertEquals(err.code, "TIMEOUT")
  child:write("o\n\nrest")
  lu.assertEquals(child:read_line(), "two")
  lu.assertEquals(child:read_line(), "")
  child:close_stdin()
  lu.assertEquals(child:read(), "rest")
  lu.assertNil(child:read())
  lu.assertEquals(child:wait(), 0)
  lu.assertFalse(child:kill())
end

function T.test_kill_by_name()
  local child <close> = process.start { "sleep", "20" }
  lu.assertTrue(child:kill("SIGUSR1"))
  lu.assertEquals({ child:wait() }, { 0, 10 })
  lu.assertErrorMsgContains("unknown signal", child.kill, child, "NOSUCH")
end

function T.test_a_dropped_handle_is_killed()
  local pid = process.start({ "sleep", "20" }).pid
  collectgarbage()
  collectgarbage()
  task.sleep(0.3)
  lu.assertFalse(is_running(pid))
end

function T.test_children_are_reaped_and_descriptors_closed()
  local function count_fds()
    -- What earlier tests dropped is closed first, a turn of the loop later.
    collectgarbage()
    collectgarbage()
    task.sleep(0.05)
    -- Not by a child: the ends that it got may still be open on our side.
    return #fs.list("/proc/self/fd")
  end
  local before = count_fds()
  for _ = 1, 50 do process.run { "true" } end
  lu.assertEquals(count_fds(), before)
end

return T
