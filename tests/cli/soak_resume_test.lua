-- SPDX-License-Identifier: MIT
--- What must not happen to a run that is to be gone on with.

local cli_run = require("cli_run")
local disk = require("disk")
local fs = require("storlua.fs")
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

-- Where the run was started is where its directories are, and the promise is
-- looked for under every name of the place.
function suite.test_from_another_folder()
  local place <close> = disk.directory()
  local log <close> = soak_run.log()
  local elsewhere <close> = disk.directory()
  for _, dir in ipairs { "bad\xff", "a b" } do
    fs.mkdir(place.path .. "/" .. dir)
    local run <close> = soak_run.start(dir, log, { "--rounds", "1", "--rate", "8M",
      cwd = place.path })
    run:wait_event(log.run, soak_run.is("flushed", 1), 20)
    run:signal("KILL")
    run:finish(10)
    local other = cli_run.run { "soak.lua", "--resume", log.run, "--dir", elsewhere.path }
    lu.assertEquals(other.code, 2, other.stdout .. other.stderr)
    lu.assertStrContains(other.stderr .. other.stdout, "no --dir leads there")
    lu.assertEquals(soak_run.leftovers(elsewhere.path), {})
    local result = cli_run.run { "soak.lua", "--resume", log.run, cwd = elsewhere.path }
    lu.assertEquals(result.code, 0, result.stdout .. result.stderr)
    lu.assertStrContains(result.stdout, "generation 1 of 4194304 bytes")
    fs.remove_tree(log.run)
  end
end

-- Rows keep their names.
-- What cannot be read is not overwritten either.
function suite.test_a_promise_that_cannot_be_read()
  local place <close> = disk.fault()
  local log <close> = soak_run.log()
  cut(place.path, log)
  place:tell("read EIO 1048576")
  local begun = #cli_run.events_of(log.run, "writing")
  local result = resume(log)
  lu.assertEquals(result.code, 1, result.stdout .. result.stderr)
  lu.assertStrContains(result.stdout, "resume.verify")
  lu.assertEquals(#cli_run.events_of(log.run, "writing"), begun)
  lu.assertEquals(soak_run.leftovers(place.path), { "storlua.soak", "storlua.soak.owner" })
end

function suite.test_two_directories_from_another_folder()
  local place <close> = disk.directory()
  local log <close> = soak_run.log()
  for _, dir in ipairs { "x", "y" } do fs.mkdir(place.path .. "/" .. dir) end
  do
    local run <close> = soak_run.start("x", log, { "--dir", "y", "--rounds", "1", "--rate", "8M",
      cwd = place.path })
    run:wait_event(log.run, soak_run.is("writing", 2), 20)
    run:signal("KILL")
    run:finish(10)
  end
  local result = cli_run.run { "soak.lua", "--resume", log.run, cwd = "/" }
  lu.assertEquals(result.code, 0, result.stdout .. result.stderr)
  local prefixes = {}
  for _, measure in ipairs(cli_run.events_of(log.run, "measure")) do
    prefixes[measure.case_id:match("^[^.]*")] = true
  end
  lu.assertEquals(prefixes, { x = true, y = true })
end

function suite.test_the_file_is_gone()
  local place <close> = disk.directory()
  local log <close> = soak_run.log()
  cut(place.path, log)
  fs.remove_tree(place.path .. "/storlua.soak")
  local result = resume(log)
  lu.assertEquals(result.code, 1, result.stdout)
  lu.assertStrContains(result.stdout, "4194304 bytes were flushed, and the file is gone")
end

-- What was removed with the file is no promise any more, also when the part
-- that began anew is cut.
function suite.test_stopped_then_cut()
  local place <close> = disk.directory()
  local log <close> = soak_run.log()
  do
    local run <close> = soak_run.start(place.path, log, { "--rounds", "1", "--rate", "8M" })
    run:wait_event(log.run, soak_run.is("flushed", 1), 20)
    run:signal("INT")
    lu.assertEquals(run:finish(10).code, 130)
  end
  -- Smaller than before, which is no loss.
  for _, size in ipairs { "3M", "2M" } do
    local before = #cli_run.events_of(log.run, "flushed")
    local run <close> = cli_run.start { "soak.lua", "--resume", log.run, "--size", size }
    disk.wait_until(20, "a pass is flushed", function()
      return #cli_run.events_of(log.run, "flushed") > before
    end)
    run:signal(size == "3M" and "INT" or "KILL")
    run:finish(10)
  end
  local result = resume(log)
  lu.assertEquals(result.code, 0, result.stdout .. result.stderr)
  lu.assertStrContains(result.stdout, "of 2097152 bytes")
end

-- Stopped at any moment before its promises are verified, the part leaves the
-- file to the next one.
function suite.test_stopped_before_it_verifies()
  local place <close> = disk.fault()
  local log <close> = soak_run.log()
  cut(place.path, log)
  for _, op in ipairs { "open", "read" } do
    place:tell("clear\nslow " .. op .. " 300")
    local before = #cli_run.events_of(log.run, "start")
    local run <close> = cli_run.start { "soak.lua", "--resume", log.run }
    run:wait_event(log.run, function() return #cli_run.events_of(log.run, "start") > before end, 20)
    run:signal("INT")
    lu.assertEquals(run:finish(20).code, 130)
    lu.assertEquals(soak_run.leftovers(place.path), { "storlua.soak", "storlua.soak.owner" })
  end
end

-- A verification that is stopped has not been done: the file stays for the
-- next part, and so does what it had found bad.
function suite.test_stopped_while_it_verifies()
  local place <close> = disk.fault()
  local log <close> = soak_run.log()
  cut(place.path, log)
  place:tell("slow read 200")
  do
    local before = place:count("read")
    local run <close> = cli_run.start { "soak.lua", "--resume", log.run }
    disk.wait_until(20, "it reads", function() return place:count("read") >= before + 4 end)
    run:signal("INT")
    lu.assertEquals(run:finish(10).code, 130)
  end
  lu.assertEquals(soak_run.leftovers(place.path), { "storlua.soak", "storlua.soak.owner" })
  place:tell("clear\nzero 4096\nslow read 200")
  local before = place:count("read")
  local run <close> = cli_run.start { "soak.lua", "--resume", log.run }
  disk.wait_until(20, "it has met the bad sector", function()
    return place:count("read") >= before + 6
  end)
  run:signal("INT")
  local result = run:finish(10)
  lu.assertEquals(result.code, 1, result.stdout .. result.stderr)
  lu.assertEquals(soak_run.leftovers(place.path), { "storlua.soak", "storlua.soak.owner" })
end

return suite
