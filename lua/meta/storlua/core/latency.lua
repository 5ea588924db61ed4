-- SPDX-License-Identifier: MIT
---@meta storlua.core.latency
--- Private to the library. Written by tools/meta.lua from bindings/latency.c.

local latency = {}

--- start(spec) -> job with result() | nil, message, code, …
---@param spec table
function latency.start(spec) end

return latency
