-- SPDX-License-Identifier: MIT
--- Waiting while cancelled: what runs under a shield is not cancelled from
--- outside of it, for a limited time. A part of storlua.scheduler.

local core = require("storlua.core.host")
local errors = require("storlua.errors")
local failure = require("storlua.failure")
local loop = require("storlua.core.loop")

local shield = {}

local NS = 1000000000

--- Adds shields and clean-ups to the scheduler.
function shield.extend(scheduler)
  --- Runs `fn(...)` so that its waits are not cancelled from outside, for at
  --- most `seconds` (math.huge: for as long as it takes).
  function scheduler.shield_for(seconds, fn, ...)
    local t = scheduler.current()
    local outer = t.shield
    local ns = seconds < 9e9 and math.ceil(seconds * NS) or math.maxinteger
    local now_ns = loop.now_ns()
    t.shield = {
      seconds = seconds,
      end_ns = ns < math.maxinteger - now_ns and now_ns + ns or math.maxinteger,
    }
    core.alert(1)
    local function finish(ok, ...)
      core.alert(-1)
      t.shield = outer
      if not ok then error((...), 0) end
      return ...
    end
    return finish(xpcall(fn, failure.capture, ...))
  end

  --- The same, until the deadline of the clean-ups. Those of a task that is
  --- cancelled share one deadline, and so do clean-ups inside clean-ups.
  function scheduler.shield(fn, ...)
    local t = scheduler.current()
    local now_ns = loop.now_ns()
    local end_ns = now_ns + math.ceil(scheduler.cleanup_seconds * NS)
    if t.cancels[1] then
      t.unwind_end_ns = t.unwind_end_ns or end_ns
      end_ns = t.unwind_end_ns
    else
      t.unwind_end_ns = nil
    end
    if t.shield then end_ns = math.min(end_ns, t.shield.end_ns) end
    return scheduler.shield_for((end_ns - now_ns) / NS, fn, ...)
  end

  --- Failures that did not become the error of the run because there was one
  --- already, or because they happened in a clean-up. The host reports them and
  --- ends with exit code 6 if nothing worse happened.
  ---
  --- Notes such a failure; at most 100 are kept. A second task that ends the
  --- run has told why already.
  ---@param err any
  ---@param name? string of the task
  function scheduler.record(err, name)
    local list = scheduler.cleanup_failures
    if errors.is(err) and (err.code == "EXIT" or err.is_found) or #list >= 100 then return end
    local t = scheduler.running()
    list[#list + 1] = { task = name or (t and t.name), error = err }
  end

  --- Runs a clean-up: shielded, and recorded instead of raised when it fails.
  function scheduler.cleanup(fn, err)
    local ok, problem = pcall(scheduler.shield, fn, err)
    if not ok then scheduler.record(problem) end
  end
end

return shield
