-- SPDX-License-Identifier: MIT
--- The health log of an NVMe drive, and the temperature of any disk that has a
--- sensor of its own.

local core = require("storlua.core.nvme")
local errors = require("storlua.errors")
local job = require("storlua.job")

local nvme = {}

--- Reads the SMART log. Needs root.
---@async
---@param disk storlua.Disk
---@return table critical_warning, temperature_millicelsius, used_percent, media_errors, …
function nvme.smart(disk)
  return job.wait(core.smart(disk.node))
end

--- As nvme.smart, but returns nil and the error.
---@async
---@param disk storlua.Disk
---@return table|nil, storlua.Error|nil
function nvme.try_smart(disk)
  return errors.try(nvme.smart, disk)
end

--- The temperature of the disk in degrees Celsius, or nil and the reason.
---@param disk storlua.Disk a whole disk
---@return number|nil celsius
---@return string|nil reason
function nvme.temperature(disk)
  local millicelsius, message = core.temperature(disk.number)
  if not millicelsius then return nil, message end
  return millicelsius / 1000
end

return nvme
