-- SPDX-License-Identifier: MIT
---@meta storlua.core.counters
--- Private to the library. Written by tools/meta.lua from bindings/counters.c.

local counters = {}

--- read("179:0") -> snapshot
function counters.read() end

---@class storlua.counters
local methods = {}

--- snapshot:since(earlier) -> the same of the difference
function methods:since() end

--- snapshot:values() -> {read, write, discard, flushes, busy_ns, …}
function methods:values() end

return counters
