-- SPDX-License-Identifier: MIT
--- Which process works in the folder of a run. Its lock is looked up in the
--- kernel's list, not tried: a try would be in the way of a run that begins.

local fs = require("storlua.fs")

local holder = {}

-- "03: FLOCK  ADVISORY  WRITE 1234 fe:00:5678 0 EOF"
local LOCK = "FLOCK%s+%S+%s+%S+%s+(%d+)%s+%x+:%x+:(%d+)%s"

--- The process that holds the lock of a run; nil when none does, or that
--- cannot be known here.
---@param directory string folder of a run
---@return integer|nil pid
function holder.of(directory)
  local stat = fs.try_stat(directory .. "/lock")
  local named = fs.try_read(directory .. "/lock")
  local locks = fs.try_read("/proc/locks")
  if not (stat and named and locks) then return nil end
  for pid, ino in locks:gmatch(LOCK) do
    -- Numbers of devices differ on btrfs and overlays; the file names its holder.
    if math.tointeger(ino) == stat.ino and pid == named:match("^%d+") then
      return math.tointeger(pid)
    end
  end
  return nil
end

return holder
