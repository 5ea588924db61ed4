-- SPDX-License-Identifier: MIT
---@meta storlua.core.nvme
--- Private to the library. Written by tools/meta.lua from bindings/nvme.c.

local nvme = {}

--- smart(node) -> job -> the health log
---@param node any
function nvme.smart(node) end

--- temperature(number) -> millicelsius of the disk's own sensor
---@param number integer
function nvme.temperature(number) end

return nvme
