-- SPDX-License-Identifier: MIT
--- Watches beside the main line of a procedure: the kernel's lines about the
--- device under test, the sensors around it, and whether what is measured can
--- be. What cannot be read is said, not assumed to be good.

local device = require("storlua.device")
local watch_kernel = require("storlua.watch.kernel")
local watch_measures = require("storlua.watch.measures")
local watch_sensors = require("storlua.watch.sensors")

local watch = {}

local INTERVAL_SECONDS = 30

---@class storlua.WatchOptions
---@field role? string of the board; default: the one that the device plays
---@field interval_seconds? number between two samples (30)
---@field sysfs? string root, for tests
---@field debugfs? string root, for tests

--- Spawns the watchers of the device below `path` into `scope`: a kernel error
--- of the device ends the run at once; errors that a host counts and a bus that
--- falls back to a slower mode fail it; temperatures, clocks and the device's
--- counters become metrics.
---@async
---@param t storlua.Run
---@param scope storlua.Scope
---@param path string file or device under test; need not exist yet
---@param options? storlua.WatchOptions
function watch.device(t, scope, path, options)
  options = options or {}
  local found = device.try_of_path(path) or device.of_path(path:match("^(.*)/[^/]*$") or ".")
  t:note("device", found.label)
  local name = options.role
  if t.board and not name then name = t.board:role_of(found) end
  local role = name and t.board and t.board.roles[name] or {}
  watch_kernel.spawn(t, scope, found, role.kernel or {})
  local set = watch_sensors.spawn(t, scope, found, {
    sysfs = options.sysfs, debugfs = options.debugfs, of_board = role.sensors or {},
    interval_seconds = options.interval_seconds or INTERVAL_SECONDS,
  })
  watch_measures.spawn(t, scope, {
    path = path, found = found, sensors = set, rated_bytes = role.rated_write,
  })
end

return watch
