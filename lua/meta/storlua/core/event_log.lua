-- SPDX-License-Identifier: MIT
---@meta storlua.core.event_log
--- Private to the library. Written by tools/meta.lua from bindings/event_log.c.

local event_log = {}

--- open{directory, limit_bytes, resume, queue_bytes, stuck_ns} -> job, whose result is the log
function event_log.open() end

---@class storlua.event_log
local methods = {}

--- append(line, flags) -> ticket; flags: letters of d(urable), f(inal), r(otate)
---@param line any
---@param flags any
function methods:append(line, flags) end

function methods:finish() end

--- on_changed(fn): called at every change of the state; nil takes it away
---@param fn function
function methods:on_changed(fn) end

--- progress() -> done_ticket, has_room, failed, closed: the cheap part
function methods:progress() end

function methods:release() end

--- replace(path, content) -> ticket
---@param path string
---@param content string
function methods:replace(path, content) end

--- state() -> {lost_lines, failure, replaced, last_word, stuck_what, stuck_seconds, torn_bytes,
--- limit_bytes}
function methods:state() end

function methods:wants_rotation() end

return event_log
