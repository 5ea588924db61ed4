-- SPDX-License-Identifier: MIT
---@meta storlua.core.quantity
--- Private to the library. Written by tools/meta.lua from bindings/quantity.c.

local quantity = {}

--- duration_text(ns) -> "3 min 07 s"
---@param ns any
function quantity.duration_text(ns) end

--- parse(kind, text) -> integer (bytes, ns, pieces, bytes per second) | nil, why, "EINVAL" or
--- "ERANGE"
---@param kind any
---@param text string
function quantity.parse(kind, text) end

--- size_text(bytes) -> "4 KiB"
---@param bytes any
function quantity.size_text(bytes) end

return quantity
