-- SPDX-License-Identifier: MIT
---@meta storlua.core.gate
--- Private to the library. Written by tools/meta.lua from bindings/gate.c.

local gate = {}

--- open(path, consents, force_signature) -> job -> grant, identity. A refusal adds reasons {code,
--- text}, losses and id to the fields of the error.
---@param path string
---@param consents any
---@param force_signature any
function gate.open(path, consents, force_signature) end

---@class storlua.grant
local methods = {}

--- grant:close() -> job, or nothing when it is closed already
function methods:close() end

return gate
