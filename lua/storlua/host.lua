-- SPDX-License-Identifier: MIT
--- The host: runs the command line as the root task, takes signals, stalls and
--- failed callbacks from the C side, and turns the end into an exit code.

local cli = require("storlua.cli")
local core = require("storlua.core.host")
local errors = require("storlua.errors")
local failure = require("storlua.failure")
local loop = require("storlua.core.loop")
local scheduler = require("storlua.scheduler")
local stdlib = require("storlua.stdlib")

local host = {}

local WHERE, STOP = 1, 2 -- what an interrupt asks; enum sl_stall_ask

local function say(...)
  io.stderr:write("storlua: ", ...)
  io.stderr:write("\n")
end

--- Called when the loop had been busy for more than a second; a run replaces
--- it by an event.
---@param info table seconds, where (script:line, or nil), task (or nil)
function host.on_stall(info)
  say(("the loop was busy for %.1f s%s%s"):format(info.seconds,
    info.where and " in " .. info.where or "",
    info.task and " (task " .. info.task .. ")" or ""))
end

local stop_reason
local function on_stop(signal, name)
  if scheduler.stopped_by then return end
  scheduler.stopped_by = signal
  local n = scheduler.open_cleanups
  local cleanups = n == 0 and "" or (": %d clean-up%s may run"):format(n, n == 1 and "" or "s")
  say("stopping (", name, ")", cleanups, signal == 2 and "; press Ctrl-C again to give up"
    or "; a second signal ends it at once")
  stop_reason = errors.new { code = "SIGNAL", signal = signal, message = "stopped by " .. name }
  scheduler.stop_root(stop_reason)
end

local function is_library(info)
  return info.what == "C" or info.short_src:match("^storlua/")
end

-- The place in the script that runs: the first frame that is not the library's.
local function place()
  local first
  for level = 3, 40 do
    local info = debug.getinfo(level, "Sl")
    if not info then break end
    if info.currentline > 0 then
      local text = info.short_src .. ":" .. info.currentline
      if not is_library(info) then return text end
      first = first or text
    end
  end
  return first
end

-- Runs inside a hook on whatever Lua code is busy. What it returns is raised
-- there, but never inside the library or a clean-up. A script that swallows it
-- and goes on meets it again right behind its pcall.
local busy
local raised = { turn = nil, times = 0 }
local function on_interrupt(what, may_raise)
  local t = scheduler.running()
  if what & WHERE ~= 0 then busy = { where = place(), task = t and t.name } end
  if what & STOP == 0 or not may_raise then return nil, false end
  if t and t.shield and loop.now_ns() < t.shield.end_ns then return nil, false end
  if is_library(debug.getinfo(2, "S")) then return nil, true end
  on_stop(core.stopped_by()) -- the loop may not have come to it
  if raised.turn ~= scheduler.turns then raised.turn, raised.times = scheduler.turns, 0 end
  raised.times = raised.times + 1
  return stop_reason, raised.times > 1
end

local function on_stalled(seconds)
  local info = busy or {}
  busy = nil
  info.seconds = seconds
  host.on_stall(info)
end

local function on_callback_failure(text)
  local message, traceback = text:match("^(.-)\nstack traceback:\n(.*)$")
  local err = errors.new { code = "ERROR", message = message or text }
  if traceback then failure.remember(err, traceback) end
  scheduler.callback_error = scheduler.callback_error or err
  scheduler.stop_root(err)
end

local function report_cleanups()
  for _, entry in ipairs(scheduler.cleanup_failures) do
    if not entry.reported then
      entry.reported = true
      say("clean-up failed", entry.task and " in task " .. entry.task or "", ": ",
        failure.report(entry.error))
    end
  end
end

-- The code and what to say about an error that nobody caught.
local function code_of_error(err)
  local code = errors.is(err) and err.code
  if code == "EXIT" then return scheduler.exit_code end
  if code == "NO_READER" then return 1 end
  if code == "SIGNAL" and scheduler.stopped_by then return 128 + scheduler.stopped_by end
  if cli.is_usage(err) then
    say(failure.text(err))
    return 2
  end
  say(code == "RESULT" and failure.text(err) or failure.report(err))
  return 3
end

-- Which of two reasons to end wins: the earlier one in this list.
local RANK = { [5] = 1, [3] = 2, [1] = 3, [2] = 4, [6] = 6, [4] = 7, [0] = 8 }
local SIGNAL_RANK = 5
local function worse(a, b)
  local function rank(code) return RANK[code] or SIGNAL_RANK end
  return rank(b) < rank(a) and b or a
end

---@param ok boolean
---@param result any what the command line returned, or its error
---@return integer
local function exit_code(ok, result)
  local code
  if ok then
    code = math.tointeger(result) or 0
    -- A script that swallowed the error of os.exit has still called it.
    if scheduler.exit_code and scheduler.exit_code ~= 0 then code = scheduler.exit_code end
  else
    code = code_of_error(result)
  end
  local late = scheduler.callback_error
  if late and (ok or late ~= result) then
    say("in a callback: ", failure.report(late))
    code = worse(code, 3)
  end
  report_cleanups()
  if #scheduler.cleanup_failures > 0 then code = worse(code, 6) end
  if scheduler.stopped_by then code = worse(code, 128 + scheduler.stopped_by) end
  return code
end

--- Called by the C host.
---@param argv table arg[0] is the program
---@return integer exit code
function host.main(argv)
  stdlib.install()
  core.on("stop", on_stop)
  core.on("stall", on_stalled)
  core.on("interrupt", on_interrupt)
  core.on("failure", on_callback_failure)
  return exit_code(scheduler.run(cli.main, argv))
end

return host
