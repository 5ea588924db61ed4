-- SPDX-License-Identifier: MIT
--- Watches beside the main line of a procedure: the kernel's lines about the
--- device under test, and temperatures. What cannot be read is said, not
--- assumed to be good.

local conditions = require("storlua.conditions")
local device = require("storlua.device")
local kernel_log = require("storlua.kernel_log")
local task = require("storlua.task")

local watch = {}

local SAMPLE_SECONDS = 30

local function record_line(t, line)
  if line.lost then
    t:event("kernel", { lost = line.lost })
    t:count("kernel.lost_lines", nil, line.lost)
  elseif line.class == "error" then
    t:event("kernel", line)
    t:count("kernel.errors", line.text)
  elseif line.class == "warning" then
    t:event("kernel", line)
  end
end

local function follow_kernel(t, log)
  -- what came in the last moment is there already when the run ends
  local _ <close> = task.defer(function()
    for line in function() return log:take() end do record_line(t, line) end
  end)
  for line in log:lines() do record_line(t, line) end
end

local function sample_temperatures(t)
  for _ in task.every(SAMPLE_SECONDS) do
    local celsius = conditions.temperature()
    if not celsius then return end -- no sensor: the metric has no rule either
    t:sample("temperature.celsius", celsius, "C")
  end
end

--- Spawns the watchers of the device below `path` into `scope`.
---@param t storlua.Run
---@param scope storlua.Scope
---@param path string file or device under test; need not exist yet
function watch.device(t, scope, path)
  local found = device.try_of_path(path) or device.of_path(path:match("^(.*)/[^/]*$") or ".")
  t:note("device", found.label)
  local log, reason = kernel_log.open(found)
  if not log then
    t:note("kernel_log", "not watched: " .. reason)
    t:not_measured("kernel.errors", "the kernel log is not watched")
  else
    t:count("kernel.errors", nil, 0)
    scope:spawn("kernel log", function()
      local _ <close> = log
      follow_kernel(t, log)
    end)
  end
  scope:spawn("temperature", sample_temperatures, t)
end

return watch
