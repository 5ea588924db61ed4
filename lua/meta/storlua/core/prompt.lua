-- SPDX-License-Identifier: MIT
---@meta storlua.core.prompt
--- Private to the library. Written by tools/meta.lua from bindings/prompt.c.

local prompt = {}

function prompt.columns() end

--- is_terminal() -> are both standard input and output one?
function prompt.is_terminal() end

--- keys() -> what has been typed, or nil; for a line that keeps the loop busy
function prompt.keys() end

--- raw() -> a value that gives the terminal its mode back when closed
function prompt.raw() end

return prompt
