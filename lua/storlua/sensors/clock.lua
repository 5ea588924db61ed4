-- SPDX-License-Identifier: MIT
--- Clocks of the processor: a board that throttles measures itself, not its
--- storage. The kernel's account of the time at each clock says more than any
--- number of looks at the clock of the moment.

local fs = require("storlua.fs")

local clock = {}

local TICK_SECONDS = 0.01 -- unit of time_in_state

local function integer(text)
  return math.tointeger(tonumber(text and text:match("^%s*(%d+)%s*$") or ""))
end

--- What time_in_state says: the time at each clock.
---@param text string
---@return table[]|nil list of {khz, ticks}
function clock.parse_times(text)
  local list = {}
  for line in text:gmatch("[^\n]+") do
    local khz, ticks = line:match("^%s*(%d+)%s+(%d+)%s*$")
    khz, ticks = math.tointeger(tonumber(khz)), math.tointeger(tonumber(ticks))
    if not khz or not ticks then return nil end
    list[#list + 1] = { khz = khz, ticks = ticks }
  end
  return list[1] and list
end

-- Ticks in all, ticks below the highest clock of the list.
local function sums(times)
  local highest, all, at_highest = 0, 0, 0
  for _, state in ipairs(times) do
    if state.khz > highest then highest = state.khz end
  end
  for _, state in ipairs(times) do
    all = all + state.ticks
    if state.khz == highest then at_highest = at_highest + state.ticks end
  end
  return all, all - at_highest, highest
end

---@class storlua.ClockSource: storlua.SensorSource
local Clock = {}
Clock.__index = Clock

local function open_policy(folder, name)
  local function value(file) return (fs.try_read(folder .. "/" .. file) or ""):match("^[^\n]+") end
  return {
    name = name, folder = folder, governor = value("scaling_governor"),
    maximum_khz = integer(value("cpuinfo_max_freq")),
    -- the clock of the moment, what heat and power leave of the maximum, times
    now = folder .. "/scaling_cur_freq", limit = folder .. "/scaling_max_freq",
    times = folder .. "/stats/time_in_state",
  }
end

--- Finds the groups of processors that share a clock.
---@param sysfs string
---@return storlua.ClockSource
function clock.open(sysfs)
  local self = setmetatable({
    name = "processor clock", paths = {}, list = {}, policies = {},
  }, Clock)
  local above = sysfs .. "/devices/system/cpu"
  for _, entry in ipairs(fs.try_list(above .. "/cpufreq") or {}) do
    if entry:find("^policy%d+$") then
      self.policies[#self.policies + 1] = open_policy(above .. "/cpufreq/" .. entry, entry)
    end
  end
  if not self.policies[1] and fs.try_exists(above .. "/cpu0/cpufreq/scaling_cur_freq") then
    self.policies[1] = open_policy(above .. "/cpu0/cpufreq", "cpu0")
  end
  for _, policy in ipairs(self.policies) do
    local metric = "cpu." .. policy.name
    for path, of in pairs { [policy.now] = metric .. ".mhz", [policy.limit] = metric .. ".mhz",
                            [policy.times] = metric .. ".below_max_percent" } do
      self.paths[#self.paths + 1], self.list[#self.list + 1] = path, { metric = of }
    end
  end
  return self
end

local function take_times(policy, text, out)
  local times = text and clock.parse_times(text)
  if not times then
    policy.times_missing = true
    return
  end
  local all, below, highest = sums(times)
  policy.maximum_khz = math.max(policy.maximum_khz or 0, highest)
  -- A driver that was loaded anew counts from 0.
  if policy.all and all >= policy.all and below >= policy.below then
    local passed, slow = all - policy.all, below - policy.below
    policy.seconds = (policy.seconds or 0) + passed * TICK_SECONDS
    policy.below_seconds = (policy.below_seconds or 0) + slow * TICK_SECONDS
    if passed > 0 then
      out:sample("cpu." .. policy.name .. ".below_max_percent", 100.0 * slow / passed, "%")
    end
  end
  policy.all, policy.below = all, below
end

---@param readings storlua.SensorReadings
---@param out storlua.SensorOutput
function Clock:take(readings, out)
  for _, policy in ipairs(self.policies) do
    local now, limit = integer(readings.texts[policy.now]), integer(readings.texts[policy.limit])
    if now then
      out:sample("cpu." .. policy.name .. ".mhz", now / 1000, "MHz")
      policy.lowest_khz = math.min(policy.lowest_khz or now, now)
    else
      policy.now_missing = true
    end
    if limit then policy.limit_khz = math.min(policy.limit_khz or limit, limit) end
    take_times(policy, readings.texts[policy.times], out)
  end
end

local function mhz(khz) return khz and ("%d MHz"):format(khz // 1000) or "?" end

---@return string
function Clock:status()
  if not self.policies[1] then return "unavailable: no cpufreq" end
  local texts = {}
  for i, policy in ipairs(self.policies) do
    texts[i] = ("%s at most %s (%s)%s%s"):format(policy.name, mhz(policy.maximum_khz),
      policy.governor or "governor unknown",
      policy.now_missing and ", clock not readable at times" or "",
      policy.times_missing and ", no account of the time at each clock" or "")
  end
  return table.concat(texts, "; ")
end

--- What the run as a whole has seen, in words; nil without cpufreq.
---@return string|nil
function Clock:summary()
  local texts = {}
  for i, policy in ipairs(self.policies) do
    local seconds = policy.seconds or 0
    local times = seconds > 0 and ("%.1f of %.1f s (%.1f %%) below %s"):format(
      policy.below_seconds, seconds, 100.0 * policy.below_seconds / seconds,
      mhz(policy.maximum_khz)) or "time below the maximum unknown"
    texts[i] = ("%s: %s, lowest seen %s, limit at least %s"):format(policy.name, times,
      mhz(policy.lowest_khz), mhz(policy.limit_khz))
  end
  return texts[1] and table.concat(texts, "; ")
end

return clock
