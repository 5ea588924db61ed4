-- SPDX-License-Identifier: MIT
--- Serial ports: the console of a board.

local errors = require("storlua.errors")
local stream = require("storlua.stream")
local core = require("storlua.core.stream")

local serial = {}

--- Opens a port raw, 8N1, without flow control. Lines that it reads lose their
--- CR too. Declare it with <close>.
---@param path string for example "/dev/ttyUSB0"
---@param options? {baud?: integer} default 115200
---@return storlua.Stream
function serial.open(path, options)
  for name in pairs(type(options) == "table" and options or { options }) do
    if name ~= "baud" then error("serial.open: takes a table {baud}", 2) end
  end
  local baud = options and options.baud or 115200
  local port = stream.new(errors.check(core.serial(path, baud)), path)
  port.strip_cr = true
  return port
end

--- Like open, but returns nil and the error.
---@return storlua.Stream|nil, storlua.Error|nil
function serial.try_open(path, options)
  return errors.try(serial.open, path, options)
end

return serial
