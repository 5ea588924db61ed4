-- SPDX-License-Identifier: MIT
--- As many rounds as a soak of days has: the resident set and the heap of Lua
--- are in the last tenth what they were in the second, and so are the open
--- files. Medians, as the allocator's own holdings go up and down.

local cli_run = require("cli_run")
local event = require("storlua.event")
local fs = require("storlua.fs")
local lu = require("luaunit")
local procedure_run = require("procedure_run")
local sanitizer = require("sanitizer")

local test = {}

-- A sanitizer takes ten times as long, and keeps what is freed.
local ROUNDS = sanitizer and 4000 or 100000

function test.test_a_long_run_does_not_grow()
  local place <close> = procedure_run.place [[
    local fs = require("storlua.fs")
    local statistics = require("storlua.statistics")
    local rounds, samples = tonumber(os.getenv("CASE_ROUNDS")), {}
    local function take(what)
      collectgarbage()
      collectgarbage()
      local now = { rss_kib = fs.read("/proc/self/statm"):match("^%d+ (%d+)") * 4 // 1,
                    lua_kib = collectgarbage("count"), files = #fs.list("/proc/self/fd") }
      for name, value in pairs(now) do
        local list = samples[name] or { before = {}, after = {} }
        samples[name] = list
        table.insert(list[what], value)
      end
    end
    for n in t:rounds { count = rounds } do
      t:measure("null", NULL, { labels = { round = n } })
      t:check("null.ok", true)
      t:sample("x", n % 97)
      t:count("y", "occurrence " .. n)
      local tenth = (n - 1) * 10 // rounds
      if n % (rounds // 500) == 0 and (tenth == 1 or tenth == 9) then
        take(tenth == 1 and "before" or "after")
      end
    end
    for name, list in pairs(samples) do
      t:note(name, statistics.median(list.after) - statistics.median(list.before))
    end ]]
  local memory <close> = fs.temp_dir("/dev/shm")
  local run_dir = memory.path .. "/run"
  local result = procedure_run.run(place, {
    "--log-limit", "1M", output = run_dir, timeout = 880,
    env = { CASE_ROUNDS = tostring(ROUNDS) },
  })
  lu.assertEquals(result.code, 0, result.stderr)
  lu.assertEquals(cli_run.verdict(run_dir).rounds, ROUNDS)
  local grown = event.decode(fs.read(run_dir .. "/summary.json")).notes
  lu.assertEquals(grown.files, 0)
  lu.assertTrue(grown.lua_kib < 128, tostring(grown.lua_kib) .. " KiB")
  if sanitizer then return end
  lu.assertTrue(grown.rss_kib < 512, tostring(grown.rss_kib) .. " KiB")
end

return test
