-- SPDX-License-Identifier: MIT
--- Whether a read came from the medium: what was read against what the device
--- counted meanwhile. Others can only add to its counts, so fewer bytes than
--- were read prove a cache; as many are taken for the medium, except through a
--- loop device: its file may be cached once more, and have holes.

local counters = require("storlua.counters")

local medium = {}

local LEAST_SHARE = 0.99

local MEMORY = { tmpfs = true, ramfs = true, zram = true, ram = true }

---@class storlua.Medium
---@field package disk? storlua.Disk at the bottom of loop devices
---@field package in_memory? boolean
---@field package reason? string why nothing can be said
---@field package loop? string a loop device above it
---@field package caching? string one that caches its file
local Medium = {}
Medium.__index = Medium

-- Goes down from a loop device to what its file lies on.
local function find_bottom(self, found)
  local disk = found.single
  while disk and disk.loop do
    local below = disk.loop.below
    self.loop = self.loop or disk.name
    if disk.loop.direct ~= true then self.caching = self.caching or disk.name end
    if not below then
      self.reason = disk.loop.below_reason
      return
    end
    found, disk = below, below.single
  end
  self.in_memory = MEMORY[disk and disk.kind or found.mount and found.mount.type]
  if disk then
    self.disk = disk
  else
    self.reason = found.reason or ("it lies on %d devices"):format(#found.disks)
  end
end

--- Begins to count below a path.
---@param found? storlua.PathDevice nil when not known
---@return storlua.Medium
function medium.start(found)
  local self = setmetatable({}, Medium)
  if not found then
    self.reason = "the device below is not known"
    return self
  end
  find_bottom(self, found)
  if self.disk then self.counting = counters.start({ single = self.disk }) end
  return self
end

-- True, false or nil, and why not true.
local function verdict(self, r)
  local bytes, cache = r.read.bytes, r.cache
  local resident = not r.target.direct and cache.resident_before_bytes or 0
  if bytes == 0 then return nil, "nothing was read" end
  if self.in_memory or r.target.ram_backed then return false, "it lies in memory" end
  if resident > 0 then
    return false, ("%d bytes were in the page cache"):format(resident)
  end
  if not self.counting then return nil, self.reason end
  local counted = self.counting:result()
  if counted.reason then return nil, counted.reason end
  local text = ("%d bytes were read, and %s counted %d"):format(bytes, self.disk.name,
    counted.read_bytes)
  if self.caching then
    return nil, ("%s reads its file through the page cache: %s"):format(self.caching, text)
  end
  if counted.read_bytes >= bytes * LEAST_SHARE then return true end
  if self.loop then return nil, ("the file of %s may have holes: %s"):format(self.loop, text) end
  if not self.counting:counts_at_all() then
    return nil, ("the kernel does not count what is read of %s"):format(self.disk.name)
  end
  return false, text
end

--- Adds `from_medium` and `medium_reason` to the cache of a result with reads.
---@param r table
function Medium:judge(r)
  if not r.read or not r.cache then return end
  r.cache.from_medium, r.cache.medium_reason = verdict(self, r)
  if r.cache.cold and r.cache.from_medium == false and not self.in_memory
    and not r.target.ram_backed then
    r.notes[#r.notes + 1] = "not_from_medium"
  end
end

--- True when a read passed the page cache by and a medium that there is did not
--- give all of it: a failure of a test of that medium.
---@param r table
---@return boolean
function medium.was_passed_by(r)
  for _, note in ipairs(r.notes) do
    if note == "not_from_medium" then return true end
  end
  return false
end

return medium
