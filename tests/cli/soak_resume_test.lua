-- SPDX-License-Identifier: MIT
--- What must not happen to a run that is to be gone on with.

local cli_run = require("cli_run")
local disk = require("disk")
local lu = require("luaunit")
local process = require("storlua.process")
local soak_run = require("soak_run")

local suite = {}

local function cut(place, log)
  local run <close> = soak_run.start(place, log, { "--rounds", "1", "--rate", "8M" })
  run:wait_event(log.run, soak_run.is("flushed", 1), 20)
  run:signal("KILL")
  run:finish(10)
end

local function resume(log, ...) return cli_run.run { "soak.lua", "--resume", log.run, ... } end

-- The folder is there, the medium is not: nothing is written beside it, and
-- the run can still be gone on with.
function suite.test_medium_not_mounted()
  local place <close> = disk.file_system("ext4")
  local log <close> = soak_run.log()
  cut(place.path, log)
  process.run { "umount", place.path }
  local refused = resume(log)
  local left = soak_run.leftovers(place.path)
  process.run { "mount", place.device, place.path }
  lu.assertEquals({ refused.code, left }, { 2, {} }, refused.stderr)
  lu.assertStrContains(refused.stderr, "is the medium mounted?")
  local result = resume(log)
  soak_run.verdict(log, result, "passed", 0)
  lu.assertStrContains(result.stdout, "resume.verify")
end

-- A mistake on the command line does not end the run, nor is it remembered.
function suite.test_a_refused_resume_changes_nothing()
  local place <close> = disk.directory()
  local log <close> = soak_run.log()
  cut(place.path, log)
  for _, wrong in ipairs { { "--size", "1k0" }, { "--write-limit", "64k" },
    { "--minutes", "1", "--hours", "1" } } do
    local refused = resume(log, table.unpack(wrong))
    lu.assertEquals(refused.code, 2, refused.stdout .. refused.stderr)
    local report = cli_run.run { "report", log.run }
    lu.assertEquals(report.code, 1)
    lu.assertStrContains(report.stdout, "soak: INCOMPLETE")
  end
  local result = resume(log)
  lu.assertEquals(result.code, 0, result.stdout .. result.stderr)
  lu.assertStrContains(result.stdout, "generation 1 of 4194304 bytes")
  local again = resume(log)
  lu.assertStrContains(again.stderr, "has ended (passed)")
end

return suite
