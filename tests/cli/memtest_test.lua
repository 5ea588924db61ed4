-- SPDX-License-Identifier: MIT
--- scripts/memtest.lua and soak.lua --memory as a user runs them.
local cli_run = require("cli_run")
local disk = require("disk")
local lu = require("luaunit")
local sanitizer = require("sanitizer")
local process = require("storlua.process")

local T = {}

local function events(place) return cli_run.events_of(place.path .. "/run", "memory") end

function T.test_one_pass()
  local place <close> = disk.directory()
  local r = cli_run.run { "--output", place.path .. "/run", "memtest.lua", "--memory", "4M",
    "--fade", "1ms", "--no-compare" }
  lu.assertEquals(r.code, 0, r.stdout .. r.stderr)
  lu.assertEquals(#events(place), 1)
  lu.assertEquals(events(place)[1].result.errors_total, 0)
  lu.assertEquals(#cli_run.events_of(place.path .. "/run", "check"), 7) -- the planted flips
end

function T.test_bad_command_lines()
  local place <close> = disk.directory()
  for _, argv in ipairs {
    { "--memory", "0" }, { "--memory", "9000T" }, { "--memory", "200%" }, { "--memory", "4k" },
    { "--patterns", "magic" }, { "--threads", "0" }, { "--memory", "lots" },
  } do
    local r = cli_run.run { "--output", place.path .. "/none", "memtest.lua",
      table.unpack(argv) }
    lu.assertEquals(r.code, 2, table.concat(argv, " ") .. r.stdout .. r.stderr)
  end
end

function T.test_mlock_refused()
  -- AddressSanitizer makes mlock do nothing; the release build runs this.
  if sanitizer == "address" then return end
  disk.need_root()
  local place <close> = disk.directory()
  local r = process.try_run { "prlimit", "--memlock=65536", "setpriv", "--bounding-set",
    "-ipc_lock", cli_run.program, "--output", place.path .. "/run", "memtest.lua", "--memory",
    "4M", "--patterns", "address", "--no-compare" }
  lu.assertEquals(r.code, 0, r.stdout .. r.stderr)
  lu.assertStrContains(r.stdout, "not locked (ENOMEM)")
  lu.assertFalse(events(place)[1].result.locked)
end

function T.test_ctrl_c()
  for _, pattern in ipairs { "walking", "fade" } do
    local place <close> = disk.directory()
    local run <close> = cli_run.start { "--output", place.path .. "/run", "memtest.lua",
      "--memory", "64M", "--time", "1h", "--fade", "1h", "--patterns", pattern }
    run:wait_event(place.path .. "/run", function(e) return e.kind == "check" end, 20)
    run:signal("INT")
    local r = run:finish()
    lu.assertEquals(r.code, 130, r.stdout .. r.stderr)
  end
end

function T.test_beside_a_soak()
  local place <close> = disk.directory()
  local r = cli_run.run { "--output", place.path .. "/run", "soak.lua", "--rounds", "2",
    "--size", "4M", "--dir", place.path, "--memory", "8M" }
  lu.assertEquals(r.code, 0, r.stdout .. r.stderr)
  lu.assertTrue(#events(place) >= 1)
  r = cli_run.run { "--output", place.path .. "/none", "soak.lua", "--rounds", "1",
    "--size", "4M", "--dir", place.path, "--memory", "9000T" }
  lu.assertEquals(r.code, 2, r.stdout .. r.stderr)
end

return T
