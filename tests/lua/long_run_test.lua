-- SPDX-License-Identifier: MIT
--- As many rounds as a soak of days has: the resident set and the heap of Lua
--- stay where they were after the first tenth, and so do the open files.

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
    local function count()
      collectgarbage()
      collectgarbage()
      return { rss_kib = fs.read("/proc/self/statm"):match("^%d+ (%d+)") * 4 // 1,
               lua_kib = collectgarbage("count"), files = #fs.list("/proc/self/fd") }
    end
    local rounds, before = tonumber(os.getenv("CASE_ROUNDS")), nil
    for n in t:rounds { count = rounds } do
      t:measure("null", NULL, { labels = { round = n } })
      t:check("null.ok", true)
      t:sample("x", n % 97)
      t:count("y", "occurrence " .. n)
      if n == rounds // 10 then before = count() end
    end
    local after = count()
    for name, value in pairs(after) do t:note(name, value - before[name]) end ]]
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
