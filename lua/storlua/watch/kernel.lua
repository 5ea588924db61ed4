-- SPDX-License-Identifier: MIT
--- The kernel's lines about the device under test, in a run.

local kmsg = require("storlua.kmsg")
local task = require("storlua.task")

local watch_kernel = {}

local CHECKS_MAX = 10 -- further errors are counted, not told one by one
local SETTLE_SECONDS = 0.3 -- one failure is often several lines

-- One line into the events; the text of an error.
local function take(t, line, told)
  if line.lost then
    t:event("kernel", { lost = line.lost })
    t:count("kernel.lost_lines", nil, line.lost)
    told.lost = told.lost + line.lost
    t:note("kernel_log", told.lost .. " lines were overwritten before they could be read")
    t:lost("kernel.errors", "lines of the kernel's log were overwritten before they could be read")
    return nil
  end
  t:event("kernel", line)
  if line.class ~= "error" then return nil end
  t:count("kernel.errors", line.text)
  if told.errors < CHECKS_MAX then t:check("kernel_log", false, "%s", line.text) end
  told.errors = told.errors + 1
  return line.text
end

local function take_waiting(t, log, told)
  for line in function() return log:take() end do take(t, line, told) end
end

local function follow(t, log)
  local _ <close> = log
  local told = { errors = 0, lost = 0 }
  -- The last lines of a failure may come with the end of the run.
  local _ <close> = task.defer(function() take_waiting(t, log, told) end)
  for line in log:lines() do
    local text = take(t, line, told)
    if text then
      task.sleep(SETTLE_SECONDS)
      take_waiting(t, log, told)
      t:abort("kernel error of the device under test: %s", text)
    end
  end
end

--- Follows the kernel's log. An error of the device ends the run as failed.
---@param t storlua.Run
---@param scope storlua.Scope
---@param found storlua.PathDevice
---@param rules {names?: string[], patterns?: string[], ignore?: string[]} of the board's role
function watch_kernel.spawn(t, scope, found, rules)
  local log, reason = kmsg.open(found, {
    names = rules.names, patterns = rules.patterns, ignore = rules.ignore,
  })
  if not log then
    t:note("kernel_log", "unavailable: " .. reason)
    t:not_measured("kernel.errors", "the kernel log is not readable")
    return
  end
  t:count("kernel.errors", nil, 0)
  scope:spawn("kernel log", follow, t, log)
end

return watch_kernel
