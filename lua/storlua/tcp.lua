-- SPDX-License-Identifier: MIT
--- TCP connections to console servers, power switches and the like.

local errors = require("storlua.errors")
local job = require("storlua.job")
local scheduler = require("storlua.scheduler")
local stream = require("storlua.stream")
local task = require("storlua.task")
local core = require("storlua.core.tcp")

local tcp = {}

-- A connected stream of the core, or nil and the error values.
local function connect_to(address, port)
  local connection
  local ok, message, code, fields = scheduler.await(function(resume)
    local started, message, code, fields = core.connect(address, port, resume)
    connection = started
    if not started then resume(nil, message, code, fields) end
    return function() connection:close() end
  end)
  if ok then return connection end
  if connection then connection:close() end
  return nil, message, code, fields
end

local function connect(host, port)
  local failure
  for _, address in ipairs(job.wait(core.resolve(host))) do
    local connection, message, code, fields = connect_to(address, port)
    if connection then return stream.new(connection, ("%s:%d"):format(host, port)) end
    failure = failure or errors.from_core(("%s (%s port %d)"):format(message, address, port),
      code, fields)
  end
  error(failure, 0)
end

--- Connects to a host, given by name or address, trying each of its addresses.
---@async
---@param host string
---@param port integer
---@param timeout_seconds? number
---@return storlua.Stream
function tcp.connect(host, port, timeout_seconds)
  if type(host) ~= "string" then error("tcp.connect: host must be a string", 2) end
  if math.type(port) ~= "integer" or port < 1 or port > 65535 then
    error("tcp.connect: port must be an integer from 1 to 65535", 2)
  end
  if timeout_seconds then
    local what = ("connect to %s port %d"):format(host, port)
    return task.timeout_of(what, timeout_seconds, connect, host, port)
  end
  return connect(host, port)
end

--- Like connect, but returns nil and the error.
---@async
---@return storlua.Stream|nil, storlua.Error|nil
function tcp.try_connect(host, port, timeout_seconds)
  return errors.try(tcp.connect, host, port, timeout_seconds)
end

return tcp
