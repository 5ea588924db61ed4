-- SPDX-License-Identifier: MIT
--- What a folder keeps of a device, to know later that it is the same one: a
--- number such as that of zram1 is given again, to anybody.

local fs = require("storlua.fs")

local marker = {}

local LARGEST_PAGE <const> = 64 << 10 -- zram rounds its size up to a page

-- The kernel's count of disks that there were; before Linux 5.15 the inode in
-- sysfs, which counts up as well. Both begin anew when the machine does.
local function identity(name)
  local boot = (fs.try_read("/proc/sys/kernel/random/boot_id") or ""):match("%S+")
  local count = (fs.try_read("/sys/block/" .. name .. "/diskseq") or ""):match("%d+")
  local stat = fs.try_stat("/sys/block/" .. name)
  if not boot or not stat then return nil end
  return ("%s %s"):format(boot, count and "diskseq " .. count or "ino " .. stat.ino)
end

--- The content of a marker.
---@param name string such as "zram1"
---@param size_bytes integer
---@return string
function marker.text(name, size_bytes)
  return ("%s size %d\n"):format(identity(name) or "unknown", size_bytes)
end

--- Whether a device is the one of a marker; if not, why.
---@param name string
---@param text string
---@return boolean
---@return string|nil why
function marker.is_of(name, text)
  local known, size = text:match("^(%x+%-%S+ %l+ %d+) size (%d+)\n$")
  if not known then return false, "nothing tells that a killed run has made it" end
  if known ~= identity(name) then return false, "it is another one than a killed run has made" end
  -- Somebody may have found ours before it had a size, and given it another.
  local now = tonumber((fs.try_read("/sys/block/" .. name .. "/disksize") or ""):match("%d+"))
  size = tonumber(size)
  if now and now ~= 0 and (now < size or now >= size + LARGEST_PAGE) then
    return false, "somebody has set it up anew"
  end
  return true
end

return marker
