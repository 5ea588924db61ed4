-- SPDX-License-Identifier: MIT
--- fio's random_distribution= and bssplit=, as fields of a workload.

local words = require("storlua.fio.words")

local random = {}

local function number(name, text, value, least, most)
  local found = value and value:find("^%d*%.?%d+$") and tonumber(value)
  if not found or found < least or found > most then
    words.usage("%s=%s: '%s' is no number from %g to %g", name, text, value or "", least, most)
  end
  return found
end

local function whole(name, text, value)
  local found = math.tointeger(number(name, text, value, 0, 100))
  return found or words.usage("%s=%s: '%s' is no whole percent", name, text, value)
end

local function parts_of(text)
  local parts = {}
  for part in (text .. ":"):gmatch("([^:]*):") do parts[#parts + 1] = part end
  return parts
end

local function total(name, text, list, key)
  local sum = 0
  for _, one in ipairs(list) do sum = sum + one[key] end
  if sum ~= 100 then words.usage("%s=%s: the percents are %d, not 100", name, text, sum) end
end

local function zones(name, text, parts, in_bytes)
  local list = {}
  for i = 2, #parts do
    local visits, range = parts[i]:match("^(%d+)/(%w+)$")
    if not visits then words.usage("%s=%s: zones are ACCESS/SIZE", name, text) end
    list[#list + 1] = { visit_percent = whole(name, text, visits),
                        range_bytes = in_bytes and words.size(name, range) or nil,
                        range_percent = not in_bytes and whole(name, text, range) or nil }
  end
  total(name, text, list, "visit_percent")
  if not in_bytes then total(name, text, list, "range_percent") end
  return { distribution = "zoned", zones = list }
end

--- The fields of "random", "zipf:1.2", "pareto:0.2", "normal:10",
--- "zoned:60/10:40/90" or "zoned_abs:60/1g:40/9g".
---@param name string of the option
---@param text string
---@return table|nil fields of a workload
function random.distribution(name, text)
  local parts = parts_of(text)
  local kind, value = parts[1], parts[2]
  if kind == "random" and #parts == 1 then return nil end
  if kind == "zipf" and #parts <= 2 then
    local theta = value and number(name, text, value, 0.001, 10)
    return { distribution = "zipf", zipf_theta = theta or 1.1 } -- fio's default
  elseif kind == "pareto" and #parts <= 2 then
    local h = value and number(name, text, value, 0.001, 0.999)
    return { distribution = "pareto", pareto_h = h or 0.2 }
  elseif kind == "normal" and #parts == 2 then
    return { distribution = "normal", normal_percent = math.max(whole(name, text, value), 1) }
  elseif (kind == "zoned" or kind == "zoned_abs") and #parts > 1 then
    return zones(name, text, parts, kind == "zoned_abs")
  end
  words.usage("%s=%s: random, zipf:THETA, pareto:H, normal:PERCENT, zoned:ACCESS/SIZE:… and "
    .. "zoned_abs:ACCESS/BYTES:… are offered", name, text)
end

--- Checks that the zones of a job fit its range, as the workload will.
---@param job table
---@param size integer of the range
function random.check_zones(job, size)
  local block, first, sum = job.block_bytes, 0, 0
  local records = (size + block - 1) // block
  for _, zone in ipairs(job.distribution and job.distribution.zones or {}) do
    sum = sum + (zone.range_bytes or zone.range_percent)
    local last = zone.range_bytes and sum // block or records * sum // 100
    if last > records or last == first and zone.visit_percent > 0 then
      words.usage("job %s: random_distribution=: its zones do not fit a range of %d blocks of %d",
        job.name, records, block)
    end
    first = last
  end
end

--- The sizes of "4k/60:64k/40". A share that is left out is what the others
--- leave.
---@param name string
---@param text string
---@return table size_mix of a workload
function random.sizes(name, text)
  local mix, sum, open = {}, 0, {}
  for i, part in ipairs(parts_of(text)) do
    local size, percent = part:match("^(%w+)/?(%d*)$")
    if not size then words.usage("%s=%s: sizes are SIZE/PERCENT, joined by colons", name, text) end
    mix[i] = { record_bytes = words.rate(name, size) }
    if percent == "" then
      open[#open + 1] = mix[i]
    else
      mix[i].percent = whole(name, text, percent)
      sum = sum + mix[i].percent
    end
  end
  for i, one in ipairs(open) do
    local left = math.max(100 - sum, 0)
    one.percent = left // #open + (i <= left % #open and 1 or 0)
  end
  total(name, text, mix, "percent")
  if #mix > 8 then words.usage("%s=%s: 8 sizes at most", name, text) end
  return mix
end

--- Checks them against the rest of a job, and gives it its largest block.
---@param job table
function random.check(job)
  local draws = job.distribution and job.distribution.distribution
  if not draws and not job.size_mix then return end
  local option = draws and "random_distribution" or "bssplit"
  if job.order ~= "random" then
    words.usage("job %s: %s= needs a random rw=", job.name, option)
  end
  if job.verify then
    words.usage("job %s: verify= and %s= exclude each other: which write was the last one, "
      .. "nobody knows", job.name, option)
  end
  if not job.size_mix then return end
  job.block_bytes, job.least_bytes = 0, math.maxinteger
  for _, one in ipairs(job.size_mix) do
    job.block_bytes = math.max(job.block_bytes, one.record_bytes)
    job.least_bytes = math.min(job.least_bytes, one.record_bytes)
  end
  for _, one in ipairs(job.size_mix) do
    if job.block_bytes % one.record_bytes ~= 0 then
      words.usage("job %s: bssplit=: %d does not divide the largest size, %d", job.name,
        one.record_bytes, job.block_bytes)
    end
  end
end

return random
