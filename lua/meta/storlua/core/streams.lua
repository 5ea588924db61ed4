-- SPDX-License-Identifier: MIT
---@meta storlua.core.streams
--- Private to the library. Written by tools/meta.lua from bindings/streams.c.

local streams = {}

--- new(count, stonewall) -> streams
---@param count any
---@param stonewall any
function streams.new(count, stonewall) end

---@class storlua.streams
local methods = {}

--- streams:window() -> start_ns, end_ns, list of {start_ns, end_ns, bytes, operations}; nil
--- unless all of them ran
function methods:window() end

return streams
