-- SPDX-License-Identifier: MIT
---@meta storlua.core.block_list
--- Private to the library. Written by tools/meta.lua from bindings/block_list.c.

local block_list = {}

--- read(probe, space) -> job -> list of devices: the fields of an identity and {transport,
--- content, space, mounts, holders, slaves, uses, swap, …}
---@param probe any
---@param space any
function block_list.read(probe, space) end

return block_list
