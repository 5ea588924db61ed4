-- SPDX-License-Identifier: MIT
---@meta storlua.core.errno
--- Private to the library. Written by tools/meta.lua from bindings/errno.c.

local errno = {}

--- number(name) -> integer: 5 of "EIO" | nil of what is no errno
---@param name string
function errno.number(name) end

return errno
