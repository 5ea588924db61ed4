-- SPDX-License-Identifier: MIT
--- Bytes in and out: pipes of a child, FIFOs, serial lines, TCP connections.
--- One task reads and one task writes at a time.

local errors = require("storlua.errors")
local scheduler = require("storlua.scheduler")
local task = require("storlua.task")
local core = require("storlua.core.stream")

local stream = {
  max_line_bytes = 1 << 20, -- a longer line is an error, not a memory problem
}

---@class storlua.Stream
---@field name string for messages
---@field package core userdata
---@field package buffer string bytes read and not given out, from `at` on
---@field package at integer
---@field package parts string[] earlier bytes of an unfinished line
---@field package strip_cr boolean lines may end in CR LF
local Stream = {}
Stream.__index = Stream
Stream.__name = "storlua.Stream"

--- Wraps a stream of the core.
---@param core_stream userdata
---@param name string
---@return storlua.Stream
function stream.new(core_stream, name)
  return setmetatable({
    core = core_stream, name = name, buffer = "", at = 1, parts = {}, parts_bytes = 0,
  }, Stream)
end

--- Opens a named pipe or a character device without waiting for its other
--- side.
---@param path string
---@param mode? "r"|"w"|"rw"
---@return storlua.Stream
function stream.open(path, mode)
  return stream.new(errors.check(core.open(path, mode)), path)
end

--- Like open, but returns nil and the error.
---@return storlua.Stream|nil, storlua.Error|nil
function stream.try_open(path, mode)
  return errors.try(stream.open, path, mode)
end

-- The values of an operation of the core, or its failure with our name in it.
local function check(self, first, message, code, fields)
  if first ~= nil then return first end
  fields.path = self.name
  error(errors.from_core(("%s (%s)"):format(message, self.name), code, fields), 0)
end

-- The next bytes from the core, or nil at the end.
local function receive(self)
  local data = check(self, scheduler.await(function(resume)
    local ok, message, code, fields = self.core:read(resume)
    if not ok then return resume(nil, message, code, fields) end
    return function() self.core:read_stop() end
  end))
  return data or nil
end

--- Takes all that was read before, or nil when that is nothing.
local function take_buffered(self)
  local rest = self.buffer:sub(self.at)
  if self.parts[1] then rest = table.concat(self.parts) .. rest end
  self.buffer, self.at, self.parts, self.parts_bytes = "", 1, {}, 0
  return rest ~= "" and rest or nil
end

--- Returns the bytes that are there, waiting for at least one; nil at the end.
---@async
---@return string|nil
function Stream:read()
  return take_buffered(self) or receive(self)
end

--- Reads until the end.
---@async
---@param max_bytes? integer more than this raises EMSGSIZE
---@return string
function Stream:read_all(max_bytes)
  local parts, size = {}, 0
  for chunk in function() return self:read() end do
    size = size + #chunk
    if max_bytes and size > max_bytes then
      errors.raise("EMSGSIZE", "%s sent more than %d bytes", self.name, max_bytes)
    end
    parts[#parts + 1] = chunk
  end
  return table.concat(parts)
end

local function finish_line(self, last_part)
  if self.parts[1] then
    self.parts[#self.parts + 1] = last_part
    last_part = table.concat(self.parts)
    self.parts, self.parts_bytes = {}, 0
  end
  if self.strip_cr then last_part = last_part:gsub("\r+$", "") end
  return last_part
end

local function next_line(self)
  while true do
    local newline = self.buffer:find("\n", self.at, true)
    if newline then
      local from = self.at
      self.at = newline + 1
      return finish_line(self, self.buffer:sub(from, newline - 1))
    end
    local rest = self.buffer:sub(self.at)
    if rest ~= "" then self.parts[#self.parts + 1] = rest end
    self.parts_bytes = self.parts_bytes + #rest
    self.buffer, self.at = "", 1
    if self.parts_bytes > stream.max_line_bytes then
      errors.raise("EMSGSIZE", "%s sent a line of more than %d bytes", self.name,
        stream.max_line_bytes)
    end
    local chunk = receive(self)
    if not chunk then return self.parts[1] and finish_line(self, "") or nil end
    self.buffer = chunk
  end
end

--- Returns the next line without its newline; nil at the end. A line that is
--- not complete in time raises TIMEOUT and stays for the next call.
---@async
---@param timeout_seconds? number
---@return string|nil
function Stream:read_line(timeout_seconds)
  if timeout_seconds then
    return task.timeout_of("read a line of " .. self.name, timeout_seconds, next_line, self)
  end
  return next_line(self)
end

--- Iterates over the lines that are still to come.
---@async
---@return fun(): string|nil
function Stream:lines()
  return function() return next_line(self) end
end

--- Writes all of `text`; waits while the other side does not take it.
---@async
---@param text string
function Stream:write(text)
  check(self, scheduler.await(function(resume)
    local taken, message, code, fields = self.core:write(text, resume)
    if taken == nil then resume(nil, message, code, fields) end
    if taken then resume(true) end
  end))
end

--- Closes the stream; a task that waits for it meets ECANCELED.
function Stream:close()
  self.core:close()
end

function Stream:__close()
  self.core:close()
end

return stream
