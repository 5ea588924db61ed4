-- SPDX-License-Identifier: MIT
--- Measures variants in turn, A B C C B A A B C …, so that what the machine
--- does meanwhile hits all of them alike, and compares them round by round.

local rounds = {}

local function sorted(values)
  local copy = table.move(values, 1, #values, 1, {})
  table.sort(copy)
  return copy
end

--- The value at a fraction of the sorted list.
---@param values number[]
---@param fraction number
---@return number|nil
function rounds.quantile(values, fraction)
  if #values == 0 then return nil end
  local list = sorted(values)
  local at = 1 + fraction * (#list - 1)
  local low = math.floor(at)
  local high = math.min(low + 1, #list)
  return list[low] + (list[high] - list[low]) * (at - low)
end

--- Runs `variants` (list of {name, run}) `count` times each. run(round) returns
--- a number, or a table of numbers by metric, or nil and a reason.
---@param variants table[]
---@param count integer
---@param before? fun() runs before each of them, untimed
---@return table<string, table<string, number[]>> samples by variant and metric
---@return table<string, string> missing reason by variant
function rounds.measure(variants, count, before)
  local samples, missing = {}, {}
  for _, variant in ipairs(variants) do samples[variant.name] = {} end
  for round = 1, count do
    for i = 1, #variants do
      local variant = variants[round % 2 == 1 and i or #variants + 1 - i]
      if not missing[variant.name] then
        if before then before() end
        local value, reason = variant.run(round)
        if value == nil then missing[variant.name] = reason or "no value" end
        if type(value) == "number" then value = { rate = value } end
        for metric, number in pairs(value or {}) do
          local series = samples[variant.name]
          series[metric] = series[metric] or {}
          series[metric][round] = number
        end
      end
    end
  end
  return samples, missing
end

--- The ratio of two series: median and quartiles of the rounds' own ratios.
---@param a number[]
---@param b number[]
---@return table {median, low, high}
function rounds.ratio(a, b)
  local list = {}
  for round = 1, math.min(#a, #b) do list[round] = a[round] / b[round] end
  return {
    median = rounds.quantile(list, 0.5),
    low = rounds.quantile(list, 0.25),
    high = rounds.quantile(list, 0.75),
  }
end

return rounds
