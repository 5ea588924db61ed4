-- SPDX-License-Identifier: MIT
---@meta storlua.core.cache
--- Private to the library. Written by tools/meta.lua from bindings/cache.c.

local cache = {}

--- drop_all(what) -> job -> {cached_before_bytes, cached_after_bytes}
---@param what any
function cache.drop_all(what) end

--- drop_device(path) -> job -> the same
---@param path string
function cache.drop_device(path) end

--- drop_file(path) -> job -> {resident_before_bytes, resident_after_bytes, dirty_before_bytes,
--- dirty_after_bytes, source}
---@param path string
function cache.drop_file(path) end

--- residency(path) -> job -> {resident_bytes, dirty_bytes, source}
---@param path string
function cache.residency(path) end

return cache
