-- SPDX-License-Identifier: MIT
--- Numbers that a run samples, in bounded memory: exact up to 1,000 values of
--- a metric, a log-linear histogram (1/128 wide) beyond.

local metrics = {
  kept_values = 1000, -- exact percentiles up to here
  names_max = 4096,
}

local SUB = 128
local LOW_EXPONENT, HIGH_EXPONENT = -40, 100

---@class storlua.Metric
---@field unit? string
---@field count integer
---@field min? number
---@field max? number
---@field mean? number
---@field last? number
---@field has_no_percentiles? boolean an earlier part of the run told only its extremes and mean
local Metric = {}
Metric.__index = Metric
Metric.__name = "storlua.Metric"

---@param unit? string
---@return storlua.Metric
function metrics.new_metric(unit)
  return setmetatable({ unit = unit, count = 0, values = {} }, Metric)
end

-- Buckets are numbered in the order of their values, so that sorting the
-- numbers sorts the values.
local function bucket_of(value)
  local size = math.abs(value)
  if size < 2.0 ^ LOW_EXPONENT then return 0 end
  local exponent = math.floor(math.log(size, 2))
  if 2.0 ^ exponent > size then exponent = exponent - 1 end
  exponent = math.min(exponent, HIGH_EXPONENT)
  local within = math.min(SUB - 1, math.floor((size / 2.0 ^ exponent - 1) * SUB))
  local index = 1 + (exponent - LOW_EXPONENT) * SUB + within
  return value < 0 and -index or index
end

