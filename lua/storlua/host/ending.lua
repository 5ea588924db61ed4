-- SPDX-License-Identifier: MIT
--- How the host ends when something happened: what is said, and which exit code
--- wins. A part of storlua.host.

local cli = require("storlua.cli")
local errors = require("storlua.errors")
local failure = require("storlua.failure")
local host = require("storlua.host")
local scheduler = require("storlua.scheduler")

local ending = {}

local function report_cleanups()
  for _, entry in ipairs(scheduler.cleanup_failures) do
    if not entry.reported then
      entry.reported = true
      host.say("clean-up failed", entry.task and " in task " .. entry.task or "", ": ",
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
    host.say(failure.text(err))
    return 2
  end
  host.say(code == "RESULT" and failure.text(err) or failure.report(err))
  return 3
end

-- Which of two reasons to end wins: the earlier one in this list.
local RANK = { [5] = 1, [3] = 2, [1] = 3, [2] = 4, [6] = 6, [4] = 7, [0] = 8 }
local SIGNAL_RANK = 5
local function worse(a, b)
  local function rank(code) return RANK[code] or SIGNAL_RANK end
  return rank(b) < rank(a) and b or a
end

--- The code of a run that did not simply end, after telling why.
---@param ok boolean
---@param result any what the command line returned, or its error
---@return integer
function ending.exit_code(ok, result)
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
    host.say("in a callback: ", failure.report(late))
    code = worse(code, 3)
  end
  report_cleanups()
  if #scheduler.cleanup_failures > 0 then code = worse(code, 6) end
  if scheduler.stopped_by then code = worse(code, 128 + scheduler.stopped_by) end
  return code
end

return ending
