-- SPDX-License-Identifier: MIT
--- The sensors around the device under test, in a run: metrics, a summary of
--- each round, and events for what must not happen.

local counters = require("storlua.counters")
local errors = require("storlua.errors")
local heat = require("storlua.sensors.heat")
local job = require("storlua.job")
local loop = require("storlua.core.loop")
local scheduler = require("storlua.scheduler")
local sensors = require("storlua.sensors")
local task = require("storlua.task")

local watch_sensors = {}

local LAST_SAMPLE_SECONDS = 1 -- the end of a run does not wait for a dead drive

---@class storlua.SensorWatch
---@field package t storlua.Run
---@field package set storlua.Sensors
---@field package of_board table[]
local SensorWatch = {}
SensorWatch.__index = SensorWatch

local function mib_s(bytes, ns) return bytes / 1048576 / (ns / 1e9) end

-- What the device was asked to do since the last look; the first one only
-- begins.
local function sample_counters(self, sample)
  if not self.is_counting then
    self.is_counting, self.counting_reason = true, self.counting.reason
    return
  end
  local now_ns, result = loop.now_ns(), self.counting:result()
  local ns = now_ns - self.counted_ns
  self.counting_reason = result.reason
  if not result.reason and ns > 0 then
    sample("device.read_mib_s", mib_s(result.read_bytes, ns), "MiB/s")
    sample("device.write_mib_s", mib_s(result.write_bytes, ns), "MiB/s")
    if result.busy_ns then
      sample("device.busy_percent", math.min(100.0, 100.0 * result.busy_ns / ns), "%")
    end
  end
  self.counting, self.counted_ns = counters.start(self.found), now_ns
end

-- The board's own: code of its file, so an error of it is only told.
local function sample_board(self, sample)
  for _, sensor in ipairs(self.of_board) do
    local ok, value = pcall(sensor.read)
    if ok and type(value) == "number" and value == value and math.abs(value) < math.huge then
      sample(sensor.metric, value, sensor.unit)
    elseif not ok and errors.is(value) and value.code == "CANCELLED" then
      error(value, 0)
    else
      self.board_failures[sensor.metric] = "unavailable: "
        .. (ok and "it gave " .. tostring(value) or tostring(errors.is(value) and value.message
          or value))
    end
  end
end

-- Minimum and maximum of each metric in the rounds since the last summary.
local function summarise(self, is_last)
  local round = self.t:current_round()
  self.round = self.round or round
  self.first_round = self.first_round or round
  if not is_last and round == self.round then return end
  if next(self.values) then
    self.t:event("sensors", { first_round = self.first_round, last_round = self.round,
                              values = self.values })
    self.values, self.first_round = {}, round
  end
  self.round = round
end

-- A sensor that hangs is missing, which fails no device that works; but what
-- a threshold asks about can no longer be told.
local function tell_hung(self)
  for _, one in ipairs(self.set:take_hung()) do
    local text = one.path .. " does not answer: left out from now on"
    self.t:note("sensors." .. one.path, text)
    for _, metric in ipairs(one.metrics) do self.t:lost(metric, text) end
  end
end

-- Each source is told once, and again when there is more to say.
local function tell_status(self)
  tell_hung(self)
  local status, names = self.set:status(), {}
  status["device counters"] = self.counting_reason and "unavailable: " .. self.counting_reason
  for metric, text in pairs(self.board_failures) do status[metric] = text end
  for name, text in pairs(status) do
    if self.told[name] ~= text then names[#names + 1] = name end
  end
  table.sort(names)
  for _, name in ipairs(names) do
    self.told[name] = status[name]
    self.t:note("sensors." .. name, status[name])
  end
end

local function tell_change(self, change)
  self.t:event("device_change", { source = change.source, change = change.change,
    text = change.text, before = change.before, after = change.after, fails = change.fails })
  if change.fails then
    self.t:check(("sensors.%s.%s"):format(heat.segment(change.source), change.change), false,
      "%s", change.text)
  end
end

local function extend(sums, metric, value)
  local sum = sums[metric]
  if not sum then
    sum = { min = value, max = value }
    sums[metric] = sum
  end
  sum.min, sum.max, sum.last = math.min(sum.min, value), math.max(sum.max, value), value
  return sum
end

function SensorWatch:take(is_last)
  local function sample(metric, value, unit)
    self.t:sample(metric, value, unit)
    extend(self.values, metric, value).unit = unit
  end
  summarise(self)
  local out = self.set:sample(is_last)
  for _, one in ipairs(out.samples) do sample(one.metric, one.value, one.unit) end
  for _, one in ipairs(out.counts) do self.t:count(one.metric, one.text, one.n) end
  for _, change in ipairs(out.changes) do tell_change(self, change) end
  for _, one in ipairs(out.samples) do
    if one.unit == "C" then extend(self.heat, one.metric, one.value) end
  end
  sample_counters(self, sample)
  if not is_last then sample_board(self, sample) end
  tell_status(self)
end

local function finish(self)
  -- A thread that was given up sits in this device, most likely.
  if job.given_up == 0 then
    local ok, err = pcall(scheduler.shield_for, LAST_SAMPLE_SECONDS, self.take, self, true)
    if not ok and not errors.is(err) then error(err, 0) end
  end
  tell_hung(self)
  summarise(self, true)
  for metric, reason in pairs(self.set:unavailable()) do self.t:not_measured(metric, reason) end
  for metric, reason in pairs(self.set:lost()) do self.t:lost(metric, reason) end
  for metric, sum in pairs(self.heat) do
    self.t:note(metric, ("%.1f to %.1f C"):format(sum.min, sum.max))
  end
  local clocks = self.set:clock_summary()
  if clocks then self.t:note("processor_clock", clocks) end
end

--- Samples at once, then at every interval, and once more at the end.
---@param t storlua.Run
---@param scope storlua.Scope
---@param found storlua.PathDevice
---@param options {interval_seconds: number, sysfs?: string, debugfs?: string, of_board: table[]}
---@return storlua.Sensors
function watch_sensors.spawn(t, scope, found, options)
  local self = setmetatable({
    t = t, found = found, of_board = options.of_board, board_failures = {}, values = {}, told = {},
    heat = {},
    set = sensors.open(found, { sysfs = options.sysfs, debugfs = options.debugfs }),
    counting = counters.start(found), counted_ns = loop.now_ns(),
  }, SensorWatch)
  scope:spawn("sensors", function()
    local _ <close> = task.defer(function() finish(self) end)
    for _ in task.every(options.interval_seconds) do self:take() end
  end)
  return self.set
end

return watch_sensors
