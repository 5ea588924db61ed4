-- SPDX-License-Identifier: MIT
---@meta storlua.core.kmsg
--- Private to the library. Written by tools/meta.lua from bindings/kmsg.c.

local kmsg = {}

--- open(chain [, path]) -> log
---@param chain any
---@param path string
function kmsg.open(chain, path) end

---@class storlua.kmsg
local methods = {}

function methods:close() end

function methods:fd() end

--- log:lost() -> records that were overwritten before they were read
function methods:lost() end

--- log:next() -> {class, text, priority, k_seq, k_time_ns, device, facility (when not the
--- kernel's)}, or false when there is none now
function methods:next() end

return kmsg
