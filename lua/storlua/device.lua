-- SPDX-License-Identifier: MIT
--- Which block devices lie behind a path, and which units they are.

local core = require("storlua.core.device")
local errors = require("storlua.errors")
local job = require("storlua.job")

local device = {}

local LOOPS_MAX = 8 -- loop devices whose files lie on loop devices

--- What the kernel does not tell is absent: nothing here is a guess.
---@class storlua.Disk
---@field number string "179:2"
---@field name? string "mmcblk0p2"
---@field kind? string disk, partition, loop, emmc-boot, emmc-rpmb, zram, ram, mtd, mapped
---@field node? string "/dev/mmcblk0p2"
---@field id? string the unit: mmc:<cid>, nvme:<serial>:<namespace>, wwid:<wwid>, …
---@field parent? string whole disk of a partition or boot area
---@field partition? integer
---@field vendor? string
---@field model? string
---@field serial? string
---@field wwid? string
---@field firmware? string
---@field mmc? table type, cid, name, manfid, oemid, date
---@field loop? storlua.LoopBacking
---@field disk_sequence? integer changes with every plug-in
---@field size_bytes? integer
---@field logical_block_bytes? integer
---@field physical_block_bytes? integer
---@field read_only? boolean
---@field removable? boolean
---@field rotational? boolean
---@field fua? boolean
---@field write_cache? string "write back" or "write through"
---@field scheduler? string

---@class storlua.LoopBacking
---@field backing_path string
---@field deleted boolean
---@field direct? boolean false: the file is read through the page cache once more
---@field below? storlua.PathDevice what the file lies on
---@field below_reason? string why that is not known

---@class storlua.PathDevice
---@field path string
---@field kind string "block", or "none" with a reason
---@field reason? string
---@field is_node boolean the path is itself a block device
---@field mount? table id, point, root, type, source, options, super_options
---@field disks storlua.Disk[] more than one where a file system spans them
---@field single? storlua.Disk the disk, if there is exactly one
---@field label string for people: "loop0 (loop:/x.img)", or the reason
---@field chain table[] {name, number}: all a failure may be reported under

local function look(path, depth)
  local found = job.wait(core.of_path(path))
  found.single = #found.disks == 1 and found.disks[1] or nil
  local labels = {}
  for i, disk in ipairs(found.disks) do
    local name = disk.name or disk.number
    labels[i] = disk.id and ("%s (%s)"):format(name, disk.id) or name
    local loop = disk.loop
    if loop and loop.deleted then
      loop.below_reason = "the backing file is deleted"
    elseif loop and depth < LOOPS_MAX then
      local below, err = errors.try(look, loop.backing_path, depth + 1)
      loop.below, loop.below_reason = below or nil, err and err.message
    end
  end
  found.label = labels[1] and table.concat(labels, ", ") or found.reason
  return found
end

--- Finds the devices behind a file, directory or device node that exists.
---@async
---@param path string
---@return storlua.PathDevice
function device.of_path(path)
  return look(path, 1)
end

--- As device.of_path, but returns nil and the error.
---@async
---@param path string
---@return storlua.PathDevice|nil, storlua.Error|nil
function device.try_of_path(path)
  return errors.try(look, path, 1)
end

return device
