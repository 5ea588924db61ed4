-- SPDX-License-Identifier: MIT
local lu = require("luaunit")
local fs = require("storlua.fs")
local poll = require("storlua.poll")
local process = require("storlua.process")
local serial = require("storlua.serial")
local stream = require("storlua.stream")
local task = require("storlua.task")
local tcp = require("storlua.tcp")

local helpers = os.getenv("STORLUA_HELPERS") or "build/release/tests"

local function fails_with(code, fn, ...)
  local ok, err = pcall(fn, ...)
  lu.assertFalse(ok)
  lu.assertEquals(err.code, code, tostring(err))
  return err
end

local function make_fifo(dir)
  local path = dir.path .. "/fifo"
  process.run { "mkfifo", path }
  return path
end

local T = {}

function T.test_fifo_between_two_tasks()
  local dir <close> = fs.temp_dir()
  local path = make_fifo(dir)
  local reader <close> = stream.open(path)
  local writer <close> = stream.open(path, "w")
  local lines = {}
  do
    local scope <close> = task.scope()
    scope:spawn("reader", function()
      for line in reader:lines() do lines[#lines + 1] = line end
    end)
    writer:write("a\nb")
    writer:write("\n\n")
    writer:write("last")
    writer:close()
    scope:join()
  end
  lu.assertEquals(lines, { "a", "b", "", "last" })
end

function T.test_fifo_without_reader()
  local dir <close> = fs.temp_dir()
  local path = make_fifo(dir)
  fails_with("ENXIO", stream.open, path, "w")
  lu.assertErrorMsgContains("NUL", stream.open, path .. "\0")
end

function T.test_write_waits_for_the_reader()
  local dir <close> = fs.temp_dir()
  local path = make_fifo(dir)
  local reader <close> = stream.open(path)
  local writer <close> = stream.open(path, "w")
  local text = ("x"):rep(1 << 20)
  fails_with("TIMEOUT", task.timeout, 0.05, writer.write, writer, text)
  fails_with("EALREADY", writer.write, writer, "more")
  do
    local scope <close> = task.scope()
    local got
    scope:spawn("reader", function() got = reader:read_all() end)
    while not pcall(writer.write, writer, "end") do task.sleep(0.001) end
    writer:close()
    scope:join()
    lu.assertEquals(#got, #text + 3)
  end
end

function T.test_writing_to_nobody_is_an_error_not_a_signal()
  local dir <close> = fs.temp_dir()
  local path = make_fifo(dir)
  local reader <close> = stream.open(path)
  local writer <close> = stream.open(path, "w")
  reader:close()
  local err = fails_with("EPIPE", writer.write, writer, "x")
  lu.assertStrContains(err.message, path)
end

function T.test_a_closed_stream_ends_the_wait()
  local dir <close> = fs.temp_dir()
  local reader <close> = stream.open(make_fifo(dir), "rw")
  local err
  do
    local scope <close> = task.scope()
    scope:spawn("reader", function() err = select(2, pcall(reader.read, reader)) end)
    task.sleep(0.01)
    fails_with("EALREADY", reader.read, reader)
    reader:close()
    scope:join()
  end
  lu.assertEquals(err.code, "ECANCELED")
  lu.assertErrorMsgContains("closed", reader.read, reader)
end

function T.test_a_line_without_end_is_refused()
  local child <close> = process.start { "tr", "\\0", "x", stdin_path = "/dev/zero" }
  fails_with("EMSGSIZE", child.read_line, child)
end

function T.test_read_all_is_bounded()
  local child <close> = process.start { "yes" }
  fails_with("EMSGSIZE", child.stdout.read_all, child.stdout, 100000)
end

function T.test_serial_line()
  local far <close> = process.start { helpers .. "/pty", "serve" }
  local path = far:read_line()
  local port <close> = serial.open(path, { baud = 115200 })
  far:write("login: \r\n")
  lu.assertEquals(port:read_line(5), "login: ")
  port:write("root\n")
  lu.assertEquals(far:read_line(), "root")
  local err = fails_with("TIMEOUT", port.read_line, port, 0.02)
  lu.assertEquals(err.message, ("read a line of %s: not done within 0.02 s"):format(path))
end

function T.test_serial_failures()
  fails_with("ENOTTY", serial.open, "/dev/null")
  fails_with("EINVAL", serial.open, "/dev/null", { baud = 12345 })
  fails_with("ENOENT", serial.open, "/dev/no-such-tty")
  lu.assertErrorMsgContains("takes a table {baud}", serial.open, "/dev/null", { buad = 9600 })
  lu.assertErrorMsgContains("takes a table {baud}", serial.open, "/dev/null", 9600)
end

function T.test_poll()
  local dir <close> = fs.temp_dir()
  local path = make_fifo(dir)
  local both <close> = stream.open(path, "rw")
  local fd
  for _, name in ipairs(fs.list("/proc/self/fd")) do
    if fs.try_readlink("/proc/self/fd/" .. name) == path then fd = math.tointeger(name) end
  end
  lu.assertEquals({ poll.wait(fd, "w") }, { false, true })
  fails_with("TIMEOUT", poll.wait, fd, "r", 0.02)
  both:write("x")
  lu.assertEquals({ poll.wait(fd, "r", 5) }, { true, false })
  fails_with("EBADF", poll.wait, 99999, "r")
end

function T.test_tcp_echo()
  local server <close> = process.start { helpers .. "/tcp_echo" }
  local port = math.tointeger(server:read_line())
  local connection <close> = tcp.connect("127.0.0.1", port, 5)
  connection:write("hello\n")
  lu.assertEquals(connection:read_line(), "hello")
  connection:close()
  lu.assertEquals(server:wait(), 0)
end

function T.test_tcp_by_name()
  local server <close> = process.start { helpers .. "/tcp_echo" }
  local port = math.tointeger(server:read_line())
  if require("storlua.core.version").text():find("\n  static,", 1, true) then
    -- the resolver of the C library would load its other half at run time
    fails_with("ENOSYS", tcp.connect, "localhost", port, 5)
    return
  end
  local connection <close> = tcp.connect("localhost", port, 5)
  connection:write("x\n")
  lu.assertEquals(connection:read_line(), "x")
end

function T.test_tcp_failures()
  local err = fails_with("ECONNREFUSED", tcp.connect, "127.0.0.1", 1)
  lu.assertStrContains(err.message, "127.0.0.1 port 1")
  lu.assertStrContains(err.message, "connect")
  local nothing, failure = tcp.try_connect("no-such-host.invalid", 80, 10)
  lu.assertNil(nothing)
  lu.assertNotNil(failure.code)
end

return T
