-- SPDX-License-Identifier: MIT
---@meta storlua.core.run_dir
--- Private to the library. Written by tools/meta.lua from bindings/run_dir.c.

local run_dir = {}

--- claim(path, resume) -> job, whose results are scratch, reused
---@param path string
---@param resume any
function run_dir.claim(path, resume) end

--- is_empty(path) -> boolean
---@param path string
function run_dir.is_empty(path) end

function run_dir.is_terminal() end

--- lock(path) -> lock, held until lock:release() or its collection
---@param path string
function run_dir.lock(path) end

--- make(path) -> true
---@param path string
function run_dir.make(path) end

--- make_numbered(prefix) -> n
---@param prefix string
function run_dir.make_numbered(prefix) end

--- release(scratch, reason) -> job: removes the file; keeps it as evidence when there is a reason
---@param scratch any
---@param reason any
function run_dir.release(scratch, reason) end

--- replace(path, content) -> true: an atomic write, for small files that are not on the device
--- under test
---@param path string
---@param content string
function run_dir.replace(path, content) end

return run_dir
