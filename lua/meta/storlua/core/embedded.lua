-- SPDX-License-Identifier: MIT
---@meta storlua.core.embedded
--- Private to the library. Written by tools/meta.lua from bindings/embedded.c.

local embedded = {}

--- list() -> names of all embedded files
function embedded.list() end

--- read(name) -> content, or nil when there is no such file
---@param name string
function embedded.read(name) end

return embedded
