-- SPDX-License-Identifier: MIT
--- What the host of an eMMC or SD card counts as errors, and the mode its bus
--- runs in. A card that fell back to a slower mode passes every test, slowly.

local core = require("storlua.core.mmc")

local mmc = {}

---@class storlua.MmcSource: storlua.SensorSource
---@field ceiling_bytes_s? integer of the fastest mode that was seen
local Mmc = {}
Mmc.__index = Mmc

--- The host and the card of a disk's directory in sysfs, or nil.
---@param directory string
---@return string|nil host "mmc0"
function mmc.host_of(directory)
  return (directory .. "/"):match("/(mmc%d+)/mmc%d+:%x+/")
end

--- Watches the host of one card.
---@param host string "mmc0"
---@param debugfs string "/sys/kernel/debug"
---@param node? string of the whole disk: how the card is woken
---@return storlua.MmcSource
function mmc.open(host, debugfs, node)
  local folder = debugfs .. "/" .. host
  return setmetatable({
    name = host, node = node, metric = "mmc.errors",
    ios = folder .. "/ios", err_stats = folder .. "/err_stats",
    paths = { folder .. "/ios", folder .. "/err_stats" },
  }, Mmc)
end

local function sorted_names(counts)
  local names = {}
  for name in pairs(counts) do names[#names + 1] = name end
  table.sort(names)
  return names
end

local function counted_text(counts)
  local texts = {}
  for _, name in ipairs(sorted_names(counts)) do
    if counts[name] ~= 0 then texts[#texts + 1] = ("%s %d"):format(name, counts[name]) end
  end
  return texts[1] and table.concat(texts, ", ") or "none"
end

local function missing(readings, path)
  local code = readings.failures[path]
  if code == "ENOENT" then return "debugfs is not mounted, or the kernel has no such file" end
  if code == "EACCES" or code == "EPERM" then return "debugfs is for root" end
  return code or "not understood"
end

function Mmc:take_errors(readings, out)
  local text = readings.texts[self.err_stats]
  local counts = text and core.parse_errors(text)
  self.errors_gone = not counts and missing(readings, self.err_stats)
  if not counts then
    self.errors_missing = self.errors_missing or self.errors_gone
    return
  end
  local before = self.counts
  self.counts = counts
  if not before then
    self.counted_before = counted_text(counts)
    out:count(self.metric, nil, 0)
    return
  end
  local rises, total, was, is = {}, 0, {}, {}
  for _, name in ipairs(sorted_names(counts)) do
    local rise = counts[name] - (before[name] or 0)
    if rise > 0 then
      rises[#rises + 1] = ("%s %d more"):format(name, rise)
      was[name], is[name], total = before[name] or 0, counts[name], total + rise
    end
  end
  if total == 0 then return end
  local told = ("%s counted errors: %s"):format(self.name, table.concat(rises, ", "))
  out:count(self.metric, told, total)
  out:change {
    source = self.name, change = "errors", before = was, after = is, fails = true, text = told,
  }
end

local function mode_text(ios)
  return ("%s, %d bit, %.1f MHz"):format(ios.timing or "?", ios.width_bits,
    (ios.actual_clock_hz or ios.clock_hz) / 1e6)
end

local function mode_fields(ios)
  return { timing = ios.timing, width_bits = ios.width_bits, clock_hz = ios.clock_hz,
           actual_clock_hz = ios.actual_clock_hz, ceiling_bytes_s = ios.ceiling_bytes_s }
end

local function compare(self, ios, out)
  local before = self.mode
  self.mode = ios
  if not before then return end
  local was, is = mode_text(before), mode_text(ios)
  if was == is then return end
  local slower = (ios.ceiling_bytes_s or 0) < (before.ceiling_bytes_s or 0)
  out:change {
    source = self.name, change = "mode", fails = slower,
    before = mode_fields(before), after = mode_fields(ios),
    text = ("%s runs %s: %s, before: %s"):format(self.name,
      slower and "slower" or "in another mode", is, was),
  }
end

--- True when the card sleeps, which is no mode.
function Mmc:take_mode(readings, out)
  local text = readings.texts[self.ios]
  local ios = text and core.parse_ios(text)
  if not ios then
    self.ios_missing = self.ios_missing or missing(readings, self.ios)
    return false
  end
  if ios.suspended then return true end
  if (ios.ceiling_bytes_s or 0) > (self.ceiling_bytes_s or 0) then
    self.ceiling_bytes_s, self.fastest = ios.ceiling_bytes_s, ios
  end
  self.first_mode = self.first_mode or ios
  out:sample(self.name .. ".clock_mhz", (ios.actual_clock_hz or ios.clock_hz) / 1e6, "MHz")
  compare(self, ios, out)
  return false
end

--- Takes a reading. A card that sleeps is to be woken and asked again.
---@param readings storlua.SensorReadings
---@param out storlua.SensorOutput
---@return string|nil node to wake
function Mmc:take(readings, out)
  self:take_errors(readings, out)
  if self:take_mode(readings, out) then
    self.slept = true
    return self.node
  end
end

--- The reading after it was woken.
function Mmc:take_awake(readings, out)
  self:take_errors(readings, out)
  self:take_mode(readings, out)
end

--- Why the errors of the host cannot be had, or nil.
---@return string|nil
function Mmc:unavailable()
  if not self.counts then return self.errors_missing end
end

--- Why the errors since the last good reading are not known, or nil. The host
--- counts on: a reading that fails in between loses nothing.
---@return string|nil
function Mmc:lost()
  return self.counts and self.errors_gone
    and "the errors that the host counts can no longer be read: " .. self.errors_gone or nil
end

--- The fastest mode that was seen, in words; nil before.
---@return string|nil
function Mmc:bus_text() return self.fastest and mode_text(self.fastest) end

---@return string
function Mmc:status()
  local mode = self.first_mode
  local bus = mode and ("%s, ceiling %.1f MB/s"):format(mode_text(mode),
    (mode.ceiling_bytes_s or 0) / 1e6)
    or self.ios_missing and "mode unavailable: " .. self.ios_missing
    or "mode unknown: the card sleeps"
  local function at_times(what, why)
    return why and what .. " not readable at times: " .. why or ""
  end
  return ("%s%s; errors counted before: %s%s"):format(bus,
    at_times(", mode", mode and self.ios_missing),
    self.counted_before or "unavailable: " .. (self.errors_missing or "?"),
    at_times(",", self.counted_before and self.errors_missing))
end

return mmc
