-- SPDX-License-Identifier: MIT
---@meta storlua.core.version
--- Private to the library. Written by tools/meta.lua from bindings/version.c.

local version = {}

--- text() -> all of it for a person
function version.text() end

return version
