-- SPDX-License-Identifier: MIT
---@meta storlua.core.child
--- Private to the library. Written by tools/meta.lua from bindings/child.c.

local child = {}

--- start(argv, env, cwd, stdio) -> child, stdin, stdout, stderr: streams, nil where stdio says no
--- "pipe". env: list of "NAME=value" and "NAME".
---@param argv string[]
---@param env string[]
---@param cwd any
---@param stdio table
function child.start(argv, env, cwd, stdio) end

---@class storlua.child
local methods = {}

--- A child that nobody holds any more has no claim to go on.
function methods:close() end

function methods:is_gone() end

--- kill(number) -> true, or the error values
---@param number integer
function methods:kill(number) end

--- on_change(fn): calls fn, soon, when the child has ended and when its group has gone. One
--- function at a time; nil takes it away.
---@param fn function
function methods:on_change(fn) end

function methods:pid() end

--- result() -> nil while it runs, then code, signal (0: none)
function methods:result() end

--- terminate(grace_ms): SIGTERM to the group, SIGKILL after the grace
---@param grace_ms integer
function methods:terminate(grace_ms) end

return child
