-- SPDX-License-Identifier: MIT
---@meta storlua.core.poll
--- Private to the library. Written by tools/meta.lua from bindings/poll.c.

local poll = {}

--- start(fd, "r"|"w"|"rw", fn(readable, writable, status)) -> poll
---@param fd integer
---@param r any
---@param w any
---@param rw any
---@param fn function
---@param readable any
---@param writable any
---@param status any
function poll.start(fd, r, w, rw, fn, readable, writable, status) end

---@class storlua.poll
local methods = {}

function methods:close() end

return poll
