-- SPDX-License-Identifier: MIT
--- Samples what surrounds a measurement: temperatures, clocks, the error
--- counters and the bus mode of a card. What cannot be read is told by
--- `Sensors:status`, never taken for good.

local bus = require("storlua.sensors.bus")
local clock = require("storlua.sensors.clock")
local core = require("storlua.core.sensors")
local fs = require("storlua.fs")
local heat = require("storlua.sensors.heat")
local job = require("storlua.job")
local mmc = require("storlua.sensors.mmc")

local sensors = {
  answer_seconds = 10, -- how long a round of sensors may take to answer
}

---@class storlua.SensorReadings
---@field texts table<string, string> path → content
---@field failures table<string, string> path → name of the error

---@class storlua.SensorSource
---@field name string
---@field paths string[]
---@field take fun(self, readings: storlua.SensorReadings, out: storlua.SensorOutput): string|nil
---@field status fun(self): string

---@class storlua.SensorChange
---@field source string
---@field change string "errors" or "mode"
---@field text string
---@field before table
---@field after table
---@field fails boolean

---@class storlua.SensorOutput
---@field samples table[] metric, value, unit
---@field counts table[] metric, text, n
---@field changes storlua.SensorChange[]
local Output = {}
Output.__index = Output

function Output:sample(metric, value, unit)
  self.samples[#self.samples + 1] = { metric = metric, value = value, unit = unit }
end

function Output:count(metric, text, n)
  self.counts[#self.counts + 1] = { metric = metric, text = text, n = n }
end

function Output:change(fields) self.changes[#self.changes + 1] = fields end

---@class storlua.Sensors
---@field sources storlua.SensorSource[]
---@field package paths string[]
---@field package card? storlua.MmcSource of a single disk
---@field package bus? table of a single disk: bytes_s, text
local Sensors = {}
Sensors.__index = Sensors
Sensors.__name = "storlua.Sensors"

-- The whole disks at the bottom, each once: below loop devices their backing.
local function collect_disks(found, sysfs, into)
  for _, disk in ipairs(found.disks or {}) do
    if disk.loop then
      if disk.loop.below then collect_disks(disk.loop.below, sysfs, into) end
    else
      local directory = fs.try_realpath(("%s/dev/block/%s"):format(sysfs, disk.number))
      local node = disk.node
      if directory and fs.try_exists(directory .. "/partition") then
        directory = directory:match("^(.*)/[^/]+$")
        node = "/dev/" .. directory:match("[^/]+$"):gsub("!", "/")
      end
      if directory and not into[directory] then
        into[directory] = true
        into[#into + 1] = { directory = directory, node = node,
                            name = directory:match("[^/]+$") }
      end
    end
  end
  return into
end

--- Finds what there is to sample around a device.
---@param found storlua.PathDevice
---@param options? {sysfs?: string, debugfs?: string} roots, for tests
---@return storlua.Sensors
function sensors.open(found, options)
  local sysfs = options and options.sysfs or "/sys"
  local debugfs = options and options.debugfs or sysfs .. "/kernel/debug"
  local disks = collect_disks(found, sysfs, {})
  local clocks = clock.open(sysfs)
  local self = setmetatable({
    sources = { heat.zones(sysfs), heat.disks(disks), clocks }, clocks = clocks, paths = {},
    hung = {}, hung_new = {},
  }, Sensors)
  for _, disk in ipairs(disks) do
    local host = mmc.host_of(disk.directory)
    local card = host and mmc.open(host, debugfs, disk.node)
    if card then self.sources[#self.sources + 1] = card end
    self.has_card = self.has_card or card ~= nil
    -- Of several disks each has its own bus; the sum says little.
    if #disks == 1 then self.card, self.bus = card, bus.ceiling(disk.directory) end
  end
  for _, source in ipairs(self.sources) do
    for _, path in ipairs(source.paths) do self.paths[#self.paths + 1] = path end
  end
  return self
end

-- The metrics that come from a path.
local function fed_by(self, path)
  local metrics = {}
  for _, source in ipairs(self.sources) do
    for i, one in ipairs(source.paths) do
      if one == path then
        local entry = source.list and source.list[i] or {}
        metrics[#metrics + 1], metrics[#metrics + 2] = source.metric or entry.metric, entry.metric
      end
    end
  end
  return metrics
end

-- A sensor that does not answer is left out from then on.
local function leave_out(self, wanted, j)
  local stuck = j:stuck() or {}
  local path = stuck.what == "read sensor" and wanted[(stuck.offset or -1) + 1]
  if not path then return job.give_up(j) end -- it was the device itself
  self.hung[path] = true
  self.hung_new[#self.hung_new + 1] = { path = path, metrics = fed_by(self, path) }
end

local function read(self, paths, node)
  local texts, failures
  repeat
    local wanted, count = {}, #self.hung_new
    for _, path in ipairs(paths) do
      if not self.hung[path] then wanted[#wanted + 1] = path end
    end
    texts, failures = job.wait_beside(sensors.answer_seconds, function(j)
      leave_out(self, wanted, j)
    end, core.read(wanted, node))
  until texts or count == #self.hung_new
  failures = failures or {}
  for path in pairs(self.hung) do failures[path] = "it does not answer" end
  return { texts = texts or {}, failures = failures }
end

--- Reads all sensors once, on a thread: a drive may not answer. A card that
--- sleeps is woken up unless `quietly`.
---@async
---@param quietly? boolean
---@return storlua.SensorOutput
function Sensors:sample(quietly)
  local out = setmetatable({ samples = {}, counts = {}, changes = {} }, Output)
  local readings = read(self, self.paths)
  for _, source in ipairs(self.sources) do
    local node = source:take(readings, out)
    if node and not quietly then source:take_awake(read(self, source.paths, node), out) end
  end
  return out
end

--- What each source has to say and what it cannot, in words.
---@return table<string, string>
function Sensors:status()
  local all = {}
  for _, source in ipairs(self.sources) do all[source.name] = source:status() end
  return all
end

--- The sensors that stopped to answer since the last call.
---@return {path: string, metrics: string[]}[]
function Sensors:take_hung()
  local list = self.hung_new
  self.hung_new = {}
  return list
end

--- The metrics that cannot be had here, and why.
---@return table<string, string>
function Sensors:unavailable()
  local all = { ["mmc.errors"] = not self.has_card and "it is no mmc card" or nil }
  for _, source in ipairs(self.sources) do
    if source.unavailable then all[source.metric] = source:unavailable() or all[source.metric] end
  end
  return all
end

--- The metrics that could be had, and no longer can, and why.
---@return table<string, string>
function Sensors:lost()
  local all = {}
  for _, source in ipairs(self.sources) do
    if source.lost then all[source.metric] = source:lost() or all[source.metric] end
  end
  return all
end

--- What the clocks of the processor did in the run, in words; nil without
--- cpufreq.
---@return string|nil
function Sensors:clock_summary() return self.clocks:summary() end

--- What the bus can carry at most in theory, and which bus that is; nil when
--- not known.
---@return integer|nil bytes_s
---@return string|nil text
function Sensors:ceiling()
  if self.card then return self.card.ceiling_bytes_s, self.card:bus_text() end
  if self.bus then return self.bus.bytes_s, self.bus.text end
end

return sensors
