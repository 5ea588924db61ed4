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

-- What limits the files in a directory. `key` tells which of it is shared with
-- other directories.
local function pools_of(dir)
  local mount = device.of_path(dir).mount
  local kind = mount and mount.type
  local in_memory, pools = kind == "tmpfs" or kind == "ramfs", {}
  -- ramfs reports no size at all: there the memory is the only limit.
  if kind ~= "ramfs" then
    -- each subvolume of a btrfs has a device number of its own
    local key = kind == "btrfs" and mount.source or fs.stat(dir).dev
    pools[1] = { key = key, bytes = fs.space(dir).available_bytes, limit = "free space" }
  end
  if in_memory then
    pools[#pools + 1] = { key = "memory", bytes = memory_room_bytes(),
                          limit = "half of the free memory" }
  end
  return pools, in_memory
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
  local pools, in_memory = pools_of(dir)
  local least = pools[1]
  if pools[2] and pools[2].bytes < least.bytes then least = pools[2] end
  return { bytes = least.bytes, limit = least.limit, in_memory = in_memory }
end

---@class storlua.RoomShortage
---@field dir string the first directory of those that share the room
---@field files integer how many share it
---@field bytes integer the room, with what the files have already
---@field needed_bytes integer
---@field limit string what limits it, in words

--- Files that do not fit into the room that they share: a file system, or the
--- memory. `own_bytes` is what a file has already.
---@async
---@param files {dir: string, bytes: integer, own_bytes: integer}[]
---@return storlua.RoomShortage|nil nil when all of them fit
function room.shortage(files)
  local shared, by_key = {}, {}
  for _, file in ipairs(files) do
    for _, found in ipairs((pools_of(file.dir))) do
      local pool = by_key[found.key]
      if not pool then
        pool, by_key[found.key], shared[#shared + 1] = found, found, found
        pool.dir, pool.files, pool.needed_bytes = file.dir, 0, 0
      end
      pool.files = pool.files + 1
      pool.bytes = pool.bytes + file.own_bytes
      pool.needed_bytes = pool.needed_bytes + file.bytes
    end
  end
  for _, pool in ipairs(shared) do
    if pool.needed_bytes > pool.bytes then return pool end
  end
end

return room
