-- SPDX-License-Identifier: MIT
--- The prompt of `storlua -i`. Each line runs as a task, so it may wait;
--- spawn(name, fn) starts one that goes on while the next line is typed.
--- Ctrl-C cancels the line, Ctrl-D or exit() ends the prompt and with it all
--- that still runs.

local errors = require("storlua.errors")
local failure = require("storlua.failure")
local line_editor = require("storlua.cli.line_editor")
local scheduler = require("storlua.scheduler")
local stream = require("storlua.stream")
local task = require("storlua.task")
local values = require("storlua.cli.prompt_values")
local core = require("storlua.core.prompt")

local prompt = {}

local GREETING = "storlua: Lua that may wait. spawn(name, fn) runs beside the prompt, "
  .. "Ctrl-C cancels a line, Ctrl-D ends.\n"

-- Known without require at the prompt, for short lines.
local MODULES = {
  "fs", "poll", "process", "quantity", "serial", "stream", "task", "tcp", "workload",
}

local EXIT = errors.new { code = "EXIT_PROMPT", message = "exit" }
local CANCELLED = errors.new { code = "CANCELLED", message = "the line was cancelled" }

local function make_environment(session)
  local known = {}
  for _, name in ipairs(MODULES) do known[name] = true end
  return setmetatable({
    exit = function(code)
      session.exit_code = math.tointeger(code) or (code == false and 1 or 0)
      error(EXIT, 0)
    end,
    print = function(...)
      local texts = {}
      for i = 1, select("#", ...) do texts[i] = tostring((select(i, ...))) end
      session:print(table.concat(texts, "\t"))
    end,
    spawn = function(name, fn, ...)
      if type(fn) ~= "function" then error("spawn: a name and a function", 2) end
      session.scope:spawn(name, function(...)
        local ok, err = pcall(fn, ...)
        if not ok and not (errors.is(err) and err.code == "CANCELLED") then
          session:print(("task %s: %s"):format(name, failure.text(err)))
        end
      end, ...)
    end,
  }, {
    __index = function(_, name)
      local value = _G[name]
      if value ~= nil or not known[name] then return value end
      local ok, module = pcall(require, "storlua." .. name)
      return ok and module or nil
    end,
  })
end

-- The function for a line: an expression or statements; "more" when the text
-- only begins something.
local function compile(text, environment)
  local chunk = load("return " .. text, "=prompt", "t", environment)
  if chunk then return chunk end
  local message
  chunk, message = load(text, "=prompt", "t", environment)
  if chunk then return chunk end
  return nil, message:find("<eof>$") and "more" or message
end

-- A text error keeps the part of its traceback that is the user's.
local function on_error(err)
  if type(err) ~= "string" then return err end
  local trace = debug.traceback("", 2):gsub("\n\t%[C%]: in function 'xpcall'.*", "")
  local _, levels = trace:gsub("\n\t", "")
  return levels > 2 and err .. trace or err
end

-- Runs a line as a task of its own and shows what came of it.
local function run_line(session, chunk)
  local results
  session.is_cancelled = false
  do
    local scope <close> = task.scope()
    session.line_scope = scope
    scope:spawn("line", function()
      if session.watch_busy then debug.sethook(session.watch_busy, "", 1000000) end
      results = table.pack(xpcall(chunk, on_error))
    end)
    scope:join()
  end
  session.line_scope = nil
  local ok, first = table.unpack(results, 1, 2)
  if ok then
    if results.n > 1 then session:print(values.show_all(table.unpack(results, 2, results.n))) end
  elseif first == EXIT then
    return false
  elseif errors.is(first) and first.code == "EXIT" then
    error(first, 0) -- os.exit
  elseif not session.is_cancelled then
    session.failed = true
    session:complain(failure.text(first))
  end
  return true
end

-- Reads lines and runs them until the input ends or exit() is called.
local function loop(session)
  local environment = make_environment(session)
  local text
  while true do
    local what, line = session:read(text and ">> " or "> ")
    if what == "end" then
      if text and session.is_plain then
        session.failed = true
        session:complain("the input ends in the middle of this:\n" .. text)
      end
      return
    end
    if what == "interrupt" then
      text = nil
    else
      text = text and text .. "\n" .. line or line
      local chunk, message = compile(text, environment)
      if chunk then
        text = nil
        if not run_line(session, chunk) then return end
      elseif message ~= "more" then
        text = nil
        session.failed = true
        session:complain(message)
      end
    end
  end
end

-- Standard input that is not a terminal: lines as they come, no prompts.
local function plain_session()
  local session = { is_plain = true }
  local input = stream.try_open("/dev/stdin")
  local next_line = input and input:lines() or function() return io.read("l") end
  function session.read()
    local line = next_line()
    if line then return "line", line end
    return "end"
  end
  function session.print(_, text) io.stdout:write(text, "\n"):flush() end
  function session.complain(_, text) io.stderr:write(text, "\n") end
  function session.close() if input then input:close() end end
  return session
end

-- Takes keys from the terminal. Ctrl-C cancels the line that runs; other keys
-- wait in the queue for the next prompt.
local function take_keys(session, bytes)
  if session.line_scope and bytes:find("\3", 1, true) then
    bytes = bytes:match("[^\3]*$")
    session.keys = ""
    session.write("^C\n")
    session.is_cancelled = true
    session.line_scope:cancel()
  end
  session.keys = session.keys .. bytes
  if session.wake then session.wake() end
end

local function keyboard(session, input)
  for bytes in function() return input:read() end do take_keys(session, bytes) end
  session.has_ended = true
  if session.wake then session.wake() end
end

local function terminal_session(scope)
  local function write(text) io.stdout:write(text):flush() end
  local input = stream.open("/dev/stdin")
  local editor = line_editor.new(write, core.columns)
  local session = { keys = "", write = write, scope = scope }
  function session:read(text)
    editor:start(text)
    self.editing = true
    while true do
      local keys = self.keys
      self.keys = ""
      local what, line = editor:feed(keys)
      if what then
        self.editing = false
        if line then editor:remember(line) end
        return what, line
      end
      if self.has_ended then return "end" end
      if self.keys == "" then
        scheduler.await(function(resume)
          self.wake = resume
          return function() self.wake = nil end
        end)
        self.wake = nil
      end
    end
  end
  function session:print(text)
    if self.editing then editor:hide() end
    write(text .. "\n")
    if self.editing then editor:draw() end
  end
  session.complain = session.print
  -- A line that never waits keeps the keyboard task from running. The hook
  -- halves the speed of Lua code, which the prompt can afford.
  function session.watch_busy()
    local bytes = core.keys()
    if not bytes then return end
    take_keys(session, bytes)
    if session.is_cancelled then error(CANCELLED, 0) end
  end
  function session.close() input:close() end
  scope:spawn("keyboard", keyboard, session, input)
  return session
end

--- Runs the prompt until its input ends. A line that failed makes the exit
--- code 3 when nobody sat at a terminal.
---@async
---@return integer exit code
function prompt.run()
  local is_terminal = core.is_terminal()
  local mode <close> = is_terminal and errors.check(core.raw()) or nil
  local scope <close> = task.scope()
  local session = is_terminal and terminal_session(scope) or plain_session()
  local _ <close> = task.defer(function()
    scope:cancel() -- the keyboard first: it reads from what is closed
    session:close()
  end)
  session.scope = scope
  if mode then session:print(GREETING:sub(1, -2)) end
  loop(session)
  return session.exit_code or (session.is_plain and session.failed and 3 or 0)
end

return prompt
