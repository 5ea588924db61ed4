-- SPDX-License-Identifier: MIT
---@meta storlua.core.loop
--- Private to the library. Written by tools/meta.lua from bindings/loop.c.

local loop = {}

function loop.boot_id() end

--- handles() -> handles, in_flight: what is open now, for leak tests
function loop.handles() end

function loop.is_virtual() end

--- monotonic_ns() -> integer: the clock that times operations
function loop.monotonic_ns() end

--- now_ns() -> integer: the clock of the run (boot time or virtual)
function loop.now_ns() end

--- turn(wait) -> alive: one turn of the loop; its callbacks run inside
---@param wait boolean
function loop.turn(wait) end

--- wall() -> string: a label, never for durations
function loop.wall() end

return loop
