-- SPDX-License-Identifier: MIT
--- Waiting for a file descriptor that somebody else owns.

local errors = require("storlua.errors")
local scheduler = require("storlua.scheduler")
local task = require("storlua.task")
local core = require("storlua.core.poll")

local poll = {}

local function wait(fd, mode)
  local readable, writable, status
  scheduler.await(function(resume)
    local watch
    local function stop() watch:close() end
    watch = errors.check(core.start(fd, mode, function(...)
      readable, writable, status = ...
      stop()
      resume()
    end))
    return stop
  end)
  if status < 0 then errors.raise("EIO", "descriptor %d cannot be watched (%d)", fd, status) end
  return readable, writable
end

--- Waits until a descriptor can be read ("r"), written ("w") or either ("rw").
--- It must stay open meanwhile. Regular files cannot be waited for (EPERM).
---@async
---@param fd integer
---@param mode "r"|"w"|"rw"
---@param timeout_seconds? number past it, TIMEOUT is raised
---@return boolean readable
---@return boolean writable
function poll.wait(fd, mode, timeout_seconds)
  if timeout_seconds then
    return task.timeout_of("wait for descriptor " .. tostring(fd), timeout_seconds, wait, fd, mode)
  end
  return wait(fd, mode)
end

return poll
