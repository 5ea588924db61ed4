-- SPDX-License-Identifier: MIT
--- Waits that cost no closures. A source runs the tasks whose waits are over
--- itself, between two batches of ready tasks; while it finds some, the loop
--- turns after some hundred tasks only.
---
--- Such a wait is a yield of the task's coroutine. Who begins one calls
--- scheduler.checkpoint before and after it and source_wait.arm when it has
--- begun, or knows from the host that there is no cancel to be raised and no
--- shield (bindings/host/host.h).

local loop = require("storlua.core.loop")
local scheduler = require("storlua.scheduler")
local timer = require("storlua.core.timer")

local source_wait = {}

---@class storlua.Source
---@field poll fun(): integer runs the tasks whose waits are over and tells how
--- many; it never waits, and what it looks for must wake the loop
---@field interrupt fun(co: thread): boolean ends the wait of a coroutine, if it
--- was waiting here: forgets it, and the scheduler resumes it

---@param source storlua.Source
function source_wait.add(source) table.insert(scheduler.sources, source) end

---@param source storlua.Source
function source_wait.remove(source)
  for i = #scheduler.sources, 1, -1 do
    if scheduler.sources[i] == source then table.remove(scheduler.sources, i) end
  end
end

--- A wait of the running task has begun: its shield's deadline ends it.
function source_wait.arm()
  local t = scheduler.current()
  if not t.shield or t.shield.end_ns == math.maxinteger then return end
  t.deadline = timer.start(math.max(0, t.shield.end_ns - loop.now_ns()),
    function() scheduler.interrupt(t) end)
end

return source_wait
