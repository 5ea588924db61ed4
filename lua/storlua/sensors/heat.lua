-- SPDX-License-Identifier: MIT
--- Temperatures: the thermal zones of the machine and the sensors of the disks.

local fs = require("storlua.fs")

local heat = {}

local ZONES_MAX = 64
-- What no storage device or chip that still works can have.
local LOWEST_MILLICELSIUS, HIGHEST_MILLICELSIUS = -100000, 250000

local function celsius_of(text)
  local millicelsius = math.tointeger(tonumber(text and text:match("^%s*(%-?%d+)%s*$") or ""))
  if not millicelsius then return nil, text and "no number" end
  if millicelsius < LOWEST_MILLICELSIUS or millicelsius > HIGHEST_MILLICELSIUS then
    return nil, "implausible"
  end
  return millicelsius / 1000
end

local function first_line(path)
  local text = fs.try_read(path)
  local line = text and text:match("^[^\n]*")
  return line ~= "" and line or nil
end

--- A name as a segment of a metric.
---@param text string
---@return string
function heat.segment(text)
  return (text:gsub("[^%w_-]+", "_"):sub(1, 60))
end

---@class storlua.HeatSource: storlua.SensorSource
---@field package list table[] path, name, metric
---@field package failed table<string, string> by name, kept: a zone may answer now and then
local Heat = {}
Heat.__index = Heat

local function new(name, list, missing, metric)
  local paths = {}
  for i, sensor in ipairs(list) do paths[i] = sensor.path end
  return setmetatable({ name = name, list = list, paths = paths, failed = {}, failures = 0,
                        missing = missing, metric = metric, read = {}, reads = 0 }, Heat)
end

--- The thermal zones of the machine.
---@param sysfs string
---@return storlua.HeatSource
function heat.zones(sysfs)
  local list, seen = {}, {}
  local folder = sysfs .. "/class/thermal"
  for _, entry in ipairs(fs.try_list(folder) or {}) do
    local number = entry:match("^thermal_zone(%d+)$")
    if number and #list < ZONES_MAX then
      local name = first_line(folder .. "/" .. entry .. "/type") or entry
      local segment = heat.segment(name)
      -- several zones of one type are told apart by their numbers
      if seen[segment] then segment = segment .. "_" .. number end
      seen[segment] = true
      list[#list + 1] = { path = folder .. "/" .. entry .. "/temp", name = name,
                          metric = "thermal." .. segment .. ".celsius" }
    end
  end
  return new("thermal zones", list, "the kernel has none", "temperature.celsius")
end

-- Where the drivers of drives (nvme, drivetemp) put their sensors.
local function hwmon_folders(directory)
  local folders = {}
  for _, place in ipairs { "/device", "/device/hwmon", "/device/device/hwmon" } do
    for _, entry in ipairs(fs.try_list(directory .. place) or {}) do
      if entry:find("^hwmon%d+$") then
        folders[#folders + 1] = directory .. place .. "/" .. entry
      end
    end
    if folders[1] then return folders end
  end
  return folders
end

--- The sensors of the disks themselves.
---@param disks table[] directory, name
---@return storlua.HeatSource
function heat.disks(disks)
  local list = {}
  for _, disk in ipairs(disks) do
    local prefix = #disks == 1 and "disk." or "disk." .. heat.segment(disk.name) .. "."
    for _, folder in ipairs(hwmon_folders(disk.directory)) do
      for _, entry in ipairs(fs.try_list(folder) or {}) do
        local number = entry:match("^temp(%d+)_input$")
        if number then
          local label = first_line(folder .. "/temp" .. number .. "_label") or "temp" .. number
          list[#list + 1] = {
            path = folder .. "/" .. entry, name = disk.name .. " " .. label,
            metric = prefix .. (number == "1" and "" or heat.segment(label) .. ".") .. "celsius",
          }
        end
      end
    end
  end
  return new("disk temperature", list, "the disk has no sensor that the kernel knows",
    "disk.celsius")
end

---@param readings storlua.SensorReadings
---@param out storlua.SensorOutput
function Heat:take(readings, out)
  local hottest
  for _, sensor in ipairs(self.list) do
    local celsius, why = celsius_of(readings.texts[sensor.path])
    if celsius then
      out:sample(sensor.metric, celsius, "C")
      if not hottest or celsius > hottest then hottest = celsius end
      if not self.read[sensor.name] then self.reads = self.reads + 1 end
      self.read[sensor.name] = true
    elseif not self.failed[sensor.name] then
      self.failed[sensor.name] = why or readings.failures[sensor.path] or "?"
      self.failures = self.failures + 1
    end
  end
  if hottest and self.metric == "temperature.celsius" then
    out:sample(self.metric, hottest, "C")
  end
end

--- Why its metric cannot be had, or nil.
---@return string|nil
function Heat:unavailable()
  if self.reads == 0 then return self.list[1] and "no sensor answers" or self.missing end
end

--- What there is to see, and what is not readable, in words.
---@return string
function Heat:status()
  if not self.list[1] then return "unavailable: " .. self.missing end
  local good, bad = {}, {}
  for _, sensor in ipairs(self.list) do
    if self.read[sensor.name] then good[#good + 1] = sensor.name end
    if self.failed[sensor.name] then
      bad[#bad + 1] = ("%s (%s)"):format(sensor.name, self.failed[sensor.name])
    end
  end
  local text = good[1] and table.concat(good, ", ") or "unavailable"
  if bad[1] then text = text .. "; not readable at times: " .. table.concat(bad, ", ") end
  return text
end

return heat
