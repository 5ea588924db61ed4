-- SPDX-License-Identifier: MIT
--- What the bus of a disk can carry at most, from the speed it has negotiated.
--- (The bus of a card changes its mode: see storlua.sensors.mmc.)

local fs = require("storlua.fs")

local bus = {}

local function line(path)
  return (fs.try_read(path) or ""):match("^[^\n]+")
end

-- Megabits of a link, after the bits that its coding takes.
local function carried_bytes_s(megabits, is_8b10b)
  return math.floor(megabits * 1e6 / 8 * (is_8b10b and 0.8 or 128 / 130))
end

local function pcie(directory)
  local speed = line(directory .. "/device/device/current_link_speed")
  local width = line(directory .. "/device/device/current_link_width")
  local gigabits = tonumber(speed and speed:match("^(%d+%.?%d*) GT/s"))
  local lanes = math.tointeger(tonumber(width))
  if not gigabits or not lanes or lanes < 1 then return nil end
  return { bytes_s = lanes * carried_bytes_s(gigabits * 1000, gigabits <= 5),
           text = ("PCIe, %d lanes of %g GT/s"):format(lanes, gigabits) }
end

-- The nearest directory above that is a device of USB.
local function usb(directory)
  local above = directory:match("^(.*/usb%d+/.*)/host%d+/") or ""
  while above:find("/usb%d+/") do
    local megabits = tonumber(line(above .. "/speed"))
    if megabits and fs.try_exists(above .. "/devnum") then
      local bytes_s = megabits < 5000 and math.floor(megabits * 1e6 / 8)
        or carried_bytes_s(megabits, megabits == 5000)
      return { bytes_s = bytes_s, text = ("USB at %g Mbit/s"):format(megabits) }
    end
    above = above:match("^(.*)/[^/]+$") or ""
  end
end

--- The ceiling of the bus of a disk, or nil when the kernel does not tell.
---@param directory string of the whole disk in sysfs
---@return {bytes_s: integer, text: string}|nil
function bus.ceiling(directory)
  return pcie(directory) or usb(directory)
end

return bus
