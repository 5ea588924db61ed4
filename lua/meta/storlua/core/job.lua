-- SPDX-License-Identifier: MIT
---@meta storlua.core.job
--- Private to the library. Written by tools/meta.lua from bindings/job.c.

local job = {}

---@class storlua.job
local methods = {}

function methods:abandon() end

function methods:cancel() end

--- close(): lets go of the job and all it holds; one that still runs is abandoned.
function methods:close() end

function methods:is_done() end

function methods:name() end

--- on_done(fn): calls fn once, soon, when the job has ended; at once when it has already. One
--- function at a time; nil takes it away.
---@param fn function
function methods:on_done(fn) end

function methods:progress() end

function methods:result() end

--- stuck() -> nil, or {what, offset, seconds, thread, kernel_stack} while the thread is inside a
--- system call
function methods:stuck() end

return job
