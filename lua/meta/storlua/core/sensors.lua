-- SPDX-License-Identifier: MIT
---@meta storlua.core.sensors
--- Private to the library. Written by tools/meta.lua from bindings/sensors.c.

local sensors = {}

--- read(paths [, wake_node]) -> job -> {path → text}, {path → why not}
---@param paths any
---@param wake_node any
function sensors.read(paths, wake_node) end

return sensors
