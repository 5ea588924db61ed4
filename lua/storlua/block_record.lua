-- SPDX-License-Identifier: MIT
--- A block device for JSON: every field always there, of one type, null where
--- it is not known. The schema is in docs/devices.md.

local event = require("storlua.event")

local block_record = {}

-- Fields that are taken as they are: texts, integers (…_bytes and the like)
-- and booleans.
local PLAIN = {
  "name", "number", "node", "kind", "id", "parent", "partition", "transport",
  "vendor", "model", "serial", "wwid", "firmware", "disk_sequence",
  "size_bytes", "start_bytes", "alignment_bytes", "logical_block_bytes", "physical_block_bytes",
  "minimum_io_bytes", "optimal_io_bytes", "read_ahead_bytes", "discard_granularity_bytes",
  "discard_max_bytes", "write_zeroes_max_bytes", "queue_requests",
  "read_only", "removable", "rotational", "fua", "write_cache", "scheduler", "zoned",
  "mapped_name",
}
local GROUPS = {
  content = {
    "known", "type", "usage", "label", "uuid", "table", "partition_uuid", "partition_label", "reason",
  },
  space = { "total_bytes", "used_bytes", "available_bytes" },
  swap = { "size_bytes", "used_bytes", "priority" },
  loop = { "backing_path", "deleted", "direct", "offset_bytes", "size_limit_bytes" },
  mmc = { "type", "cid", "name", "manfid", "oemid", "date" },
}
local MOUNT = {
  "point", "root", "type", "source", "options", "super_options", "reachable",
}

local function pick(from, fields)
  local record = event.object {}
  for _, field in ipairs(fields) do
    local value = from[field]
    record[field] = value == nil and event.null or value
  end
  return record
end

--- The record of one device.
---@param block storlua.Block
---@return table
function block_record.of(block)
  local record = pick(block, PLAIN)
  for name, fields in pairs(GROUPS) do
    record[name] = block[name] and pick(block[name], fields) or event.null
  end
  record.mounts = event.list()
  for i, mount in ipairs(block.mounts) do record.mounts[i] = pick(mount, MOUNT) end
  for _, name in ipairs { "holders", "slaves", "uses" } do
    record[name] = event.list(table.move(block[name], 1, #block[name], 1, {}))
  end
  return record
end

return block_record
