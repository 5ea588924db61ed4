-- SPDX-License-Identifier: MIT
---@meta storlua.core.host
--- Private to the library. Written by tools/meta.lua from bindings/host.c.

local host = {}

--- abandoned_jobs() -> how many given-up jobs have not come back
function host.abandoned_jobs() end

--- alert(change): counts cancelled tasks and shields, see host.h
---@param change any
function host.alert(change) end

--- on(event, fn): "stop", "stall", "interrupt", "failure"; see host.h
---@param event string
---@param fn function
function host.on(event, fn) end

--- resume(co, ...) -> true, ... | false, error; as coroutine.resume
---@param co thread
---@param ... any
function host.resume(co, ...) end

--- signal_name(number) -> "SIGINT"
---@param number integer
function host.signal_name(number) end

--- step(co) -> nothing: it waits | true: it has ended | false, error Runs a task up to its next
--- wait.
---@param co thread
function host.step(co) end

--- stopped_by() -> number, name of the signal that asked to stop; 0 for none
function host.stopped_by() end

--- supervisor() -> process id, 0 without one
function host.supervisor() end

--- task() -> coroutine of the task that runs now, or nil
function host.task() end

--- wrap(fn) -> function; as coroutine.wrap
---@param fn function
function host.wrap(fn) end

return host
