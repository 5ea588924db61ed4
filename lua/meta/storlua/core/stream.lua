-- SPDX-License-Identifier: MIT
---@meta storlua.core.stream
--- Private to the library. Written by tools/meta.lua from bindings/stream.c.

local stream = {}

--- open(path, "r"|"w"|"rw") -> stream: a FIFO or a device, never waiting for the other side
---@param path string
---@param r any
---@param w any
---@param rw any
function stream.open(path, r, w, rw) end

--- serial(path, baud) -> stream
---@param path string
---@param baud integer
function stream.serial(path, baud) end

---@class storlua.stream
local methods = {}

--- close(): whoever waits for the stream is told ECANCELED
function methods:close() end

--- read(fn): calls fn once with the next bytes, with false at the end, or with the error values.
--- Returns true, or the error values.
---@param fn function
function methods:read(fn) end

function methods:read_stop() end

--- write(text, fn) -> true when all of it was taken at once; false: fn will be called with true
--- or the error values. Or the error values.
---@param text string
---@param fn function
function methods:write(text, fn) end

return stream
