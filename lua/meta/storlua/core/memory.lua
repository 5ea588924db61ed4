-- SPDX-License-Identifier: MIT
---@meta storlua.core.memory
--- Private to the library. Written by tools/meta.lua from bindings/memory.c.

local memory = {}

--- cpus() -> how many threads can have a CPU of their own
function memory.cpus() end

--- instruction_sets() -> "avx512 avx2 …"
function memory.instruction_sets() end

--- kernels(name) -> names of the kernels of an operation that this CPU runs
---@param name string
function memory.kernels(name) end

function memory.limits() end

--- operations() -> list of {name, reads, writes, touched}
function memory.operations() end

return memory
