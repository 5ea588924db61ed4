-- SPDX-License-Identifier: MIT
---@meta storlua.core.uevent
--- Private to the library. Written by tools/meta.lua from bindings/uevent.c.

local uevent = {}

--- open() -> socket
function uevent.open() end

---@class storlua.uevent
local methods = {}

function methods:close() end

function methods:fd() end

--- socket:next() -> {action, subsystem, name}, or false when there is none now
function methods:next() end

return uevent
