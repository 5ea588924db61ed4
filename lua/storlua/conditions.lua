-- SPDX-License-Identifier: MIT
--- Under which conditions a run measures: what must be equal before two runs
--- may be compared. What is not known is absent.

local core = require("storlua.core.conditions")
local device = require("storlua.device")
local errors = require("storlua.errors")

local conditions = {}

--- The hottest thermal zone, or nil where none can be read.
---@return number|nil celsius
---@return string|nil type of the zone
function conditions.temperature()
  local celsius, kind
  for _, zone in ipairs(core.read().zones) do
    if zone.celsius and (not celsius or zone.celsius > celsius) then
      celsius, kind = zone.celsius, zone.type
    end
  end
  return celsius, kind
end

local function has_option(options, wanted)
  return ("," .. (options or "") .. ","):find("," .. wanted .. ",", 1, true) ~= nil
end

local function sync_of_disk(disk)
  if disk.loop then
    local how = disk.loop.direct and "past" or "through"
    local below = disk.loop.below and conditions.sync_meaning(disk.loop.below)
    return ("a flush of the loop device syncs its backing file, written %s the page cache%s")
      :format(how, below and "; there: " .. below or "")
  end
  if disk.write_cache == "write back" then
    return "a flush empties the device's volatile write cache; O_DSYNC writes " ..
      (disk.fua and "use FUA" or "are each followed by a flush")
  elseif disk.write_cache == "write through" then
    return "the device reports no volatile write cache: a write is kept once it is answered"
  end
  return "not known: the device does not report its write cache"
end

--- What "synced" means on this device, in words.
---@param found storlua.PathDevice
---@return string
function conditions.sync_meaning(found)
  local mount = found.mount
  if found.kind ~= "block" then
    if mount and (mount.type == "tmpfs" or mount.type == "ramfs") then
      return "nothing: the data lies in memory and is gone with the power"
    end
    return "not known: " .. found.reason
  end
  local options = mount and mount.super_options
  if has_option(options, "nobarrier") or has_option(options, "barrier=0") then
    return "the file system sends no flushes (nobarrier): synced data may be lost with the power"
  end
  local texts, seen = {}, {}
  for _, disk in ipairs(found.disks) do
    local text = sync_of_disk(disk)
    if not seen[text] then texts[#texts + 1] = text end
    seen[text] = true
  end
  return table.concat(texts, "; ")
end

-- A disk without the tree below a loop device: of that only the label.
local function identity_of(disk)
  local copy = {}
  for key, value in pairs(disk) do copy[key] = value end
  if disk.loop then
    copy.loop = {}
    for key, value in pairs(disk.loop) do copy.loop[key] = value end
    copy.loop.below = disk.loop.below and disk.loop.below.label
  end
  return copy
end

---@class storlua.Conditions
---@field kernel string
---@field machine string
---@field model? string of the board
---@field cpus integer
---@field memory_bytes integer
---@field boot_id string
---@field governor? string
---@field temperature_celsius? number of the hottest zone
---@field device? string label for people
---@field device_identity? storlua.Disk where there is a single one
---@field filesystem? string
---@field mount_point? string
---@field mount_options? string
---@field write_cache? string
---@field scheduler? string
---@field sync_meaning? string

--- Collects the conditions of a run on `path`, for its start event.
---@async
---@param path? string file, directory or device under test; a file that is still to be made lies
--- where its folder does
---@return storlua.Conditions
function conditions.collect(path)
  local c = core.read()
  c.zones = nil
  c.temperature_celsius = conditions.temperature()
  if path == nil then return c end
  local found, err = errors.try(device.of_path, path)
  if not found and err.code == "ENOENT" then
    found = errors.try(device.of_path, path:match("^(.*/)[^/]*$") or ".")
  end
  if not found then
    c.device = err.message
    return c
  end
  local mount, disk = found.mount, found.single or {}
  c.device = found.label
  c.device_identity = found.single and identity_of(found.single)
  if mount then
    c.filesystem, c.mount_point = mount.type, mount.point
    c.mount_options = mount.options .. (mount.super_options and ";" .. mount.super_options or "")
  end
  c.write_cache, c.scheduler = disk.write_cache, disk.scheduler
  c.sync_meaning = conditions.sync_meaning(found)
  return c
end

return conditions
