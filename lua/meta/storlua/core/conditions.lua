-- SPDX-License-Identifier: MIT
---@meta storlua.core.conditions
--- Private to the library. Written by tools/meta.lua from bindings/conditions.c.

local conditions = {}

--- read() -> {kernel, machine, model, governor, cpus, memory_bytes, boot_id, zones = {{type,
--- celsius}, …}}
function conditions.read() end

return conditions
