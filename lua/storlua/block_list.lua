-- SPDX-License-Identifier: MIT
--- Every block device of this machine: what it is, what lies on it, who uses it.

local core = require("storlua.core.block_list")
local device = require("storlua.device")
local errors = require("storlua.errors")
local job = require("storlua.job")
local nearest = require("storlua.nearest")

local block_list = {}

--- A device as device.of_path gives it, and more. Unknown is absent.
---@class storlua.Block: storlua.Disk
---@field transport? string mmc, usb, sata, nvme, virtio, scsi, sas, iscsi, fc, mtd, xen
---@field alignment_bytes? integer offset from the natural alignment, 0 is good
---@field minimum_io_bytes? integer
---@field optimal_io_bytes? integer
---@field discard_granularity_bytes? integer
---@field discard_max_bytes? integer 0: it cannot discard
---@field write_zeroes_max_bytes? integer
---@field queue_requests? integer
---@field zoned? string
---@field mapped_name? string "vg-root"
---@field content table known, type, usage, label, uuid, table, partition_uuid, partition_label,
--- reason
---@field space? table total_bytes, used_bytes, available_bytes
---@field swap? table size_bytes, used_bytes, priority
---@field mounts table[] point, root, type, source, options, super_options, reachable
---@field holders string[] names of devices that lie on it
---@field slaves string[] numbers of the devices it lies on
---@field uses string[] sentences: "is mounted on /mnt (ext4)"

--- Reads all devices, a disk before its parts.
---@async
---@param options? table probe = false: do not read the devices; space = false
---@return storlua.Block[]
function block_list.read(options)
  options = options or {}
  return job.wait(core.read(options.probe ~= false, options.space ~= false))
end

--- The devices as a forest: each node {block, children}. A device stands below
--- its disk, or below each device it lies on.
---@param blocks storlua.Block[]
---@return table[] roots
function block_list.tree(blocks)
  local nodes, by_name, below = {}, {}, {}
  for i, block in ipairs(blocks) do
    nodes[i] = { block = block, children = {} }
    by_name[block.name] = nodes[i]
  end
  local function hang(parent, node)
    if parent and parent ~= node then
      parent.children[#parent.children + 1] = node
      below[node] = true
    end
  end
  for _, node in ipairs(nodes) do hang(by_name[node.block.parent or ""], node) end
  for _, node in ipairs(nodes) do
    for _, holder in ipairs(node.block.holders) do hang(node, by_name[holder]) end
  end
  local roots = {}
  for _, node in ipairs(nodes) do
    if not below[node] then roots[#roots + 1] = node end
  end
  return roots
end

--- Finds the device meant: by name ("mmcblk0"), id ("mmc:…"), number ("179:0"),
--- node, or any path: then the device it lies on. Raises when there is none.
---@async
---@param blocks storlua.Block[]
---@param wanted string
---@return storlua.Block
function block_list.find(blocks, wanted)
  local numbers, names = {}, {}
  for i, block in ipairs(blocks) do
    -- A disk stands before its parts, which have the same id.
    if block.name == wanted or block.number == wanted or block.id == wanted then return block end
    names[i], numbers[block.number] = block.name, block
  end
  if not wanted:find("/", 1, true) then
    errors.raise("ENODEV", "there is no block device %s%s", wanted, nearest.hint(wanted, names))
  end
  local found = device.of_path(wanted)
  if not found.single then
    errors.raise("ENODEV", "%s: %s", wanted, found.reason or "lies on more than one device")
  end
  return numbers[found.single.number]
    or errors.raise("ENODEV", "the kernel does not list the device %s of %s",
      found.single.number, wanted)
end

return block_list
