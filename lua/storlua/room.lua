-- SPDX-License-Identifier: MIT
--- How large a new file may become in a directory, so that neither the file
--- system nor the memory of the machine is filled to the last byte.

local device = require("storlua.device")
local fs = require("storlua.fs")
local limits = require("storlua.memory.limits")

local room = {}

-- For files that lie in memory: half of what is free stays so, and never less
-- than what limits.read() keeps for others.
local function memory_room_bytes()
  local l = limits.read()
  return math.min(l.free_bytes // 2, l.room_bytes)
end

---@class storlua.Room
---@field bytes integer
---@field limit string what limits it, in words
---@field in_memory boolean tmpfs or ramfs

--- The room in a directory that exists.
---@async
---@param dir string
---@return storlua.Room
function room.directory(dir)
  local mount = device.of_path(dir).mount
  local in_memory = mount ~= nil and (mount.type == "tmpfs" or mount.type == "ramfs")
  local found = {
    bytes = fs.space(dir).available_bytes, limit = "free space", in_memory = in_memory,
  }
  local memory_bytes = in_memory and memory_room_bytes()
  -- ramfs reports no size at all: there the memory is the only limit.
  if memory_bytes and (memory_bytes < found.bytes or mount.type == "ramfs") then
    found.bytes, found.limit = memory_bytes, "half of the free memory"
  end
  return found
end

return room
