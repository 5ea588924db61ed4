-- SPDX-License-Identifier: MIT
--- Memory bandwidth: one measurement, and the words for it. A size is that of
--- one buffer of one thread (STREAM's N); MB/s count what the loop reads and
--- writes (moved), 10^6 bytes a second.

local core = require("storlua.core.bandwidth")
local errors = require("storlua.errors")
local facts = require("storlua.core.memory")
local job = require("storlua.job")
local quantity = require("storlua.quantity")
local statistics = require("storlua.statistics")

local bandwidth = {
  OPERATIONS = { "read", "write", "write_nt", "copy", "copy_nt", "scale", "add", "triad", "fill",
                 "memcpy", "zero" },
  SAMPLES = 15,
  -- Of the middle half of the samples: then the median is not known to 2 %.
  noisy_percent = 5,
}

local FACTS = {}
for _, one in ipairs(facts.operations()) do FACTS[one.name] = one end

local function positive_ns(value, name)
  local ns = quantity.duration_ns(value)
  if ns <= 0 then error(("bandwidth: %s must be more than 0"):format(name), 3) end
  return ns
end

---@class storlua.BandwidthSpec
---@field operation string of bandwidth.OPERATIONS
---@field size integer|string of each buffer of each thread, a multiple of 4 KiB
---@field threads? integer 1
---@field cpus? integer[] where they run; default the first ones allowed
---@field pin? boolean true
---@field pages? string "huge" (transparent, the default), "small", "hugetlb", "system"
---@field kernel? string default: all are tried and the best is taken
---@field samples? integer 15
---@field sample_seconds? number least length of a sample, 0.02
---@field limit_seconds? number of the whole measurement, 60

--- Fills in the defaults and checks what has a name.
---@param given storlua.BandwidthSpec
---@return table
function bandwidth.complete(given)
  if not FACTS[given.operation] then
    error(("bandwidth: '%s' is no operation: %s"):format(tostring(given.operation),
      table.concat(bandwidth.OPERATIONS, ", ")), 2)
  end
  return {
    operation = given.operation, buffer_bytes = quantity.size(given.size),
    threads = given.threads or 1, cpus = given.cpus, pin = given.pin ~= false,
    pages = given.pages or "huge", kernel = given.kernel,
    samples = given.samples or bandwidth.SAMPLES,
    sample_ns = positive_ns(given.sample_seconds or 0.02, "sample_seconds"),
    limit_ns = positive_ns(given.limit_seconds or 60, "limit_seconds"),
  }
end

local function rate(sample, times) return sample.payload_bytes * times * 1000.0 / sample.ns end

-- How many times the payload crosses the bus, or nil where the CPU decides.
local function bus_times(op, rule)
  if rule == "plain" or rule == "bypass" then return op.reads + op.writes end
  if rule == "allocate" then return op.reads + 2 * op.writes end
end

--- How many buffers each thread of an operation has.
---@param operation string
---@return integer
function bandwidth.buffers(operation)
  local op = FACTS[operation]
  return operation == "lm_rdwr" and 1 or op.reads + op.writes
end

local function summarise(r, spec)
  local op = FACTS[spec.operation]
  local moved = op.reads + op.writes
  local rates, tried = {}, {}
  for i, sample in ipairs(r.samples) do rates[i] = rate(sample, moved) end
  for _, one in ipairs(r.tried) do
    if one.ns > 0 then tried[one.kernel] = rate(one, moved) end
  end
  r.tried = tried
  r.buffers = bandwidth.buffers(spec.operation)
  r.working_set_bytes = r.buffers * spec.buffer_bytes
  r.coverage = op.touched / 16
  if #rates == 0 then return r end
  local _, best = statistics.range(rates)
  r.mb_s, r.best_mb_s = statistics.median(rates), best
  r.payload_mb_s = r.mb_s / moved
  local times = bus_times(op, r.bus_rule)
  r.bus_mb_s = times and r.payload_mb_s * times
  r.spread_percent = statistics.spread_percent(rates)
  r.iqr_percent = statistics.iqr_percent(rates)
  local noise = r.iqr_percent or r.spread_percent
  r.noisy = noise ~= nil and noise > bandwidth.noisy_percent
  return r
end

--- Measures. Raises when it could not start: EINVAL for what does not go
--- together, ENOMEM with the numbers when the memory is not free. A limit that
--- was reached or a cancel is in result["end"].
---@async
---@param given storlua.BandwidthSpec
---@return table result see docs/memory.md
---@return table spec with all defaults
function bandwidth.run(given)
  local spec = bandwidth.complete(given)
  return summarise(job.wait(core.start(spec)), spec), spec
end

--- Like run; returns nil and the error.
---@async
function bandwidth.try_run(given) return errors.try(bandwidth.run, given) end

--- The kernels of an operation on this CPU.
---@param operation string
---@return string[]
function bandwidth.kernels(operation) return facts.kernels(operation) end

--- What the CPU has: "avx512 avx2 sse2 …"
---@return string
function bandwidth.instruction_sets() return facts.instruction_sets() end

--- How many threads can have a CPU of their own: those that this process may
--- use and that are online, 256 at most.
---@return integer
function bandwidth.cpus() return facts.cpus() end

--- Why a result is no good, or nil.
---@param r table
---@return string|nil
function bandwidth.problem(r)
  if not r.verified then
    local w = r.wrong
    return ("kernel %s, thread %d: %s is %s, not %s"):format(w.kernel, w.thread,
      w.offset and "the word at " .. w.offset or "the sum of what was read", w.found, w.expected)
  elseif r["end"] == "time_limit" then
    return "it did not end within its time limit"
  elseif r["end"] ~= "complete" then
    return "it was cut off"
  elseif r.faults > 0 then
    return ("%d page faults fell into the timed part"):format(r.faults)
  end
end

return bandwidth
