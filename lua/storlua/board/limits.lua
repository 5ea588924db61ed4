-- SPDX-License-Identifier: MIT
--- The limits of a board: which measures they judge, and what they say.
---
--- A limit looks at what the device did, so a run that measured memory is left
--- out: a target in RAM, a read that was neither direct nor cold. Rates of
--- writes count the flush (as iozone -e does).

local quantity = require("storlua.quantity")

local board_limits = {}

local function is_one_of(allowed, value)
  if allowed == nil then return true end
  if type(allowed) == "string" then return allowed == value end
  for _, element in ipairs(allowed) do
    if element == value then return true end
  end
  return false
end

local function spec_bytes(value)
  if type(value) == "string" then return quantity.parse("size", value) end
  return math.tointeger(value)
end

--- Tells whether a limit judges workloads of this spec.
---@param limit table
---@param spec table of a workload: operation, order, record_bytes, engine, direct
---@return boolean
function board_limits.applies(limit, spec)
  local rule = limit.applies_to
  local record = spec_bytes(spec.record_bytes or "64k") or 0
  return is_one_of(rule.operation, spec.operation)
    and is_one_of(rule.order, spec.order or "sequential")
    and is_one_of(rule.engine, spec.engine or "psync")
    and (rule.direct == nil or rule.direct == (spec.direct or false))
    and record >= (rule.record_bytes_min or 0)
    and record <= (rule.record_bytes_max or math.maxinteger)
end

local RATES = {
  mb_s = function(part, ns) return part.bytes * 1000.0 / ns end,
  mib_s = function(part, ns) return part.bytes / 1048576 * 1e9 / ns end,
  iops = function(part, ns) return part.operations * 1e9 / ns end,
}

--- The value of a metric such as "write.mb_s" in a result, or nil and why it
--- says nothing about the device.
---@param metric string
---@param result table of a workload
---@return number|nil value
---@return string|nil reason
function board_limits.value(metric, result)
  local direction, name = metric:match("^(%a+)%.([%w_]+)$")
  local part = (direction == "read" or direction == "write") and result[direction]
  if not part then return nil, "was not measured" end
  local target, cache = result.target or {}, result.cache or {}
  if target.ram_backed then return nil, "the target is in memory" end
  if direction == "read" and not target.direct and not cache.cold then
    return nil, "the read was neither direct nor cold"
  end
  if direction == "read" and cache.from_medium == false then
    return nil, "the read did not come from the medium"
  end
  local ns = part.io_ns
  if direction == "write" and result.flush then ns = ns + result.flush.ns end
  if ns <= 0 or part.bytes <= 0 then return nil, "nothing was moved" end
  return RATES[name](part, ns)
end

-- What was worked on: a range of 0 bytes means all of the target.
local function size_of(spec, result)
  for _, size in ipairs { spec.size_bytes or 0, spec.range_bytes or 0 } do
    local bytes = spec_bytes(size)
    if bytes and bytes > 0 then return bytes end
  end
  return result and result.target and result.target.size_bytes or 0
end

--- The metric under which a limit is sampled: "emmc.write.mb_s", and for a
--- limit on each size "emmc.write.mb_s.16MiB"; where limits of one metric judge
--- different workloads, their names stand between.
---@param role string
---@param limit table
---@param spec table
---@param result? table
---@return string
function board_limits.metric(role, limit, spec, result)
  local metric = role .. "." .. limit.metric
  if limit.name then metric = metric .. "." .. limit.name end
  if limit.each ~= "size" then return metric end
  local text = quantity.text("size", size_of(spec, result)):gsub(" ", ""):gsub("%.", "_")
  return metric .. "." .. text
end

-- Without a decimal comma, whatever the locale.
local function plain_number(value)
  local whole = math.tointeger(value)
  return whole and ("%d"):format(whole) or (("%.10f"):format(value):gsub(",", "."))
end

--- The rule of a limit: "p50 >= 60"; nil when it has no min.
---@param limit table
---@return string|nil
function board_limits.rule(limit)
  return limit.min and limit.statistic .. " >= " .. plain_number(limit.min)
end

--- What one measure gives to the limits that judge it.
---@param role string
---@param limits table[]
---@param spec table
---@param result table
---@return table[] {limit, metric, rule, value, unit, implausible}
function board_limits.samples(role, limits, spec, result)
  local samples = {}
  for _, limit in ipairs(limits) do
    local value = board_limits.applies(limit, spec) and board_limits.value(limit.metric, result)
    if value then
      samples[#samples + 1] = {
        limit = limit, value = value, unit = limit.unit, rule = board_limits.rule(limit),
        metric = board_limits.metric(role, limit, spec, result),
        implausible = limit.max ~= nil and value > limit.max,
      }
    end
  end
  return samples
end

local function statistic(name, values)
  table.sort(values)
  local count = #values
  if name == "min" then return values[1] end
  if name == "max" then return values[count] end
  if name == "mean" then
    local sum = 0.0
    for _, value in ipairs(values) do sum = sum + value end
    return sum / count
  end
  local percent = tonumber(name:match("^p(%d+)$"))
  if percent == 50 and count % 2 == 0 then
    return (values[count // 2] + values[count // 2 + 1]) / 2
  end
  return values[math.max(1, math.ceil(count * percent / 100))]
end

--- Judges measures that are over, each {spec, result}.
---@param role string
---@param limits table[]
---@param measures table[]
---@return table[] {limit, metric, statistic, value, count, ok, implausible}, one for each metric
function board_limits.judge(role, limits, measures)
  local groups, order = {}, {}
  for _, measure in ipairs(measures) do
    for _, sample in ipairs(board_limits.samples(role, limits, measure.spec, measure.result)) do
      local key = sample.metric .. " " .. sample.limit.statistic
      local group = groups[key]
      if not group then
        group = { limit = sample.limit, metric = sample.metric, values = {}, implausible = 0 }
        groups[key] = group
        order[#order + 1] = group
      end
      table.insert(group.values, sample.value)
      group.last = sample.value
      if sample.implausible then group.implausible = group.implausible + 1 end
    end
  end
  for _, group in ipairs(order) do
    local limit = group.limit
    group.statistic, group.count = limit.statistic, #group.values
    group.value = limit.statistic == "last" and group.last
      or statistic(limit.statistic, group.values)
    group.ok = limit.min == nil or group.value >= limit.min
    group.values = nil
  end
  return order
end

return board_limits
