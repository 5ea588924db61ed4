-- SPDX-License-Identifier: MIT
--- Runs storlua the way a user does: as a program with arguments, signals and
--- a folder of results.

local dkjson = require("dkjson")
local lu = require("luaunit")
local loop = require("storlua.core.loop")
local process = require("storlua.process")
local task = require("storlua.task")

local cli_run = { program = assert(os.getenv("STORLUA"), "STORLUA names the program under test") }

local function spec_of(argv)
  local spec = { cli_run.program, table.unpack(argv) }
  for name, value in pairs(argv) do
    if type(name) == "string" then spec[name] = value end
  end
  return spec
end

--- Runs it to its end.
---@async
---@param argv table arguments; also cwd, env, stdin, timeout (60)
---@return table {code, signal, stdout, stderr}
function cli_run.run(argv)
  local spec = spec_of(argv)
  spec.timeout = argv.timeout or 60
  local result, err = process.try_run(spec)
  return result or error(err, 0)
end

---@class cli_run.Run
local Run = {}
Run.__index = Run

--- Starts it. Close the value to end what still runs.
---@async
---@param argv table arguments; also cwd, env
---@return cli_run.Run
function cli_run.start(argv)
  local spec = spec_of(argv)
  spec.stdin, spec.stderr = process.NULL, process.PIPE
  local self = setmetatable({ out = {}, err = {} }, Run)
  self.child = process.start(spec)
  self.scope = task.scope()
  for stream, lines in pairs { stdout = self.out, stderr = self.err } do
    self.scope:spawn(stream, function()
      -- Ends without complaint when the value is closed before the program.
      pcall(function()
        for line in self.child[stream]:lines() do lines[#lines + 1] = line end
      end)
    end)
  end
  return self
end

--- Waits for a line of either stream that matches.
---@async
---@param pattern string
---@param seconds? number 10
---@return string
function Run:wait_line(pattern, seconds)
  for _ = 1, math.ceil((seconds or 10) / 0.01) do
    for _, lines in ipairs { self.out, self.err } do
      for _, line in ipairs(lines) do
        if line:find(pattern) then return line end
      end
    end
    task.sleep(0.01)
  end
  lu.fail(("no line matches %q in\n%s"):format(pattern, self:text()))
end

function Run:text()
  return table.concat(self.out, "\n") .. "\n" .. table.concat(self.err, "\n")
end

--- Waits for an event of the run for which test(event) is true.
---@async
---@param run_dir string
---@param test fun(event: table): any
---@param seconds? number 10
---@return table event
function Run:wait_event(run_dir, test, seconds)
  for _ = 1, math.ceil((seconds or 10) / 0.02) do
    for _, event in ipairs(cli_run.events(run_dir)) do
      if test(event) then return event end
    end
    task.sleep(0.02)
  end
  lu.fail("the event did not come\n" .. self:text())
end

--- Sends a signal as a terminal does, to the whole process group, or with
--- `alone` to the first process only, as kill(1) does.
---@param signal string "INT", "TERM", "KILL" …
---@param alone? boolean
function Run:signal(signal, alone)
  if alone then
    process.run { "kill", "-s", signal, self.child.pid }
  else
    self.child:kill(signal)
  end
end

--- Waits for its end.
---@async
---@param seconds? number 30; the test fails when it takes longer
---@return table {code, signal, stdout, stderr, seconds}
function Run:finish(seconds)
  local begin = loop.now_ns()
  local ok, code, signal = pcall(task.timeout, seconds or 30, self.child.wait, self.child)
  if not ok then lu.fail(("%s\n%s"):format(tostring(code), self:text())) end
  local took = (loop.now_ns() - begin) / 1e9
  -- A program that left a thread behind has closed its streams all the same.
  local drained = pcall(task.timeout, 2, self.scope.join, self.scope)
  lu.assertTrue(drained, "streams stay open after the end")
  return { code = code, signal = signal, seconds = took,
    stdout = table.concat(self.out, "\n"), stderr = table.concat(self.err, "\n") }
end

function Run:__close(err)
  self.scope:cancel()
  self.child:close()
  getmetatable(self.scope).__close(self.scope, err)
end

--- Runs fn, which returns how many seconds something took, until that was
--- below the limit: on a machine with other work the best of three counts.
---@async
---@param limit number
---@param fn fun(): number
function cli_run.within(limit, fn)
  local taken = {}
  for i = 1, 3 do
    taken[i] = fn()
    if taken[i] < limit then return end
  end
  lu.fail(("took %s s, not %g"):format(table.concat(taken, ", "), limit))
end

--- The events of a run so far. A last line that is still being written, or was
--- torn, is left out; any other line that is not JSON fails the test.
---@param run_dir string
---@return table[]
function cli_run.events(run_dir)
  local events = {}
  for _, name in ipairs { "events.1.jsonl", "events.jsonl" } do
    local file = io.open(run_dir .. "/" .. name)
    local text = file and file:read("a") or ""
    if file then file:close() end
    for line in text:gmatch("([^\n]*)\n") do
      events[#events + 1] = assert(dkjson.decode(line), line)
    end
  end
  return events
end

--- The events of one kind.
---@param run_dir string
---@param kind string
---@return table[]
function cli_run.events_of(run_dir, kind)
  local found = {}
  for _, event in ipairs(cli_run.events(run_dir)) do
    if event.kind == kind then found[#found + 1] = event end
  end
  return found
end

--- The verdict of a finished run; fails the test when there is none.
---@param run_dir string
---@return table
function cli_run.verdict(run_dir)
  local verdicts = cli_run.events_of(run_dir, "verdict")
  lu.assertEquals(#verdicts, 1, "verdicts in " .. run_dir)
  return verdicts[1]
end

return cli_run
