-- SPDX-License-Identifier: MIT
--- Child processes. A command is a list, never a shell string. Each child
--- leads a process group of its own; leaving the call or the handle that
--- started it ends the whole group: SIGTERM, then SIGKILL after a grace.

local errors = require("storlua.errors")
local scheduler = require("storlua.scheduler")
local spec_of = require("storlua.process.spec")
local stream = require("storlua.stream")
local task = require("storlua.task")
local core = require("storlua.core.child")
local timer = require("storlua.core.timer")

local process = {
  grace_seconds = 2, -- from SIGTERM to SIGKILL
  max_output_bytes = 64 << 20,
  INHERIT = spec_of.INHERIT, -- stdin, stdout, stderr: the host's own
  NULL = spec_of.NULL, -- stdin, stdout, stderr: /dev/null
  PIPE = spec_of.PIPE, -- stderr of process.start: the stream .stderr
}

---@class storlua.Process
---@field pid integer also the id of its process group
---@field name string the command
---@field stdin? storlua.Stream
---@field stdout? storlua.Stream
---@field stderr? storlua.Stream
---@field package core userdata
---@field package waiters table<fun(), boolean>
local Process = {}
Process.__index = Process
Process.__name = "storlua.Process"

---@class storlua.ProcessSpec
---@field [integer] string command and arguments
---@field cwd? string
---@field env? table<string, string|false> changes to the environment; false removes
---@field stdin? string|table text to feed, process.INHERIT or process.NULL
---@field stdin_path? string file to read
---@field stdout? table process.INHERIT or process.NULL
---@field stdout_path? string file to write, emptied first
---@field stderr? table process.INHERIT or process.NULL
---@field stderr_path? string
---@field merge_stderr? boolean stderr goes where stdout goes
---@field timeout? number seconds until the group is ended (run, try_run)
---@field grace? number seconds from SIGTERM to SIGKILL
---@field max_output_bytes? integer of stdout and stderr together (run, try_run)

---@class storlua.ProcessResult
---@field code integer exit code; 0 when a signal ended it
---@field signal? integer the signal that ended it
---@field stdout string
---@field stderr string

local function begin(spec)
  local child, stdin, stdout, stderr = errors.check(
    core.start(spec.argv, spec.env, spec.cwd, spec.stdio))
  local name = spec.argv[1]
  local self = setmetatable({
    core = child, pid = child:pid(), name = name, waiters = {},
    grace = spec.grace or process.grace_seconds,
    stdin = stdin and stream.new(stdin, name .. " stdin"),
    stdout = stdout and stream.new(stdout, name .. " stdout"),
    stderr = stderr and stream.new(stderr, name .. " stderr"),
  }, Process)
  -- Only the waiters, not the handle: one that is dropped must be collected.
  local waiters = self.waiters
  child:on_change(function()
    for waiter in pairs(waiters) do waiter() end
  end)
  return self
end

-- Waits until test() holds; changes of the child are the occasions to look.
local function await_change(self, test)
  if test() then return end
  scheduler.await(function(resume)
    local function waiter() if test() then resume() end end
    self.waiters[waiter] = true
    return function() self.waiters[waiter] = nil end
  end)
end

--- Starts a command and returns a handle. Declare it with <close>.
--- stdin and stdout are pipes unless the spec says otherwise, stderr is the
--- host's.
---@param spec storlua.ProcessSpec
---@return storlua.Process
function process.start(spec)
  return begin(spec_of.read(spec, "process.start", {
    stdin = spec_of.PIPE, stdout = spec_of.PIPE, stderr = spec_of.INHERIT,
  }))
end

--- Like start, but returns nil and the error.
---@param spec storlua.ProcessSpec
---@return storlua.Process|nil, storlua.Error|nil
function process.try_start(spec)
  return errors.try(process.start, spec)
end

--- Returns what stdout has, waiting for at least one byte; nil at the end.
---@async
function Process:read() return self.stdout:read() end

--- Returns the next line of stdout; nil at the end.
---@async
---@param timeout_seconds? number
function Process:read_line(timeout_seconds) return self.stdout:read_line(timeout_seconds) end

--- Iterates over the lines of stdout.
---@async
function Process:lines() return self.stdout:lines() end

--- Writes to stdin; waits while the child does not read.
---@async
---@param text string
function Process:write(text) self.stdin:write(text) end

function Process:close_stdin() self.stdin:close() end

