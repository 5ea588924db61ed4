-- SPDX-License-Identifier: MIT
--- Whether what is measured can be: nothing is faster than its bus. And how
--- much of its rated life a run takes from a device.

local counters = require("storlua.counters")
local device = require("storlua.device")
local task = require("storlua.task")

local watch_measures = {}

-- The time of a direction, a write's with its flush: only then it was moved.
local function rate_bytes_s(result, direction)
  local part = result[direction]
  if not part or (part.bytes or 0) == 0 then return nil end
  local ns = part.io_ns
  if direction == "write" and result.flush then ns = ns + result.flush.ns end
  return ns > 0 and part.bytes * 1e9 / ns or nil
end

local function reason_of(result, direction)
  local target, cache = result.target or {}, result.cache or {}
  if target.direct then return "" end
  if direction == "read" then
    return cache.cold and "" or "; the read was neither direct nor cold: it is of memory"
  end
  return result.flush and "" or "; it was not flushed: it is of memory"
end

-- True when the workload was on the device that is watched.
local function is_on(self, path)
  if not path then return false end
  local known = self.known[path]
  if known == nil then
    known = path == self.path
    local found = not known and device.try_of_path(path)
    for _, disk in ipairs(found and found.disks or {}) do
      for _, mine in ipairs(self.found.disks) do known = known or disk.number == mine.number end
    end
    self.known[path] = known
  end
  return known
end

local function judge(self, case_id, spec, result)
  local ceiling, bus = self.sensors:ceiling()
  if not ceiling or self.told[case_id] or not is_on(self, spec.path) then return end
  if (result.target or {}).ram_backed then return end
  for _, direction in ipairs { "read", "write" } do
    local rate = rate_bytes_s(result, direction)
    if rate and rate > ceiling then
      self.told[case_id] = true
      self.t:note("bus." .. case_id, ("implausible: %s at %.1f MB/s is above the bus ceiling of "
        .. "%.1f MB/s (%s)%s"):format(direction, rate / 1e6, ceiling / 1e6, bus or "?",
        reason_of(result, direction)))
    end
  end
end

-- File systems write more than they are told, and resumed runs have written
-- before: the larger of what the run and what the device has counted.
local function note_life(self)
  local counted = self.counting:result().write_bytes or 0
  local written = math.max(counted, self.t:written_bytes())
  local percent = 100.0 * written / self.rated_bytes
  self.t:sample("device.rated_life_percent", percent, "%")
  self.t:note("rated_write", ("%.4g %% of the rated life was written: %d of %d bytes"):format(
    percent, written, self.rated_bytes))
end

--- Watches the measures of a run until the scope is left.
---@param t storlua.Run
---@param scope storlua.Scope
---@param fields table path, found, sensors, rated_bytes
function watch_measures.spawn(t, scope, fields)
  local self = {
    t = t, path = fields.path, found = fields.found, sensors = fields.sensors,
    rated_bytes = fields.rated_bytes, known = {}, told = {},
  }
  if self.rated_bytes == 0 then self.rated_bytes = nil end
  if self.rated_bytes then self.counting = counters.start(self.found) end
  local stop = t:on_measure(function(...) judge(self, ...) end)
  scope:spawn("measures", function()
    local _ <close> = task.defer(function()
      stop()
      if self.rated_bytes then note_life(self) end
    end)
    task.await(function() return function() end end)
  end)
end

return watch_measures
