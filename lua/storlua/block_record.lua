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
    "known", "type", "usage", "label", "uuid", "table", "partition_uuid", "partition_label",
    "reason",
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

-- The parts of a card or drive: each an object, with `reason` alone where it
-- cannot be had.
local CARD = {
  registers = {
    "cid", "csd", "manufacturer", "oem", "product", "product_revision", "serial", "month", "year",
    "transfer_rate_bits_s", "command_classes", "reason",
  },
  ios = {
    "suspended", "clock_hz", "actual_clock_hz", "width_bits", "timing", "voltage", "supply",
    "driver_type", "ceiling_bytes_s", "reason",
  },
  ext_csd = {
    "revision", "life_time_a", "life_time_b", "pre_eol", "cache_bytes", "cache_on",
    "command_queue_depth", "command_queue_on", "background_enabled", "background_status",
    "write_reliability", "hs_timing", "firmware", "reason",
  },
}
local SMART = {
  "critical_warning", "temperature_millicelsius", "spare_percent", "spare_threshold_percent",
  "used_percent", "read_bytes", "written_bytes", "power_cycles", "power_on_hours",
  "unsafe_shutdowns", "media_errors", "error_log_entries", "reason",
}

local function add_asked(record, asked)
  record.card, record.smart = event.null, event.null
  if asked.card then
    record.card = event.object {}
    for name, fields in pairs(CARD) do record.card[name] = pick(asked.card[name], fields) end
    local counts, reason = event.object {}, asked.card.errors.reason
    for name, count in pairs(asked.card.errors) do
      if name ~= "reason" then counts[name] = count end
    end
    record.card.errors = { counts = counts, reason = reason or event.null }
  end
  if asked.smart or asked.reasons.smart then
    record.smart = pick(asked.smart or { reason = asked.reasons.smart }, SMART)
  end
  record.temperature_celsius = asked.temperature_celsius or event.null
end

--- The record of one device.
---@param block storlua.Block
---@param asked? table what device_details.ask returned: adds card, smart, temperature_celsius
---@return table
function block_record.of(block, asked)
  local record = pick(block, PLAIN)
  for name, fields in pairs(GROUPS) do
    record[name] = block[name] and pick(block[name], fields) or event.null
  end
  record.mounts = event.list()
  for i, mount in ipairs(block.mounts) do record.mounts[i] = pick(mount, MOUNT) end
  for _, name in ipairs { "holders", "slaves", "uses" } do
    record[name] = event.list(table.move(block[name], 1, #block[name], 1, {}))
  end
  if asked then add_asked(record, asked) end
  return record
end

return block_record
