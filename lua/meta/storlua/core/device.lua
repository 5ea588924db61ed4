-- SPDX-License-Identifier: MIT
---@meta storlua.core.device
--- Private to the library. Written by tools/meta.lua from bindings/device.c.

local device = {}

--- of_path(path) -> job -> {path, is_node, kind, reason, mount, disks, chain}
---@param path string
function device.of_path(path) end

return device
