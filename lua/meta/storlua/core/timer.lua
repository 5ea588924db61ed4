-- SPDX-License-Identifier: MIT
---@meta storlua.core.timer
--- Private to the library. Written by tools/meta.lua from bindings/timer.c.

local timer = {}

--- start(after_ns, fn) -> timer: calls fn once, not before its time
---@param after_ns integer
---@param fn function
function timer.start(after_ns, fn) end

---@class storlua.timer
local methods = {}

function methods:cancel() end

return timer
