-- SPDX-License-Identifier: MIT
--- The memory test from Lua: it finds what is planted, and says so well.
local lu = require("luaunit")
local memory_test = require("storlua.memory.test")
local task = require("storlua.task")

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
