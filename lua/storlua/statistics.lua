-- SPDX-License-Identifier: MIT
--- Few numbers, honestly: medians, spread, and whether two small sets differ.

local statistics = {}

local EXACT_MAX = 40 -- values in both sets together

local function sorted(values)
  local copy = table.move(values, 1, #values, 1, {})
  table.sort(copy)
  return copy
end

--- The middle value; the mean of the two middle ones of an even number.
---@param values number[]
---@return number|nil nil when there are none
function statistics.median(values)
  local list, n = sorted(values), #values
  if n == 0 then return nil end
  if n % 2 == 1 then return list[(n + 1) // 2] end
  return (list[n // 2] + list[n // 2 + 1]) / 2
end

---@param values number[]
---@return number|nil min
---@return number|nil max
function statistics.range(values)
  local list = sorted(values)
  return list[1], list[#list]
end

--- The distance from the smallest to the largest value, in percent of the
--- median.
---@param values number[]
---@return number|nil nil for less than two values
function statistics.spread_percent(values)
  local middle = statistics.median(values)
  if #values < 2 or middle == 0 then return nil end
  local min, max = statistics.range(values)
  return (max - min) / math.abs(middle) * 100
end

local function quantile(list, part)
  local at = 1 + (#list - 1) * part
  local below = math.floor(at)
  return list[below] + (at - below) * ((list[below + 1] or list[below]) - list[below])
end

--- The distance between the quartiles, in percent of the median: how wide the
--- middle half is, whatever a few stray values do.
---@param values number[]
---@return number|nil nil for less than four values
function statistics.iqr_percent(values)
  local list = sorted(values)
  local middle = statistics.median(list)
  if #list < 4 or middle == 0 then return nil end
  return (quantile(list, 0.75) - quantile(list, 0.25)) / math.abs(middle) * 100
end

-- Twice the rank of each value in both sets together: integers also for ties,
-- which share the mean of their ranks.
local function double_ranks(a, b)
  local all = {}
  for _, value in ipairs(a) do all[#all + 1] = { value = value, first = true } end
  for _, value in ipairs(b) do all[#all + 1] = { value = value } end
  table.sort(all, function(x, y) return x.value < y.value end)
  local ranks, sum_a, ties, at = {}, 0, 0, 1
  while at <= #all do
    local last = at
    while all[last + 1] and all[last + 1].value == all[at].value do last = last + 1 end
    for i = at, last do
      ranks[i] = at + last
      if all[i].first then sum_a = sum_a + ranks[i] end
    end
    local size = last - at + 1
    ties, at = ties + size ^ 3 - size, last + 1
  end
  return ranks, sum_a, ties
end

-- ways[k][s]: how many choices of k ranks have the sum s.
local function count_sums(ranks, picked)
  local ways = { [0] = { [0] = 1 } }
  for k = 1, picked do ways[k] = {} end
  for _, rank in ipairs(ranks) do
    for k = picked, 1, -1 do
      local into = ways[k]
      for sum, count in pairs(ways[k - 1]) do
        into[sum + rank] = (into[sum + rank] or 0) + count
      end
    end
  end
  return ways[picked]
end

local function exact(ranks, n, sum_a)
  local centre = n * (#ranks + 1)
  local far, all = 0, 0
  for sum, count in pairs(count_sums(ranks, n)) do
    all = all + count
    if math.abs(sum - centre) >= math.abs(sum_a - centre) then far = far + count end
  end
  return far / all
end

-- Upper tail of the normal distribution, both sides: Abramowitz and Stegun
-- 7.1.26, error below 2e-7.
local function normal_p(z)
  local x = math.abs(z) / math.sqrt(2)
  local t = 1 / (1 + 0.3275911 * x)
  local poly = t * (0.254829592 + t * (-0.284496736 + t * (1.421413741
    + t * (-1.453152027 + t * 1.061405429))))
  return math.min(1, poly * math.exp(-x * x))
end

local function approximate(n, m, sum_a, ties)
  local all = n + m
  local variance = n * m / 12 * (all + 1 - ties / (all * (all - 1)))
  if variance <= 0 then return 1 end
  local distance = math.max(0, math.abs(sum_a / 2 - n * (all + 1) / 2) - 0.5)
  return normal_p(distance / math.sqrt(variance))
end

--- The Mann-Whitney U test, both sides: how often sets that do not differ would
--- look at least this different. Exact, also with ties, up to 40 values in
--- all; beyond that the normal approximation.
---@param a number[]
---@param b number[]
---@return number|nil p nil when one is empty
---@return boolean|nil is_exact
function statistics.mann_whitney(a, b)
  if #a == 0 or #b == 0 then return nil end
  local ranks, sum_a, ties = double_ranks(a, b)
  if #ranks <= EXACT_MAX then return exact(ranks, #a, sum_a), true end
  return approximate(#a, #b, sum_a, ties), false
end

---@class storlua.Comparison
---@field verdict string "higher", "lower", "same" or "not judged"
---@field change_percent? number of the medians
---@field p? number
---@field reason string how it was judged

-- The least p that so many values can have: 2 of all the ways to choose n of
-- them, when the sets do not overlap.
local function least_p(n, m)
  local ways = 1.0
  for i = 1, n do ways = ways * (m + i) / i end
  return 2 / ways
end

-- For few values, where the test cannot get down to alpha whatever they are. A
-- difference is then believed when the sets do not overlap and their medians
-- lie farther apart than the ends of either set: as a ratio, or as a distance
-- where there is no ratio.
local function few_differ(a, b)
  local a_min, a_max = statistics.range(a)
  local b_min, b_max = statistics.range(b)
  if a_min <= b_max and b_min <= a_max then return false end
  local from, to = statistics.median(a), statistics.median(b)
  if a_min <= 0 or b_min <= 0 then
    return math.abs(to - from) > math.max(a_max - a_min, b_max - b_min)
  end
  return math.max(to / from, from / to) > math.max(a_max / a_min, b_max / b_min)
end

--- Whether `b` differs from `a` by more than chance, and by at least
--- `min_percent`.
---@param a number[]
---@param b number[]
---@param options? {alpha?: number, min_percent?: number}
---@return storlua.Comparison
function statistics.compare(a, b, options)
  local alpha = options and options.alpha or 0.05
  local min_percent = options and options.min_percent or 0
  local from, to = statistics.median(a), statistics.median(b)
  local result = { verdict = "not judged" }
  if from and to and from ~= 0 then result.change_percent = (to / from - 1) * 100 end
  if #a < 3 or #b < 3 then
    result.reason = ("%d and %d values: at least 3 on each side are needed"):format(#a, #b)
    return result
  end
  local is_exact
  result.p, is_exact = statistics.mann_whitney(a, b)
  local differ = result.p <= alpha
  result.reason = is_exact and "Mann-Whitney, exact" or "Mann-Whitney, approximated"
  if least_p(#a, #b) > alpha then
    differ = few_differ(a, b)
    result.reason = ("%d and %d values, too few for the test at %g: %s"):format(#a, #b, alpha,
      differ and "farther apart than either is wide" or "not farther apart than either is wide")
  end
  local change = result.change_percent
  local large = change == nil or math.abs(change) >= min_percent
  result.verdict = not (differ and large) and "same" or to > from and "higher"
    or to < from and "lower" or "same"
  return result
end

return statistics
