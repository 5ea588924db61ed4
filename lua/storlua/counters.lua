-- SPDX-License-Identifier: MIT
--- What the device itself was asked to do while something ran: the kernel's
--- counters, after minus before. Everybody's requests count, not only ours.

local core = require("storlua.core.counters")
local errors = require("storlua.errors")
local fs = require("storlua.fs")

local counters = {}

---@class storlua.Counting
---@field number? string
---@field reason? string why there is nothing to count
local Counting = {}
Counting.__index = Counting
Counting.__name = "storlua.Counting"

--- Begins to count for the device of `found`. Where there is no single device
--- it does not fail: the result then says why.
---@param found storlua.PathDevice
---@return storlua.Counting
function counters.start(found)
  local self = setmetatable({ disk = found.single }, Counting)
  if not found.single then
    self.reason = found.reason or ("%d devices"):format(#found.disks)
    return self
  end
  local before, message = core.read(found.single.number)
  self.before, self.reason = before, message
  return self
end

--- The counts since the start: read_bytes, write_bytes, read_operations,
--- write_operations, discard_bytes, flushes, busy_ns; or only the reason.
---@return table
function Counting:result()
  if not self.before then return { reason = self.reason } end
  local after, message = core.read(self.disk.number)
  local d
  if after then d, message = after:since(self.before) end
  if not d then return { reason = message } end
  return {
    read_bytes = d.read.bytes, read_operations = d.read.operations,
    write_bytes = d.write.bytes, write_operations = d.write.operations,
    discard_bytes = d.discard and d.discard.bytes,
    -- The kernel counts flushes for whole disks only.
    flushes = not self.disk.partition and d.flushes or nil,
    busy_ns = d.busy_ns,
  }
end

--- False when nothing was ever read of the device, as far as its counters say:
--- the kernel does not keep them (queue/iostats is 0, some paths of NVMe).
---@return boolean
function Counting:counts_at_all()
  local now = core.read(self.disk.number)
  return now ~= nil and now:values().read.bytes > 0
    and (fs.try_read(("/sys/dev/block/%s/queue/iostats"):format(self.disk.number))
      or fs.try_read(("/sys/dev/block/%s/../queue/iostats"):format(self.disk.number))
      or "1"):match("^%d") ~= "0"
end

--- One reading of a device's counters.
---@param number string "179:0"
---@return table read, write, discard?, flushes?, flush_wait_ns?, busy_ns, in_flight
function counters.read(number)
  return errors.check(core.read(number)):values()
end

return counters
