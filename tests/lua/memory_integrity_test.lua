-- SPDX-License-Identifier: MIT
--- The memory test from Lua: it finds what is planted, and says so well.
local limits = require("storlua.memory.limits")
local lu = require("luaunit")
local memory_test = require("storlua.memory.test")
local task = require("storlua.task")
local watch = require("storlua.memory.watch")

local function run(fields)
  fields.memory = fields.memory or 4 << 20
  fields.passes = fields.passes or 1
  fields.fade_seconds = 0.01
  return memory_test.run(fields)
end

local T = {}

function T.test_good_memory()
  local r, spec = run { passes = 2 }
  lu.assertNil(memory_test.problem(r))
  lu.assertEquals(r["end"], "complete")
  lu.assertEquals(r.passes, 2)
  lu.assertEquals(r.tested_bytes, spec.bytes)
  lu.assertTrue(r.verified_bytes >= 14 * spec.bytes)
  lu.assertTrue(r.moved_bytes > r.verified_bytes)
  for _, name in ipairs(memory_test.PATTERNS) do lu.assertEquals(r.patterns[name].runs, 2) end
end

function T.test_a_flip_in_each_pattern()
  for i, name in ipairs(memory_test.PATTERNS) do
    local r = run { patterns = { name },
                    plants = { { pattern = name, offset = 8 * i, bits = 5 << i } } }
    local e = r.errors[1]
    lu.assertEquals(e.bits, { i, i + 2 })
    lu.assertEquals(e.offset % (2 << 20), 8 * i)
    lu.assertTrue(e.repeats)
    lu.assertStrContains(memory_test.problem(r), "wrong words, first: " .. name)
    lu.assertStrContains(memory_test.problem(r), ("bits %d,%d"):format(i, i + 2))
  end
end

function T.test_a_pass_of_a_longer_test()
  local plants = { { pattern = "walking", offset = 0, bits = 1 << 20 } }
  for pass = 0, 8 do
    local r = run { patterns = { "walking" }, first_pass = pass, plants = plants }
    lu.assertEquals(r.passes, 1)
    lu.assertEquals(r.errors[1].pass, pass)
    lu.assertEquals(r.errors[1].expected, ("0x%016x"):format(1 << pass % 8))
  end
end

function T.test_shares()
  for _, memory in ipairs { "0%", "101%", "1000T", 0, "some" } do
    local _, err = memory_test.try_run { memory = memory, passes = 1 }
    lu.assertEquals(err.code, "ENOMEM", tostring(memory))
  end
  local _, err = memory_test.try_run { memory = 4096, passes = 1 }
  lu.assertEquals(err.code, "EINVAL")
  _, err = memory_test.try_run { memory = 4 << 20, passes = 1, patterns = {} }
  lu.assertEquals(err.code, "EINVAL")
end

function T.test_passes_together()
  local good = run { patterns = { "address" } }
  local cut = run { patterns = { "fade" }, passes = 0, seconds = 1e-9 }
  lu.assertEquals({ cut["end"], cut.verified_bytes }, { "complete", 0 })
  lu.assertEquals(memory_test.problem(cut), "nothing was verified")
  local sum = memory_test.tally { "address", "fade" }
  sum:add(cut)
  lu.assertEquals(memory_test.problem(cut, sum), "nothing was verified")
  lu.assertEquals(sum:untested(), "address, fade")
  sum:add(good)
  lu.assertNil(memory_test.problem(cut, sum))
  lu.assertEquals(sum:untested(), "fade")
  lu.assertEquals({ sum.passes, sum.verified_bytes }, { 1, good.verified_bytes })
  lu.assertEquals(memory_test.tally({ "address", "random" }, good):untested(), "random")
end

-- A run that keeps what it is told, and what of it failed.
local function recorder()
  local t = { seed = 1, passes = {}, notes = {} }
  function t:memory(_, fields) self.passes[#self.passes + 1] = fields end
  function t:note(key, value) self.notes[key] = value end
  function t:check(id, ok) self[id] = ok end
  return t
end

-- `room(n)` is what may be taken at the n-th look, or more than enough.
local function watch_for(passes, room)
  local t, looks, read = recorder(), 0, limits.read
  local scope <close> = task.scope()
  limits.read = function()
    looks = looks + 1
    local l = read()
    l.room_bytes = room(looks) or l.room_bytes
    return l
  end
  local _ <close> = task.defer(function() limits.read = read end)
  scope:spawn("memory", memory_test.watch, t, "memory",
    { memory = 4 << 20, patterns = { "walking" }, ecc = false })
  while #t.passes < passes do task.sleep(0.01) end
  scope:cancel()
  pcall(scope.join, scope)
  return t
end

function T.test_beside_other_work_memory_may_become_less()
  watch.retry_seconds = 0.01
  -- the first look is for the share, then each pass looks twice
  local t = watch_for(3, function(n)
    return n == 4 and 2 << 20 or n > 5 and n < 9 and 0 or n == 5 and 1 << 20 or nil
  end)
  watch.retry_seconds = 1
  local passes = {}
  for i = 1, 3 do passes[i] = t.passes[i].spec.first_pass end
  lu.assertEquals(passes, { 0, 1, 2 })
  lu.assertStrContains(t.notes["memory.waited"], "for memory, ")
  lu.assertTrue(t["memory.verified"])
  lu.assertStrContains(t.notes["memory.verified"], " verified, ")
end

function T.test_beside_work_that_ends_at_once_nothing_is_verified()
  local t = recorder()
  do
    local scope <close> = task.scope()
    scope:spawn("memory", memory_test.watch, t, "memory", { memory = 1 << 20 })
    scope:cancel()
    pcall(scope.join, scope)
  end
  lu.assertFalse(t["memory.verified"])
  lu.assertStrContains(t.notes["memory.not_tested"], "walking, inversions")
end

function T.test_huge_pages_that_are_not_there()
  local _, err = memory_test.try_run { memory = 4 << 20, passes = 1, pages = "hugetlb",
                                       patterns = { "address" } }
  if err then lu.assertStrContains(err.message, "huge pages") end
end

function T.test_cancelled_in_the_pause()
  local result
  local ok = pcall(task.timeout, 0.2, function()
    local one <close> = memory_test.start { memory = 1 << 20, passes = 1, patterns = { "fade" },
                                            fade_seconds = 1000 }
    local done, err = pcall(one.wait, one)
    result = one:finish()
    if not done then error(err, 0) end
  end)
  lu.assertFalse(ok)
  lu.assertEquals(result["end"], "cancelled")
  lu.assertNil(memory_test.problem(result))
end

return T
