-- SPDX-License-Identifier: MIT
--- One block device in depth, for people.

local consent = require("storlua.device.consent")
local mmc = require("storlua.mmc")
local nvme = require("storlua.nvme")
local quantity = require("storlua.quantity")

local device_details = {}

--- What only the hardware tells: asks the card or drive, which wakes it.
---@async
---@param block storlua.Block
---@return table card?, smart?, temperature_celsius?, reasons
function device_details.ask(block)
  local asked = { reasons = {} }
  local function note(name, value, err)
    asked[name] = value or nil
    asked.reasons[name] = not value and (type(err) == "table" and err.message or err) or nil
  end
  local is_disk = block.kind == "disk" and not block.parent
  if is_disk and block.mmc and block.node then asked.card = mmc.read(block) end
  if is_disk and block.transport == "nvme" and block.node then
    note("smart", nvme.try_smart(block))
  end
  if is_disk then note("temperature_celsius", nvme.temperature(block)) end
  return asked
end

local function size(bytes)
  return bytes and ("%s (%d bytes)"):format(quantity.size_text(bytes), bytes) or "unknown"
end

local function yes(flag)
  if flag == nil then return "unknown" end
  return flag and "yes" or "no"
end

local function hz(value) return value and ("%.1f MHz"):format(value / 1e6) or "not told" end

local function identity_lines(add, b)
  add("name", b.name)
  add("node", b.node or "none in /dev")
  add("number", b.number)
  add("kind", b.kind .. (b.parent and (" of " .. b.parent) or ""))
  add("id", b.id and ("%s   (consent: --destroy %s)"):format(b.id, consent.word(b.id))
    or "none: it cannot be named, so nothing writes to it")
  for _, field in ipairs { "vendor", "model", "serial", "wwid", "firmware", "mapped_name" } do
    if b[field] then add((field:gsub("_", " ")), b[field]) end
  end
  add("bus", b.transport or "none")
  if b.loop then
    add("backing file", b.loop.backing_path .. (b.loop.deleted and " (deleted)" or ""))
    if b.loop.direct ~= nil then
      add("backing access", b.loop.direct and "direct" or "through the page cache once more")
    end
  end
end

local function limit_lines(add, b)
  add("size", size(b.size_bytes))
  if b.start_bytes then add("start", size(b.start_bytes)) end
  add("sectors", ("%s logical, %s physical"):format(b.logical_block_bytes or "?",
    b.physical_block_bytes or "?"))
  add("alignment", b.alignment_bytes == 0 and "good"
    or b.alignment_bytes and b.alignment_bytes .. " bytes off" or "unknown")
  add("read-only", yes(b.read_only))
  add("removable", yes(b.removable))
  add("rotational", yes(b.rotational))
  add("write cache", b.write_cache or "unknown")
  add("FUA", yes(b.fua))
  add("discard", b.discard_max_bytes == 0 and "no"
    or b.discard_max_bytes and "in steps of " .. size(b.discard_granularity_bytes) or "unknown")
  add("scheduler", b.scheduler or "none")
  add("queue", b.queue_requests and b.queue_requests .. " requests" or "unknown")
end

local function content_lines(add, b)
  local c = b.content
  add("content", c.type or c.table and c.table .. " partition table"
    or c.known and "nothing known" or "not known: " .. (c.reason or "?"))
  for _, field in ipairs { "label", "uuid", "partition_label", "partition_uuid" } do
    if c[field] then add((field:gsub("_", " ")), c[field]) end
  end
  if b.space then
    add("space", ("%s, %s used, %s free"):format(quantity.size_text(b.space.total_bytes),
      quantity.size_text(b.space.used_bytes), quantity.size_text(b.space.available_bytes)))
  end
  for _, use in ipairs(b.uses) do add("use", use) end
  if #b.uses == 0 then add("use", "nobody that is known") end
end

local function card_lines(add, card)
  local ios, csd = card.ios, card.ext_csd
  if ios.reason then
    add("bus mode", "not known: " .. ios.reason)
  elseif ios.suspended then
    add("bus mode", "suspended: the card sleeps")
  else
    add("bus mode", ("%s, %d bit, %s (asked for %s), signals %s"):format(ios.timing or "?",
      ios.width_bits, hz(ios.actual_clock_hz or ios.clock_hz), hz(ios.clock_hz),
      ios.voltage or "?"))
    add("bus ceiling", ios.ceiling_bytes_s and ("%.1f MB/s"):format(ios.ceiling_bytes_s / 1e6)
      or "unknown")
  end
  if csd.reason then
    add("life time", "not known: " .. csd.reason)
  else
    add("life used", ("%s (type A), %s (type B)"):format(mmc.life_text(csd.life_time_a),
      mmc.life_text(csd.life_time_b)))
    add("reserve", mmc.reserve_text(csd.pre_eol))
    add("cache", csd.cache_bytes and ("%s, %s"):format(quantity.size_text(csd.cache_bytes),
      csd.cache_on and "on" or "off") or "not told")
    add("command queue", csd.command_queue_depth and ("%d deep, %s"):format(
      csd.command_queue_depth, csd.command_queue_on and "on" or "off") or "not told")
  end
  local names = {}
  for name, count in pairs(card.errors) do
    if count ~= 0 then names[#names + 1] = ("%s %s"):format(name, count) end
  end
  table.sort(names)
  add("host errors", names[1] and table.concat(names, ", ") or "none counted")
end

--- The text: one fact a line.
---@param block storlua.Block
---@param asked table what device_details.ask returned
---@return string
function device_details.text(block, asked)
  local lines = {}
  local function add(name, value)
    lines[#lines + 1] = ("%-16s %s\n"):format(name, (tostring(value):gsub("%c", "?")))
  end
  identity_lines(add, block)
  limit_lines(add, block)
  content_lines(add, block)
  if asked.temperature_celsius then
    add("temperature", ("%.1f °C"):format(asked.temperature_celsius))
  end
  if asked.card then card_lines(add, asked.card) end
  if asked.smart then
    local s = asked.smart
    add("life used", s.used_percent .. " %")
    add("media errors", s.media_errors)
    add("unsafe stops", s.unsafe_shutdowns)
    add("written", size(s.written_bytes))
  elseif asked.reasons.smart then
    add("health", "not known: " .. asked.reasons.smart)
  end
  return table.concat(lines)
end

return device_details
