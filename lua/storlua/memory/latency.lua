-- SPDX-License-Identifier: MIT
--- The time of one load whose address comes from the load before.

local core = require("storlua.core.latency")
local job = require("storlua.job")
local quantity = require("storlua.quantity")
local statistics = require("storlua.statistics")

local latency = {}

---@class storlua.LatencySpec
---@field size integer|string working set, a multiple of 4 KiB
---@field locality? integer|string the walk stays in a block of this size until it is done; default:
--- it goes over everything, so misses of the TLB count
---@field pages? string "huge" (default), "small", "hugetlb", "system"
---@field cpu? integer
---@field samples? integer 3
---@field sample_seconds? number 0.02
---@field limit_seconds? number 60
---@field seed? integer

--- Measures: result.ns is the median of the samples, for one load.
---@async
---@param given storlua.LatencySpec
---@return table result
---@return table spec
function latency.run(given)
  local spec = {
    bytes = quantity.size(given.size),
    locality_bytes = given.locality and quantity.size(given.locality) or 0,
    pages = given.pages or "huge", cpu = given.cpu, samples = given.samples or 3,
    sample_ns = quantity.duration_ns(given.sample_seconds or 0.02),
    limit_ns = quantity.duration_ns(given.limit_seconds or 60), seed = given.seed or 1,
  }
  local r = job.wait(core.start(spec))
  local values = {}
  for i, sample in ipairs(r.samples) do values[i] = sample.ns / sample.loads end
  r.ns, r.best_ns = statistics.median(values), (statistics.range(values))
  r.spread_percent = statistics.spread_percent(values)
  r.iqr_percent = statistics.iqr_percent(values)
  return r, spec
end

--- Why a result is no good, or nil.
---@param r table
---@return string|nil
function latency.problem(r)
  if r["end"] == "time_limit" then return "it did not end within its time limit" end
  if r["end"] ~= "complete" then return "it was cut off" end
  if not r.verified then return "the walk did not visit every line once" end
  if r.faults > 0 then return ("%d page faults fell into the timed part"):format(r.faults) end
end

return latency
