-- SPDX-License-Identifier: MIT
---@meta storlua.core.workload
--- Private to the library. Written by tools/meta.lua from bindings/workload.c.

local workload = {}

--- check(spec) -> true | nil, message, code, …: without touching the target
---@param spec table
function workload.check(spec) end

--- engines() -> list of names
function workload.engines() end

--- probe(name) -> true | nil, message, code, …: whether the kernel has it
---@param name string
function workload.probe(name) end

--- stamp_kernel([name]) -> name of the kernel in use; a name selects one, nil when this CPU or
--- build lacks it. For benchmarks.
---@param name string
function workload.stamp_kernel(name) end

--- start(spec) -> job with progress() and result() | nil, message, code, …
---@param spec table
function workload.start(spec) end

return workload
