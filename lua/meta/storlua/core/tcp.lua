-- SPDX-License-Identifier: MIT
---@meta storlua.core.tcp
--- Private to the library. Written by tools/meta.lua from bindings/tcp.c.

local tcp = {}

--- connect(address, port, fn) -> stream; fn(true) once it is connected, or fn with the error
--- values
---@param address string
---@param port integer
---@param fn function
function tcp.connect(address, port, fn) end

--- resolve(host) -> job whose result is a list of numeric addresses
---@param host string
function tcp.resolve(host) end

return tcp
