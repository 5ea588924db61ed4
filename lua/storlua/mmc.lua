-- SPDX-License-Identifier: MIT
--- What an eMMC or SD card and its host say of themselves, asked now: sysfs
--- still tells what the card said when it was started.

local core = require("storlua.core.mmc")
local errors = require("storlua.errors")
local job = require("storlua.job")

local mmc = {}

-- What the codes of EXT_CSD mean.
local PRE_EOL = { "normal", "warning: 80 % of the reserve is used", "urgent: 90 % is used" }

--- Each part has a `reason` instead of its fields where it cannot be had.
---@class storlua.Mmc
---@field registers table cid, csd, manufacturer, oem, product, serial, month, year, …
---@field ios table suspended, clock_hz, actual_clock_hz, width_bits, timing, voltage,
--- ceiling_bytes_s
---@field ext_csd table life_time_a, life_time_b, pre_eol, cache_bytes, cache_on, firmware, …
---@field errors table what the host counted: name → count

--- Reads the card of a disk, after waking it up.
---@async
---@param disk storlua.Disk whole disk of type mmc
---@return storlua.Mmc
function mmc.read(disk)
  if not (disk.mmc and disk.node) then
    errors.raise("ENODEV", "%s is no mmc card with a node", tostring(disk.name))
  end
  return job.wait(core.read(disk.number, disk.node))
end

--- The share of its rated life a card has used, in words: "10 to 20 %".
---@param code? integer life_time_a or life_time_b
---@return string
function mmc.life_text(code)
  if code == nil or code == 0 then return "not told" end
  if code > 11 then return ("code %d"):format(code) end
  if code == 11 then return "more than 100 %" end
  return ("%d to %d %%"):format((code - 1) * 10, code * 10)
end

--- What pre_eol says of the card's reserve, in words.
---@param code? integer
---@return string
function mmc.reserve_text(code)
  return PRE_EOL[code or 0] or "not told"
end

return mmc
