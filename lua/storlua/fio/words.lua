-- SPDX-License-Identifier: MIT
--- Values of fio's options, read as fio reads them; what it would misread is
--- refused.

local errors = require("storlua.errors")
local source = require("storlua.source")

local words = {}

--- Raises wrong usage.
---@param format string
function words.usage(format, ...)
  error(errors.new { code = "USAGE", message = "fio: " .. format:format(...) }, 0)
end

local POWERS = { k = 1, m = 2, g = 3, t = 4, p = 5 }

--- Bytes: digits with k, m, g, t, p, all in powers of 1024, with or without a
--- b behind.
---@param name string of the option
---@param text string
---@return integer
function words.size(name, text)
  local digits, suffix = text:match("^(%d+)(%a*)$")
  local value = digits and math.tointeger(tonumber(digits))
  local lower = suffix and suffix:lower() or "?"
  if value and lower:find("^[kmgtp]ib$") then
    words.usage("%s=%s: fio itself takes %s for a power of 1000; write %s%s for one of 1024", name,
      text, suffix, digits, suffix:sub(1, 1):lower())
  end
  local power = value and (lower == "" or lower == "b") and 0
    or value and POWERS[lower:match("^(%a)b?$") or ""]
  if not power then
    words.usage("%s=%s is no size: digits with k, m, g or t, in powers of 1024", name, text)
  end
  if value > math.maxinteger >> (10 * power) then words.usage("%s=%s is too large", name, text) end
  return value << (10 * power)
end

--- A size, or a share: a number of bytes, or {percent = n}.
---@param name string
---@param text string
---@return integer|table
function words.size_or_share(name, text)
  local percent = text:match("^(%d+%.?%d*)%%$")
  if not percent then return words.size(name, text) end
  local value = tonumber(percent)
  if value > 100 then words.usage("%s=%s is more than all", name, text) end
  return { percent = value }
end

local SECONDS = { us = 1e-6, usec = 1e-6, ms = 1e-3, msec = 1e-3, [""] = 1, s = 1, sec = 1,
                  m = 60, h = 3600, d = 86400 }

--- Seconds.
---@param name string
---@param text string
---@param unit? string of a number without one: "us" for some options of fio
---@return number
function words.time(name, text, unit)
  local digits, suffix = text:match("^(%d+%.?%d*)(%a*)$")
  local factor = digits and SECONDS[suffix == "" and unit or suffix:lower()]
  if not factor then
    words.usage("%s=%s is no time: digits with us, ms, s, m, h or d", name, text)
  end
  return tonumber(digits) * factor
end

--- A whole number.
---@param name string
---@param text string
---@param least? integer
---@return integer
function words.count(name, text, least)
  local value = text:find("^%d+$") and math.tointeger(tonumber(text))
  if not value then
    -- fio takes 100k here too, in powers of 1024
    local digits, suffix = text:match("^(%d+)([kmgtpKMGTP])$")
    value = digits and math.tointeger(tonumber(digits) * (1 << 10 * POWERS[suffix:lower()]))
  end
  if not value or value < (least or 0) or value > 1 << 53 then
    words.usage("%s=%s: a whole number from %d on is wanted", name, text, least or 0)
  end
  return value
end

-- "0,2-3" as {[0] = true, …}; nil where it is none.
local function cpu_set(text)
  local set = {}
  for part in (text .. ","):gmatch("([^,]*),") do
    local first, last = part:match("^(%d+)%-(%d+)$")
    first = tonumber(first or part:match("^%d+$"))
    last = tonumber(last) or first
    if not first or last < first or last > 62 then return nil end
    for cpu = first, last do set[cpu] = true end
  end
  return set
end

--- CPUs of this machine: "0,2-3".
---@param name string
---@param text string
---@return integer[]
function words.cpus(name, text)
  local set = cpu_set(text)
  if not set then words.usage("%s=%s: CPUs are written 0,2-3, up to 62", name, text) end
  local online = source.read("/sys/devices/system/cpu/online") or ""
  local there, list = cpu_set(online:match("%S+") or "") or set, {}
  for cpu = 0, 62 do
    if set[cpu] then list[#list + 1] = cpu end
    if set[cpu] and not there[cpu] then
      words.usage("%s=%s: there is no CPU %d, online are %s", name, text, cpu, online:match("%S+"))
    end
  end
  return list
end

local YES = { ["1"] = true, ["true"] = true, yes = true, [""] = true }
local NO = { ["0"] = true, ["false"] = true, no = true }

--- Whether a switch may have this value.
---@param text string
---@return boolean
function words.is_switch(text) return YES[text:lower()] or NO[text:lower()] or false end

--- A switch: 1, true, yes or nothing; 0, false, no.
---@param name string
---@param text string|nil
---@return boolean
function words.switch(name, text)
  text = text or ""
  if YES[text:lower()] then return true end
  if NO[text:lower()] then return false end
  words.usage("%s=%s: 0 or 1 is wanted", name, text)
end

--- Percentiles: "50:90:99.9", at most 20.
---@param name string
---@param text string
---@return number[]
function words.percentiles(name, text)
  local list = {}
  for part in (text .. ":"):gmatch("([^:]*):") do
    local value = part:find("^%d+%.?%d*$") and tonumber(part)
    if not value or value <= 0 or value > 100 then
      words.usage("%s=%s: numbers above 0 up to 100, joined by colons", name, text)
    end
    list[#list + 1] = value
  end
  if #list > 20 then words.usage("%s: at most 20 percentiles", name) end
  table.sort(list)
  return list
end

--- Block sizes of reads, writes and trims: "4k", "8k,32k" (the last one holds
--- for the others), ",8k" (4k for what is left out).
---@param name string
---@param text string
---@return integer[] read, write, trim
function words.blocks(name, text)
  local sizes, last = {}, 4096
  for part in (text .. ","):gmatch("([^,]*),") do
    last = part == "" and 4096 or words.size(name, part)
    if last == 0 then words.usage("%s=%s: a block has at least one byte", name, text) end
    sizes[#sizes + 1] = last
  end
  if #sizes > 3 then words.usage("%s=%s: reads, writes and trims are three", name, text) end
  for i = #sizes + 1, 3 do sizes[i] = last end
  return sizes
end

--- A rate that is the same for all directions: "4m", "4m,4m".
---@param name string
---@param text string
---@return integer
function words.rate(name, text)
  local first
  for part in (text .. ","):gmatch("([^,]*),") do
    local value = part == "" and first or words.size(name, part)
    if first and value ~= first then
      words.usage("%s=%s: one for reads and writes; two jobs do two", name, text)
    end
    first = value
  end
  if not first or first == 0 then words.usage("%s=%s: at least 1 is wanted", name, text) end
  return first
end

--- One of several words.
---@param name string
---@param text string
---@param map table<string, any>
---@return any
function words.choice(name, text, map)
  local value = map[text:lower()]
  if value ~= nil then return value end
  local names = {}
  for word in pairs(map) do names[#names + 1] = word end
  table.sort(names)
  words.usage("%s=%s: it can be %s", name, text, table.concat(names, ", "))
end

return words