--- Waits until the command has ended.
---@async
---@return integer code exit code; 0 when a signal ended it
---@return integer|nil signal the signal that ended it
function Process:wait()
  if not self.result_code then
    await_change(self, function() return self.core:result() end)
    local code, signal = self.core:result()
    self.result_code, self.result_signal = code, signal ~= 0 and signal or nil
  end
  return self.result_code, self.result_signal
end

--- Sends a signal to the whole group; false when nothing is left of it.
---@param signal? integer|string 15, "TERM", "SIGTERM"; default TERM
---@return boolean
function Process:kill(signal)
  local number = spec_of.signal_number(signal or "TERM")
  local ok, message, code, fields = self.core:kill(number)
  if ok or code == "ESRCH" then return ok or false end
  error(errors.from_core(message, code, fields), 0)
end

-- Ends what is left of the group and waits until it has gone.
local function end_group(self)
  if self.core:is_gone() then return end
  self.core:terminate(math.ceil(self.grace * 1000))
  await_change(self, function() return self.core:is_gone() end)
end

-- The same where it must not take for ever: a process that sits in a dead
-- device does not end.
local function end_group_or_leave(self)
  if not pcall(task.timeout, self.grace + 5, end_group, self) then
    errors.raise("ETIMEDOUT", "%s (process %d) does not end, not even by SIGKILL: left behind",
      self.name, self.pid)
  end
end

--- Ends the group and lets go of it; never raises.
---@async
function Process:close()
  if self.closed then return end
  self.closed = true
  for _, name in ipairs { "stdin", "stdout", "stderr" } do
    if self[name] then self[name]:close() end
  end
  scheduler.cleanup(function() end_group_or_leave(self) end)
  if self.core:result() then Process.wait(self) end
  self.core:close()
end
Process.__close = Process.close

-- Feeds stdin; a child that does not want it is no failure.
local function feed(input, text)
  local ok, err = pcall(input.write, input, text)
  input:close()
  if not ok and not (errors.is(err) and err.code == "EPIPE") then error(err, 0) end
end

local function collect(from, parts, budget)
  for chunk in function() return from:read() end do
    parts[#parts + 1] = chunk
    budget.left = budget.left - #chunk
    if budget.left < 0 then
      errors.raise("EMSGSIZE", "%s: more than %d bytes of output (max_output_bytes)",
        from.name, budget.max)
    end
  end
end

-- Starts the command, moves its bytes, returns what came of it.
local function execute(spec)
  local max = spec.max_output_bytes or process.max_output_bytes
  local budget = { left = max, max = max }
  local out, err = {}, {}
  local child <close> = begin(spec)
  local scope <close> = task.scope()
  local _ <close> = spec.timeout and spec_of.deadline(timer, scope, spec) or nil
  if child.stdin then scope:spawn(child.stdin.name, feed, child.stdin, spec.input) end
  if child.stdout then scope:spawn(child.stdout.name, collect, child.stdout, out, budget) end
  if child.stderr then scope:spawn(child.stderr.name, collect, child.stderr, err, budget) end
  local code, signal = child:wait()
  -- What the command leaves running ends with it. If such a one has left the
  -- group and keeps the pipes open, its output is not ours any more.
  end_group(child)
  if scope.count > 0 then
    local joiner <close> = task.scope()
    joiner:spawn("drain", function()
      task.sleep(child.grace)
      scope:cancel()
    end)
    scope:join()
  end
  return {
    code = code, signal = signal, stdout = table.concat(out), stderr = table.concat(err),
  }
end

local captured = { stdin = spec_of.NULL, stdout = spec_of.PIPE, stderr = spec_of.PIPE }

--- Runs a command to its end. Any exit code is a result; only a command that
--- cannot be started, takes too long or writes too much gives nil, error.
---@async
---@param spec storlua.ProcessSpec
---@return storlua.ProcessResult|nil, storlua.Error|nil
function process.try_run(spec)
  return errors.try(execute, spec_of.read(spec, "process.try_run", captured))
end

--- Runs a command to its end and raises unless its exit code is 0. The error
--- has the fields of the result too, and exit_code.
---@async
---@param spec storlua.ProcessSpec
---@return storlua.ProcessResult
function process.run(spec)
  local checked = spec_of.read(spec, "process.run", captured)
  local result = execute(checked)
  if result.code == 0 and not result.signal then return result end
  error(spec_of.failure(checked, result), 0)
end

return process
