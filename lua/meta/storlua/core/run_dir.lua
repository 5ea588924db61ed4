-- SPDX-License-Identifier: MIT
---@meta storlua.core.run_dir
--- Private to the library. Written by tools/meta.lua from bindings/run_dir.c.

local run_dir = {}

--- can_replace(path) -> job: fails as `replace` would, as far as that shows
---@param path string
function run_dir.can_replace(path) end

--- close(folder, remove) -> job: lets go of the folder; takes it away before when `remove` is
--- true
---@param folder any
---@param remove any
function run_dir.close(folder, remove) end

function run_dir.is_terminal() end

--- open(path, how) -> job, whose results are folder, path; how: numbered, new, resume
---@param path string
---@param how any
function run_dir.open(path, how) end

--- replace(path, content) -> job: an atomic write of a report
---@param path string
---@param content string
function run_dir.replace(path, content) end

return run_dir
