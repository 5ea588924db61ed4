-- SPDX-License-Identifier: MIT
--- Power is lost in mid-soak: what had not reached the medium is gone. Both the
--- log and the file of the soak lie on it, and the run goes on all the same.

local cli_run = require("cli_run")
local disk = require("disk")
local lu = require("luaunit")
local process = require("storlua.process")
local soak_run = require("soak_run")

local suite = {}

local function sh(format, ...)
  return process.run { "sh", "-c", format:format(...), merge_stderr = true }.stdout
end

-- Ends the run and puts the medium back to what was on it at this moment.
local function cut_power(run, place)
  local snapshot = place.backing .. ".snapshot"
  run:signal("STOP")
  sh("cp --sparse=always '%s' '%s'", place.backing, snapshot)
  run:signal("KILL")
  run:finish(10)
  sh("umount '%s'", place.path)
  sh("dd status=none conv=notrunc bs=1M if='%s' of='%s'", snapshot, place.backing)
  sh("blockdev --flushbufs %s", place.device)
end

local function survives(kind, repair)
  local place <close> = disk.file_system(kind)
  local log = { path = place.path .. "/logs", run = place.path .. "/logs/run" }
  do
    local run <close> = soak_run.start(place.path, log, { "--rounds", "1", "--rate", "8M" })
    run:wait_event(log.run, soak_run.is("flushed", 1), 20)
    cut_power(run, place)
  end
  if repair then process.try_run { "e2fsck", "-fy", place.device } end
  sh("mount %s '%s'", place.device, place.path)
  local result = cli_run.run { "soak.lua", "--resume", log.run, "--rate", "1G" }
  soak_run.verdict(log, result, "passed", 0)
  for _, event in ipairs(cli_run.events_of(log.run, "measure")) do
    if event.case_id == "resume.verify" then
      lu.assertEquals(event.result.verify.sectors, (4 << 20) // 512)
      lu.assertEquals(event.result.verify.bad_sectors, 0)
      return
    end
  end
  lu.fail("nothing was verified\n" .. result.stdout)
end

function suite.test_ext4() survives("ext4") end

function suite.test_ext2_without_a_journal() survives("ext2", true) end

-- An fsync of a file promises its content, not its name: on file systems that
-- take this at its word the folder is synced too.
function suite.test_names_are_synced()
  local place <close> = disk.fault()
  local log <close> = soak_run.log()
  place:tell("fsyncdir EIO")
  local result = soak_run.run(place.path, log, { "--rounds", "1" })
  lu.assertTrue(result.code == 1 or result.code == 3, result.code)
  lu.assertStrContains(result.stderr, "EIO: fsync " .. place.path)
  lu.assertEquals(soak_run.leftovers(place.path), {})
  result = soak_run.run(log.path, { path = place.path }, { "--rounds", "1" })
  lu.assertEquals(result.code, 2, result.stderr)
  lu.assertStrContains(result.stderr, "EIO: fsync " .. place.path)
  lu.assertEquals(soak_run.leftovers(log.path), {})
end

return suite
