-- SPDX-License-Identifier: MIT
---@meta storlua.core.ram_mount
--- Private to the library. Written by tools/meta.lua from bindings/ram_mount.c.

local ram_mount = {}

--- mount(source, target, type, options) -> job
---@param source any
---@param target string
---@param type any
---@param options any
function ram_mount.mount(source, target, type, options) end

--- private() -> true: a mount namespace of our own from now on
function ram_mount.private() end

--- unmount(target) -> job
---@param target string
function ram_mount.unmount(target) end

return ram_mount
