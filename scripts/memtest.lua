#!/usr/bin/env storlua
-- SPDX-License-Identifier: MIT
--- Write patterns into a share of the free memory and check that they stay.

local clock = require("storlua.clock")
local conditions = require("storlua.memory.conditions")
local ecc = require("storlua.memory.ecc")
local errors = require("storlua.errors")
local fit = require("storlua.memory.fit")
local limits = require("storlua.memory.limits")
local memory_test = require("storlua.memory.test")
local quantity = require("storlua.quantity")
local storlua = require("storlua")

local function patterns_of(opt)
  if opt.patterns == "all" then return nil end
  local known, list = {}, {}
  for _, name in ipairs(memory_test.PATTERNS) do known[name] = true end
  for name in opt.patterns:gmatch("[^,%s]+") do
    if not known[name] then
      storlua.usage(("--patterns: there is no '%s': %s"):format(name,
        table.concat(memory_test.PATTERNS, ", ")))
    end
    list[#list + 1] = name
  end
  if not list[1] then
    storlua.usage("--patterns: names none: " .. table.concat(memory_test.PATTERNS, ", "))
  end
  return list
end

-- A flip in each pattern, on little memory: a checker that finds nothing when
-- there is something would pass everything.
local function prove_checker(t, patterns)
  for i, pattern in ipairs(patterns or memory_test.PATTERNS) do
    local bits = 1 << (i * 7 % 64)
    local result = memory_test.run { memory = 4 << 20, patterns = { pattern }, passes = 1,
      fade_seconds = 0.01, lock = false, ecc = false, seed = t.seed,
      plants = { { pattern = pattern, offset = 4096 * i, bits = bits } } }
    t:require("self_test." .. pattern, result.errors_total > 0
      and result.errors[1].offset % (2 << 20) == 4096 * i, "a planted flip was not found")
  end
end

local function describe(result, spec)
  if not result.locked and spec.lock and result.tested_bytes > 0 then
    print(("  not locked (%s): pages may move while they are tested"):format(
      result.lock_error or "?"))
  end
  for i, e in ipairs(result.errors) do
    if i > 10 then break end
    print("  " .. memory_test.error_text(e))
  end
  local change = conditions.change(result.conditions)
  if change then print("  " .. change) end
end

local function show(round, result)
  if result.tested_bytes == 0 then
    return print(("pass %d: the time was up before anything was tested"):format(round))
  end
  print(("pass %d: %s tested by %s, %s verified, %d wrong words, %.0f MB/s moved"):format(round,
    quantity.size_text(result.tested_bytes), result.engine,
    quantity.size_text(result.verified_bytes), result.errors_total, result.mb_s or 0))
end

return storlua.procedure {
  summary = "Write patterns into a share of the free memory and check that they stay.",
  description = [[
Each pass runs all patterns over the memory, which is taken anew for each: walking
bits, moving inversions, random, address in address, checkerboard, block move, and
bit fade with a pause. A wrong word fails the run and is reported with its
address, physical address (root), expected, found, bits, and whether it is still
wrong when read again past the cache. What the memory controllers count meanwhile
(EDAC) is judged too. Before the first pass a flip is planted in
each pattern and must be found. Never more than is free is taken, and in a short
time no more than can be tested in it; see docs/memory.md.]],

  options = {
    { name = "memory", short = "m", type = "string",
      help = "how much: 25% of what is free, or a size (default: 12%, less in a short time)" },
    { name = "passes", type = "count", min = 1, help = "stop after so many passes" },
    { name = "hours", type = "number", help = "how long to run" },
    { name = "minutes", type = "number", help = "how long to run" },
    { name = "time", type = "duration", help = "how long to run: 90s, 30m (default: one pass)" },
    { name = "threads", short = "t", type = "count", default = 1, min = 1, max = 256,
      help = "each on a CPU and a slice of its own" },
    { name = "patterns", type = "string", default = "all", help = "such as random,address" },
    { name = "fade", type = "duration", min = 0,
      help = "each pause of fade (default: 10, less in a short time)" },
    { name = "pages", type = "choice", choices = { "huge", "small", "hugetlb", "system" },
      default = "huge", help = "huge: transparent huge pages where there are any" },
    { name = "corrected", type = "count", default = 0, min = 0,
      help = "so many errors that ECC corrects pass, in each pass" },
    { name = "no-lock", type = "flag", help = "do not lock the memory" },
    { name = "no-compare", type = "flag", help = "do not measure the machine's copy afterwards" },
  },

  target = false,
  run = function(t, opt)
    local began_ns = clock.monotonic_ns()
    local patterns = patterns_of(opt)
    local seconds = opt.time or opt.minutes and opt.minutes * 60 or opt.hours and opt.hours * 3600
    local memory = opt.memory or "12%"
    local bytes, why = limits.share(memory:find("%%$") and memory
      or quantity.try_size(memory) or memory)
    if not bytes then storlua.usage("--memory: " .. why) end
    if bytes < opt.threads << 20 then
      storlua.usage("--memory: 1 MiB or more for each thread")
    end
    t:note("memory", limits.text(limits.read()))
    for key, text in pairs(conditions.status()) do t:note(key, text) end
    -- Threads that find no CPU, an empty pool of huge pages.
    local ok, err = memory_test.try_run { memory = opt.threads << 20, threads = opt.threads,
      pages = opt.pages, patterns = { "address" }, passes = 1, lock = false, ecc = false }
    if not ok then storlua.usage(err.hint or err.message) end
    prove_checker(t, patterns)
    local plan = fit.plan { bytes = bytes, is_asked = opt.memory ~= nil, seconds = seconds,
      began_ns = began_ns, fade_seconds = opt.fade, threads = opt.threads, patterns = patterns,
      pages = opt.pages, lock = not opt.no_lock, seed = t.seed }
    if plan.text then t:note("plan", plan.text) end
    local last
    local sum = memory_test.tally(patterns, t.resume and t.resume.memory.integrity)
    local count = opt.passes or not seconds and 1 or nil
    for n, round in t:rounds { seconds = seconds, count = count } do
      t:phase("pass " .. n)
      local left = round:seconds_left()
      -- What is free may have become less: the share is taken anew.
      local result, spec = errors.try(conditions.around, memory_test.run, {
        memory = math.min(plan.bytes, math.max(limits.read().room_bytes, 1)), threads = opt.threads,
        patterns = patterns, passes = 1, first_pass = n - 1, seconds = left and math.max(left, 1),
        fade_seconds = plan.fade_seconds, pages = opt.pages, lock = not opt.no_lock, seed = t.seed,
        corrected_max = opt.corrected })
      if not result then
        t:check("integrity.started", false, "%s", spec.message)
        break
      end
      sum:add(result)
      t:memory("integrity", { spec = spec, result = result, labels = { round = n },
        reason = memory_test.problem(result, sum) })
      show(n, result)
      describe(result, spec)
      if n == 1 or result.ecc.where then print("  ECC: " .. ecc.text(result.ecc)) end
      t:note("ecc", ecc.text(result.ecc))
      last = result.mb_s and result or last
    end
    local missed = sum:untested()
    t:check("integrity.patterns", not missed, "not tested, no word was verified: %s; let it run "
      .. "longer, or test less memory", missed or "")
    if last and not opt.no_compare then
      local ratio, copy = memory_test.against_copy(last, opt.threads)
      if ratio then
        print(("checking moves %.0f MB/s, %.2f of the machine's copy (%.0f MB/s)"):format(
          last.mb_s, ratio, copy))
        t:note("of_copy", math.floor(100 * ratio + 0.5) / 100)
      end
    end
  end,
}
