-- SPDX-License-Identifier: MIT
---@meta storlua.core.mmc
--- Private to the library. Written by tools/meta.lua from bindings/mmc.c.

local mmc = {}

--- parse_errors(text) -> {name → count} of the file err_stats, or nil
---@param text string
function mmc.parse_errors(text) end

--- parse_ios(text) -> what the file ios says, or nil
---@param text string
function mmc.parse_ios(text) end

--- read(number, node) -> job -> {registers, ios, ext_csd, errors}; each has a reason instead
--- where it cannot be had
---@param number integer
---@param node any
function mmc.read(number, node) end

return mmc
