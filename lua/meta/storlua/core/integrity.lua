-- SPDX-License-Identifier: MIT
---@meta storlua.core.integrity
--- Private to the library. Written by tools/meta.lua from bindings/integrity.c.

local integrity = {}

--- patterns() -> names, in the order of a pass
function integrity.patterns() end

--- start(spec) -> job with progress() and result() | nil, message, code, …
---@param spec table
function integrity.start(spec) end

return integrity
