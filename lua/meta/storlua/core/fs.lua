-- SPDX-License-Identifier: MIT
---@meta storlua.core.fs
--- Private to the library. Written by tools/meta.lua from bindings/fs.c.

local fs = {}

function fs.access() end

--- list(path) -> names, in no order, without . and ..
---@param path string
function fs.list(path) end

function fs.mkdir() end

--- mkdtemp(template) -> path; the template ends in XXXXXX
---@param template string
function fs.mkdtemp(template) end

--- read(path) -> text
---@param path string
function fs.read(path) end

function fs.readlink() end

function fs.realpath() end

function fs.rename() end

--- replace(path, text): all of it or nothing, also after a power cut
---@param path string
---@param text string
function fs.replace(path, text) end

--- space(path) -> {total_bytes, free_bytes, available_bytes, …}
---@param path string
function fs.space(path) end

--- stat(path, follow) -> table
---@param path string
---@param follow boolean
function fs.stat(path, follow) end

function fs.symlink() end

--- unlink(path, is_directory)
---@param path string
---@param is_directory boolean
function fs.unlink(path, is_directory) end

return fs
