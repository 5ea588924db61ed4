-- SPDX-License-Identifier: MIT
--- A resume that is refused leaves what was promised where it is.

local cli_run = require("cli_run")
local disk = require("disk")
local lu = require("luaunit")
local soak_run = require("soak_run")

local suite = {}

local KEPT = { "storlua.soak", "storlua.soak.owner" }

local function cut(place, log, ...)
  local run <close> = soak_run.start(place, log, { "--rounds", "1", "--rate", "8M", ... })
  run:wait_event(log.run, soak_run.is("flushed", 1), 20)
  run:signal("KILL")
  run:finish(10)
end

local function refused(log, text, ...)
  local result = cli_run.run { "soak.lua", "--resume", log.run, ... }
  local said = result.stdout .. result.stderr
  lu.assertEquals(result.code, 2, said)
  lu.assertStrContains(said, text)
end

local function goes_on(log)
  local result = cli_run.run { "soak.lua", "--resume", log.run, "--rate", "1G" }
  lu.assertEquals(result.code, 0, result.stdout .. result.stderr)
  lu.assertStrContains(result.stdout, "generation 1 of 4194304 bytes")
end

function suite.test_bad_options()
  local place <close> = disk.file_system("tmpfs")
  local log <close> = soak_run.log()
  cut(place.path, log)
  refused(log, "there is no direct I/O", "--direct", "on")
  refused(log, "--memory: ", "--memory", "1P")
  lu.assertEquals(soak_run.leftovers(place.path), KEPT)
  goes_on(log)
end

-- The second file cannot be had: the first one stays all the same.
function suite.test_a_file_in_use()
  local place <close> = disk.directory()
  local other <close> = disk.directory()
  local log <close> = soak_run.log()
  cut(place.path, log, "--dir", other.path)
  do
    local in_between <close> = soak_run.log()
    local run <close> = soak_run.start(other.path, in_between, { "--time", "1h", "--rate", "1M" })
    run:wait_event(in_between.run, soak_run.is("writing", 1), 20)
    refused(log, "in use by another run")
    run:signal("KILL")
    run:finish(10)
  end
  lu.assertEquals(soak_run.leftovers(place.path), KEPT)
end

return suite
