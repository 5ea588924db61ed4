-- SPDX-License-Identifier: MIT
---@meta storlua.core.bandwidth
--- Private to the library. Written by tools/meta.lua from bindings/bandwidth.c.

local bandwidth = {}

--- start(spec) -> job with progress() and result() | nil, message, code, …
---@param spec table
function bandwidth.start(spec) end

return bandwidth
