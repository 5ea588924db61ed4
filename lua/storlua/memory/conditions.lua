-- SPDX-License-Identifier: MIT
--- What surrounds a measurement of memory: temperature, the clocks of the
--- processor and of the memory, before it and after it. A board whose memory
--- sleeps at 528 MHz, or that throttles, measures that.

local fs = require("storlua.fs")
local sensors = require("storlua.sensors")

local conditions = { sysfs = "/sys" }

-- Smaller changes are those of any measurement.
local CELSIUS, PERCENT = 1, 2

-- devfreq also has graphics and buses; the names of memory controllers.
local MEMORY = { "dmc", "ddr", "dram", "emc", "memory" }

local function memory_clocks(sysfs)
  local paths, above = {}, sysfs .. "/class/devfreq"
  for _, name in ipairs(fs.try_list(above) or {}) do
    for _, word in ipairs(MEMORY) do
      if name:find(word, 1, true) then paths[name] = above .. "/" .. name .. "/cur_freq" end
    end
  end
  return paths
end

local open -- what there is to read does not change: found once

local function opened()
  if not open or open.sysfs ~= conditions.sysfs then
    open = { sysfs = conditions.sysfs, memory = memory_clocks(conditions.sysfs),
             sensors = sensors.open({}, { sysfs = conditions.sysfs }) }
  end
  return open
end

---@class storlua.MemoryConditions what cannot be read is absent
---@field celsius? number of the hottest zone
---@field cpu_mhz table<string, number> by group of processors
---@field memory_mhz table<string, number> by controller

--- Reads them now.
---@async
---@return storlua.MemoryConditions
function conditions.read()
  local found, now = opened(), { cpu_mhz = {}, memory_mhz = {} }
  for _, sample in ipairs(found.sensors:sample(true).samples) do
    local policy = sample.metric:match("^cpu%.(.*)%.mhz$")
    if policy then now.cpu_mhz[policy] = sample.value end
    if sample.metric == "temperature.celsius" then now.celsius = sample.value end
  end
  for name, path in pairs(found.memory) do
    local hz = tonumber((fs.try_read(path) or ""):match("^%d+"))
    now.memory_mhz[name] = hz and hz / 1e6
  end
  return now
end

--- What is read here and what is not, in words: temperature, cpu_clock,
--- memory_clock.
---@return table<string, string>
function conditions.status()
  local found, names = opened(), {}
  for name in pairs(found.memory) do names[#names + 1] = name end
  table.sort(names)
  local all = found.sensors:status()
  return { temperature = all["thermal zones"], cpu_clock = all["processor clock"],
           memory_clock = names[1] and table.concat(names, ", ")
             or "unavailable: no devfreq of the memory" }
end

--- Runs one measurement; what surrounded it is in result.conditions.
---@async
---@param run fun(given: table): table, table
---@param given table
---@return table result
---@return table spec
function conditions.around(run, given)
  local before = conditions.read()
  local result, spec = run(given)
  result.conditions = { before = before, after = conditions.read() }
  return result, spec
end

local function changes(texts, title, before, after)
  local names = {}
  for name in pairs(before) do names[#names + 1] = name end
  table.sort(names)
  for _, name in ipairs(names) do
    local from, to = before[name], after[name]
    if to and math.abs(to - from) > from * PERCENT / 100 then
      texts[#texts + 1] = ("%s %s %.0f -> %.0f MHz"):format(title, name, from, to)
    end
  end
end

--- What differs between before and after, in words; nil when nothing does.
---@param c {before: storlua.MemoryConditions, after: storlua.MemoryConditions}
---@return string|nil
function conditions.change(c)
  local texts = {}
  changes(texts, "clock of", c.before.cpu_mhz, c.after.cpu_mhz)
  changes(texts, "memory clock", c.before.memory_mhz, c.after.memory_mhz)
  local from, to = c.before.celsius, c.after.celsius
  if from and to and math.abs(to - from) >= CELSIUS then
    texts[#texts + 1] = ("%.1f -> %.1f °C"):format(from, to)
  end
  return texts[1] and table.concat(texts, ", ")
end

return conditions