local function bucket_bounds(index)
  if index == 0 then return 0.0, 0.0 end
  local at = math.abs(index) - 1
  local scale = 2.0 ^ (at // SUB + LOW_EXPONENT)
  local low = scale * (1 + at % SUB / SUB)
  local high = low + scale / SUB
  if index < 0 then return -high, -low end
  return low, high
end

local function into_buckets(self, value, n)
  local index = bucket_of(value)
  self.buckets[index] = (self.buckets[index] or 0) + n
end

--- Adds a value, `n` times.
---@param value number finite
---@param n? integer
function Metric:add(value, n)
  n = n or 1
  self.count = self.count + n
  self.last = value
  self.mean = self.count == n and value or self.mean + (value - self.mean) * n / self.count
  if not self.min or value < self.min then self.min = value end
  if not self.max or value > self.max then self.max = value end
  if self.values and self.count <= metrics.kept_values then
    for _ = 1, n do self.values[#self.values + 1] = value end
    self.sorted = nil
    return
  end
  if self.values then
    self.buckets = {}
    for _, kept in ipairs(self.values) do into_buckets(self, kept, 1) end
    self.values, self.sorted = nil, nil
  end
  into_buckets(self, value, n)
end

--- Adds what a sample event tells of `count` values: extremes and mean are
--- right, percentiles take the mean for each of them.
---@param sample table count, min, max, mean, last
function Metric:merge(sample)
  if not sample.count or sample.count < 1 then return end
  self:add(sample.mean, sample.count)
  self.min = math.min(self.min, sample.min)
  self.max = math.max(self.max, sample.max)
  self.last = sample.last
end

--- The values by their buckets, each within 1/128.
---@return number[] bucket, count, bucket, count, …
function Metric:histogram()
  local buckets, list = self.buckets, {}
  if self.values then
    buckets = {}
    for _, value in ipairs(self.values) do
      local index = bucket_of(value)
      buckets[index] = (buckets[index] or 0) + 1
    end
  end
  for index, n in pairs(buckets) do
    list[#list + 1] = index
    list[#list + 1] = n
  end
  return list
end

--- What a later part of the run can go on from. `values` and `histogram` hold
--- the percentiles; whoever has no room for them leaves them out.
---@return table state count, min, max, mean, last, unit, and values or histogram
function Metric:state()
  local state = { unit = self.unit, count = self.count, min = self.min, max = self.max,
                  mean = self.mean, last = self.last }
  if self.values then
    state.values = table.move(self.values, 1, #self.values, 1, {})
  elseif not self.has_no_percentiles then
    state.histogram = self:histogram()
  end
  return state
end

--- The metric that has such a state.
---@param state table of Metric:state
---@return storlua.Metric
function metrics.from_state(state)
  local self = metrics.new_metric(state.unit)
  if (state.count or 0) < 1 then return self end
  for _, name in ipairs { "count", "min", "max", "mean", "last" } do self[name] = state[name] end
  if state.values then
    self.values = table.move(state.values, 1, #state.values, 1, {})
    return self
  end
  self.values, self.buckets = nil, {}
  self.has_no_percentiles = not state.histogram
  for i = 1, #(state.histogram or {}), 2 do
    self.buckets[state.histogram[i]] = state.histogram[i + 1]
  end
  return self
end

local function bucket_percentile(self, rank)
  local order = {}
  for index in pairs(self.buckets) do order[#order + 1] = index end
  table.sort(order)
  local before = 0
  for _, index in ipairs(order) do
    local here = self.buckets[index]
    if before + here >= rank then
      local low, high = bucket_bounds(index)
      return low + (high - low) * ((rank - before - 0.5) / here)
    end
    before = before + here
  end
  return self.max
end

--- Nearest-rank percentile; nil without data.
---@param percent number 0 to 100
---@return number|nil
function Metric:percentile(percent)
  if self.count == 0 then return nil end
  -- 99.9 % of 1,000 are 999, also where 99.9 is not exact
  local rank = math.max(1, math.ceil(percent * self.count / 100 - 1e-6))
  if rank >= self.count then return self.max end
  if rank == 1 then return self.min end
  if self.has_no_percentiles then return nil end
  if self.values then
    if not self.sorted then
      self.sorted = table.move(self.values, 1, #self.values, 1, {})
      table.sort(self.sorted)
    end
    return self.sorted[rank]
  end
  return math.max(self.min, math.min(self.max, bucket_percentile(self, rank)))
end

--- One statistic by name; nil without data.
---@param name string min, max, mean, last, count, pNN
---@return number|nil
function Metric:statistic(name)
  if name == "count" then return self.count end
  local percent = name:match("^p([%d.]+)$")
  if percent then return self:percentile(tonumber(percent)) end
  return self[name]
end

---@class storlua.Metrics
---@field samples table<string, storlua.Metric>
---@field counters table<string, {total: integer, text: string}>
local Metrics = {}
Metrics.__index = Metrics
Metrics.__name = "storlua.Metrics"

---@return storlua.Metrics
function metrics.new()
  return setmetatable({ samples = {}, counters = {}, names = 0 }, Metrics)
end

local function new_name(self, name)
  self.names = self.names + 1
  if self.names > metrics.names_max then
    error(("metric %s: a run has at most %d metrics; put what varies into labels"):format(
      name, metrics.names_max), 0)
  end
end

---@param name string
---@param value number
---@param unit? string
---@return storlua.Metric
function Metrics:sample(name, value, unit)
  local metric = self.samples[name]
  if not metric then
    new_name(self, name)
    metric = metrics.new_metric(unit)
    self.samples[name] = metric
  end
  metric.unit = metric.unit or unit
  metric:add(value)
  return metric
end

--- Goes on with what an earlier part of the run sampled.
---@param name string
---@param state table of Metric:state
function Metrics:adopt(name, state)
  if not self.samples[name] then new_name(self, name) end
  self.samples[name] = metrics.from_state(state)
end

---@param name string
---@param text? string
---@param n integer
---@return integer total
function Metrics:count(name, text, n)
  local counter = self.counters[name]
  if not counter then
    new_name(self, name)
    counter = { total = 0 }
    self.counters[name] = counter
  end
  counter.total = counter.total + n
  counter.text = text
  return counter.total
end

--- The value that a threshold judges; nil means no data. A name that was
--- never seen counts as a counter at 0 when occurrences are asked for.
---@param name string
---@param statistic string
---@param elapsed_ns integer for "rate": occurrences per hour
---@return number|nil
function Metrics:value(name, statistic, elapsed_ns)
  local metric, counter = self.samples[name], self.counters[name]
  if statistic == "count" or statistic == "rate" then
    local n = counter and counter.total or metric and metric.count or 0
    if statistic == "count" then return n end
    if elapsed_ns <= 0 then return n == 0 and 0 or nil end
    return n * 3600e9 / elapsed_ns
  end
  return metric and metric:statistic(statistic)
end

--- True when something was sampled or counted under the name, be it 0.
---@param name string
---@return boolean
function Metrics:has(name)
  return self.samples[name] ~= nil or self.counters[name] ~= nil
end

--- Sampled metrics by name for the summary.
---@return table<string, table>
function Metrics:summary()
  local all = {}
  for name, m in pairs(self.samples) do
    all[name] = { unit = m.unit, count = m.count, min = m.min, p50 = m:percentile(50),
                  mean = m.mean, max = m.max, last = m.last }
  end
  for name, counter in pairs(self.counters) do
    all[name] = all[name] or { total = counter.total, text = counter.text }
  end
  return all
end

return metrics
