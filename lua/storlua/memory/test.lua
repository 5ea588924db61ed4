-- SPDX-License-Identifier: MIT
--- Does memory keep what is written into it? Patterns over a share of the free
--- memory, by several threads; see core/memory/integrity.h for what each does.

local bandwidth = require("storlua.memory.bandwidth")
local core = require("storlua.core.integrity")
local ecc = require("storlua.memory.ecc")
local errors = require("storlua.errors")
local job = require("storlua.job")
local limits = require("storlua.memory.limits")
local quantity = require("storlua.quantity")
local scheduler = require("storlua.scheduler")
local tally = require("storlua.memory.tally")
local task = require("storlua.task")
local watch = require("storlua.memory.watch")

local test = {
  PATTERNS = core.patterns(),
}

---@class storlua.MemoryTestSpec
---@field memory string|integer "25%" of the free memory, or a size
---@field threads? integer 1
---@field pin? boolean true
---@field lock? boolean true: keep it from moving, where that is permitted
---@field pages? string "huge" (default), "small", "hugetlb", "system"
---@field patterns? string[] default: all
---@field passes? integer
---@field first_pass? integer number of the first pass, 0: patterns change with it
---@field seconds? number one of passes and seconds ends it
---@field fade_seconds? number each pause of the pattern fade, 10
---@field seed? integer
---@field engine? string
---@field ecc? boolean true: also judge the counters of the memory controllers
---@field rehearsal? boolean of a watch: that nothing was verified is no failure
---@field corrected_max? integer so many errors that ECC corrected pass, 0
---@field plants? {pattern: string, offset: integer, bits: integer}[] flips to be found

local function bytes_of(memory)
  local bytes, why = limits.share(memory)
  return bytes or errors.raise("ENOMEM", "memory test: %s", why)
end

local function complete(given)
  if given.patterns and #given.patterns == 0 then
    errors.raise("EINVAL", "memory test: the list of patterns is empty")
  end
  return {
    bytes = bytes_of(given.memory), threads = given.threads or 1, pin = given.pin ~= false,
    lock = given.lock ~= false, pages = given.pages or "huge", patterns = given.patterns,
    passes = given.passes or 0, first_pass = given.first_pass or 0,
    duration_ns = given.seconds and math.max(1, quantity.duration_ns(given.seconds)) or 0,
    fade_ns = quantity.duration_ns(given.fade_seconds or 10), seed = given.seed or 1,
    engine = given.engine, plants = given.plants,
  }
end

-- The rates of the loops; pauses are no part of them.
local function summarise(r)
  local moved, verified, ns = 0, 0, 0
  for _, one in pairs(r.patterns) do
    moved, verified, ns = moved + one.moved_bytes, verified + one.verified_bytes, ns + one.ns
  end
  r.moved_bytes, r.verified_bytes, r.ns_active = moved, verified, ns
  if ns > 0 then
    r.mb_s = moved * 1000.0 / ns
    r.verified_mb_s = verified * 1000.0 / ns
  end
  return r
end

---@class storlua.MemoryTest
---@field spec table
local Test = {}
Test.__index = Test
Test.__name = "storlua.MemoryTest"

--- Starts a test and returns at once. Declare the value with <close>.
---@param given storlua.MemoryTestSpec
---@return storlua.MemoryTest
function test.start(given)
  local spec = complete(given)
  local self = setmetatable({ spec = spec, corrected_max = given.corrected_max or 0 }, Test)
  if given.ecc ~= false then self.before, self.no_ecc = ecc.read() end
  self.job = errors.check(core.start(spec))
  return self
end

--- pattern, pass, verified_bytes, errors so far.
---@return table
function Test:progress() return self.job:progress() end

--- Waits for its end. A cancel of the waiting task ends the test too; what it
--- has found until then is what finish() returns.
---@async
---@return table result
function Test:wait()
  if self.result then return self.result end
  local r = self.summary or summarise(job.wait(self.job))
  if self.before and r["end"] == "complete" and not self.summary then
    self.summary = r -- a cancel may end the sleep
    task.sleep(ecc.delay_seconds())
  end
  if self.before or self.no_ecc then
    r.ecc = ecc.since(self.before, self.no_ecc)
    r.ecc.allowed = self.corrected_max
  end
  self.result = r
  return r
end

--- Ends it now, if it still runs, and returns what it has found until then;
--- nil when its thread does not come back.
---@async
---@return table|nil result
function Test:finish()
  if self.result then return self.result end
  if not self.job:is_done() then
    self.job:cancel()
    if not job.end_or_abandon(self.job) then return nil end
  end
  return scheduler.shield(self.wait, self)
end

function Test:__close()
  if self.job:is_done() then return end
  self.job:cancel()
  job.end_or_abandon(self.job)
end

--- Runs a test to its end.
---@async
---@param given storlua.MemoryTestSpec
---@return table result
---@return table spec
function test.run(given)
  local one <close> = test.start(given)
  return one:wait(), one.spec
end

--- As run; returns nil and the error when it could not start.
---@async
function test.try_run(given) return errors.try(test.run, given) end

--- "random: 0x… at 0x… (physical 0x…): bit 4; it repeats"
---@param e table of result.errors
---@return string
function test.error_text(e)
  local where = e.physical and ("%s, physical %s"):format(e.address, e.physical) or e.address
  local bits = #e.bits <= 8 and "bits " .. table.concat(e.bits, ",") or #e.bits .. " bits"
  return ("%s: expected %s, found %s at %s: %s; read again: %s"):format(e.pattern, e.expected,
    e.found, where, bits, e.repeats and "still wrong" or "right, so the reading failed")
end

--- What several passes verify together.
---@param patterns? string[] default: all
---@param before? table what they have verified before a resume: t.resume.memory of the case
---@return storlua.MemoryTally
function test.tally(patterns, before)
  local sum = tally.new(patterns or test.PATTERNS)
  if before then sum:add(before) end
  return sum
end

--- Why a result is no good, or nil. With `sum`, which it was added to, a pass
--- that the time cut before it verified anything is good after a better one.
---@param r table
---@param sum? storlua.MemoryTally
---@return string|nil
function test.problem(r, sum)
  if r.errors_total > 0 then
    return ("%d wrong words, first: %s"):format(r.errors_total, test.error_text(r.errors[1]))
  elseif r["end"] == "memory_short" then
    return "not tested to the end: the free memory became short and was given back"
  elseif r["end"] == "complete" and (sum or r).verified_bytes == 0 then
    return "nothing was verified"
  end
  return r.ecc and ecc.problem(r.ecc, r.ecc.allowed)
end

--- Runs passes until the scope that it is spawned into is left, recording each;
--- what a cancelled pass has found counts too. Where less memory is free by then
--- a pass takes less, and it waits while there is none. A run in which nothing
--- was verified fails, unless it is a rehearsal or was stopped.
---@async
---@param t storlua.Run
---@param case_id string
---@param given storlua.MemoryTestSpec
function test.watch(t, case_id, given)
  watch.run(t, case_id, test, given, bytes_of(given.memory))
end

--- The rate of checking against the machine's copy, measured now with the same
--- number of threads: below 0.8 something is wrong with the machine or with us.
---@async
---@param result table
---@param threads integer
---@return number|nil ratio
---@return number|nil copy_mb_s
function test.against_copy(result, threads)
  local copy = bandwidth.try_run { operation = "copy", size = "64M", threads = threads }
  if not copy or not copy.mb_s or not result.mb_s then return nil end
  return result.mb_s / copy.mb_s, copy.mb_s
end

return test
