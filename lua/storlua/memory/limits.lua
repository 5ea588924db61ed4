-- SPDX-License-Identifier: MIT
--- How much memory may be taken: the least of what the kernel calls available
--- and of the headroom of our memory cgroup and all of its parents. The one
--- answer for everything that fills memory.

local core = require("storlua.core.memory")
local errors = require("storlua.errors")
local quantity = require("storlua.quantity")

local limits = {}

---@class storlua.MemoryLimits
---@field total_bytes integer of the machine
---@field available_bytes integer MemAvailable
---@field cgroup? string folder of the group with the least headroom
---@field cgroup_limit_bytes? integer
---@field cgroup_used_bytes? integer without file pages that can be taken back
---@field cgroup_unknown boolean a group of ours may allow less: its path cannot be read
---@field free_bytes integer the least of all
---@field reserve_bytes integer what must stay free
---@field room_bytes integer free - reserve

--- Reads them now.
---@return storlua.MemoryLimits
function limits.read() return errors.check(core.limits()) end

--- "3.2 GiB free (cgroup /sys/fs/cgroup/… limits to 4 GiB), 400 MiB stay for others"
---@param l storlua.MemoryLimits
---@return string
function limits.text(l)
  local by = l.cgroup and (" (cgroup %s limits to %s)"):format(l.cgroup,
    quantity.size_text(l.cgroup_limit_bytes)) or ""
  if l.cgroup_unknown then
    by = by .. " (what our memory cgroup allows is unknown: its path is too long or unreadable)"
  end
  return ("%s free%s, %s of it stay for others"):format(quantity.size_text(l.free_bytes), by,
    quantity.size_text(l.reserve_bytes))
end

--- A part of what may be taken, for "25%"; or that size, checked. Returns nil
--- and the reason when it is not there.
---@param wanted string|integer "25%" of the free memory, or a size
---@return integer|nil bytes
---@return string|nil why
function limits.share(wanted)
  local l = limits.read()
  local percent = type(wanted) == "string" and wanted:match("^(%d+)%%$")
  local bytes
  if percent then
    percent = math.tointeger(percent)
    if percent < 1 or percent > 100 then return nil, "a share is from 1% to 100%" end
    bytes = math.min(l.free_bytes * percent // 100, l.room_bytes)
  else
    local why
    bytes, why = math.tointeger(wanted), nil
    if type(wanted) == "string" then bytes, why = quantity.parse("size", wanted) end
    if not bytes or bytes < 1 then return nil, why or "must be a size or a share such as 25%" end
  end
  if bytes > l.room_bytes or bytes < 1 then
    return nil, ("%s are asked for: %s"):format(quantity.size_text(math.max(bytes, 0)),
      limits.text(l))
  end
  return bytes
end

return limits
