-- SPDX-License-Identifier: MIT
---@meta storlua.core.ring
--- Private to the library. Written by tools/meta.lua from bindings/ring.c.

local ring = {}

--- open(path, slots, record_bytes, write, direct, size_bytes) -> job -> ring
---@param path string
---@param slots any
---@param record_bytes integer
---@param write any
---@param direct any
---@param size_bytes integer
function ring.open(path, slots, record_bytes, write, direct, size_bytes) end

---@class storlua.ring
local methods = {}

--- ring:abandon() -> {what, offset, seconds} of the oldest operation, coroutines of the tasks
--- that waited; the ring is closed then, and something must have been under way
function methods:abandon() end

--- ring:cancel(): asks the kernel to end all that is under way
function methods:cancel() end

--- ring:close() -> job -> true; nothing may be under way
function methods:close() end

--- ring:facts() -> {path, size_bytes, direct, ram, block, registered, kernel_workers}
function methods:facts() end

--- ring:fill(slot, offset, generation, bytes, run, target)
function methods:fill() end

--- ring:get(slot, first, count) -> string
function methods:get() end

--- ring:get_u64(slot, index) -> integer; index counts words of 8 bytes from 1
function methods:get_u64() end

--- ring:in_flight() -> operations
function methods:in_flight() end

--- ring:interrupt(coroutine) -> whether it was waiting: its operations are nobody's any more.
--- Whoever calls it wakes the task.
function methods:interrupt() end

--- ring:latency(op) -> table; 0 read, 1 write, 2 fsync
function methods:latency() end

--- ring:operation(op, checkpoint, arm, raise) -> operate op: 0 read, 1 write, 2 fsync.
--- checkpoint() raises if the task was cancelled, and is called before and after the wait; arm()
--- is called when it begins under a shield; raise(message, code, fields) raises an error of the
--- library.
function methods:operation() end

--- ring:put(slot, first, string)
function methods:put() end

--- ring:put_u64(slot, index, value)
function methods:put_u64() end

--- ring:shut(): no operation begins any more
function methods:shut() end

--- ring:stuck() -> nil, or {what, offset, seconds} of the oldest operation
function methods:stuck() end

--- ring:turner(ended, idle) -> turn; idle() is called when nothing is under way
function methods:turner() end

--- ring:verify(the same) -> true | false, {offset, damage, generation?, bits?}
function methods:verify() end

return ring
