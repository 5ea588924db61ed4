-- SPDX-License-Identifier: MIT
---@meta storlua.core.scratch
--- Private to the library. Written by tools/meta.lua from bindings/scratch.c.

local scratch = {}

--- claim(path, resume) -> job, whose results are file, reused
---@param path string
---@param resume any
function scratch.claim(path, resume) end

--- release(file, reason) -> job: removes the file; keeps it as evidence when there is a reason
---@param file any
---@param reason any
function scratch.release(file, reason) end

return scratch
