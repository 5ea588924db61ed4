-- SPDX-License-Identifier: MIT
--- Latency histograms: mergeable, of fixed size, percentiles within 0.4 %.
--- Values are nanoseconds. Count, minimum, maximum and mean are exact.

local core = require("storlua.core.histogram")
local errors = require("storlua.errors")

local histogram = {}

---@class storlua.Histogram
---@field add fun(self, ns: integer): storlua.Histogram counts one value
---@field merge fun(self, other: storlua.Histogram): storlua.Histogram adds all of another
---@field percentile fun(self, percent: number): integer|nil nil when empty; 0 < percent <= 100
---@field count fun(self): integer
---@field min fun(self): integer|nil nil when empty
---@field max fun(self): integer|nil
---@field mean fun(self): integer|nil rounded to the nanosecond
---@field sparse fun(self): integer[] bucket, count, bucket, count, … as in events
---@field summary fun(self): table the `latency` table of events

--- An empty histogram.
---@return storlua.Histogram
function histogram.new() return core.new() end

--- The histogram that `h:sparse()` gave. The list does not say minimum,
--- maximum and mean; what is not given is taken from the edges of the buckets.
---@param list integer[] bucket, count, bucket, count, …
---@param min_ns? integer
---@param max_ns? integer
---@param mean_ns? integer
---@return storlua.Histogram
function histogram.from_sparse(list, min_ns, max_ns, mean_ns)
  return errors.check(core.from_sparse(list, min_ns, max_ns, mean_ns))
end

--- The histogram behind the `latency` table of an event.
---@param latency table
---@return storlua.Histogram
function histogram.from_summary(latency)
  return histogram.from_sparse(
    latency.histogram, latency.min_ns, latency.max_ns, latency.mean_ns)
end

--- One histogram of several.
---@param list storlua.Histogram[]
---@return storlua.Histogram
function histogram.merged(list)
  local all = core.new()
  for _, h in ipairs(list) do all:merge(h) end
  return all
end

return histogram
