-- SPDX-License-Identifier: MIT
---@meta storlua.core.mmc
--- Private to the library. Written by tools/meta.lua from bindings/mmc.c.

local mmc = {}

--- read(number, node) -> job -> {registers, ios, ext_csd, errors}; each has a reason instead
--- where it cannot be had
---@param number integer
---@param node any
function mmc.read(number, node) end

return mmc
