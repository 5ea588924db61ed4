-- SPDX-License-Identifier: MIT
--- The host: runs the command line as the root task, takes signals, stalls and
--- failed callbacks from the C side (storlua.host.events), and turns the end into
--- an exit code (storlua.host.ending).

local cli = require("storlua.cli")
local core = require("storlua.core.host")
local scheduler = require("storlua.scheduler")
local stdlib = require("storlua.stdlib")

local host = {}

--- Writes a line about the run to the standard error.
function host.say(...)
  io.stderr:write("storlua: ", ...)
  io.stderr:write("\n")
end

--- Called when the loop had been busy for more than a second; a run replaces
--- it by an event.
---@param info table seconds, where (script:line, or nil), task (or nil)
function host.on_stall(info)
  host.say(("the loop was busy for %.1f s%s%s"):format(info.seconds,
    info.where and " in " .. info.where or "",
    info.task and " (task " .. info.task .. ")" or ""))
end

-- Most runs meet none of them: what answers is loaded when the first comes.
local function answer(event)
  core.on(event, function(...) return require("storlua.host.events")[event](...) end)
end

local function exit_code(ok, result)
  if ok and not (scheduler.exit_code or scheduler.callback_error or scheduler.stopped_by
    or scheduler.cleanup_failures[1]) then
    return math.tointeger(result) or 0
  end
  return require("storlua.host.ending").exit_code(ok, result)
end

--- Called by the C host.
---@param argv table arg[0] is the program
---@return integer exit code
function host.main(argv)
  stdlib.install()
  answer("stop")
  answer("stall")
  answer("interrupt")
  answer("failure")
  return exit_code(scheduler.run(cli.main, argv))
end

return host
