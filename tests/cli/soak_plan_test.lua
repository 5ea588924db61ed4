-- SPDX-License-Identifier: MIT
--- How much soak does: the size of the file, the limit of what is written, the
--- rounds of a run that was cut.

local cli_run = require("cli_run")
local disk = require("disk")
local lu = require("luaunit")
local soak_run = require("soak_run")

local suite = {}

local function soak(place, log, ...)
  return cli_run.run { "soak.lua", "--dir", place, "--output", log.run, "--rewrite", "100", ... }
end

local function generations(log)
  local list = {}
  for _, event in ipairs(cli_run.events_of(log.run, "writing")) do
    list[#list + 1] = event.generation
  end
  return list
end

function suite.test_size_is_half_of_what_is_free()
  local place <close> = disk.file_system("tmpfs", { size = "9M" })
  local log <close> = soak_run.log()
  local result = soak(place.path, log, "--rounds", "1")
  soak_run.verdict(log, result, "passed", 0)
  lu.assertEquals(cli_run.events_of(log.run, "flushed")[1].range_bytes, 4 << 20)
  lu.assertStrContains(result.stdout, "each round writes 4 MiB, rewrites 4 MiB of it")
  lu.assertStrContains(result.stdout, "/storlua.soak for 1 round, 48 h 00 min at most: each")
  lu.assertStrContains(result.stdout, "all of it in memory")
end

function suite.test_size_is_in_whole_blocks()
  local place <close> = disk.directory()
  local log <close> = soak_run.log()
  local result = soak(place.path, log, "--rounds", "1", "--size", "4195001", "--keep")
  soak_run.verdict(log, result, "passed", 0)
  lu.assertEquals(cli_run.events_of(log.run, "flushed")[1].range_bytes, 4 << 20)
  lu.assertStrContains(result.stdout, "kept: " .. place.path .. "/storlua.soak and")
end

function suite.test_no_room_for_a_record()
  local place <close> = disk.file_system("tmpfs", { size = "1M" })
  local log <close> = soak_run.log()
  local result = soak(place.path, log, "--rounds", "1")
  lu.assertEquals(result.code, 2, result.stderr)
  lu.assertStrContains(result.stdout, "smaller than one record (1 MiB)")
end

function suite.test_write_limit_ends_the_run()
  local place <close> = disk.directory()
  local log <close> = soak_run.log()
  local result = soak(place.path, log, "--size", "4M", "--write-limit", "15M")
  local verdict = soak_run.verdict(log, result, "passed", 0)
  lu.assertEquals({ verdict.bytes_written, verdict.rounds }, { 12 << 20, 2 })
  lu.assertEquals(generations(log), { 1, 2, 3 })
  local second <close> = soak_run.log()
  result = soak(place.path, second, "--size", "4M", "--write-limit", "3M")
  lu.assertEquals(result.code, 2, result.stderr)
  lu.assertStrContains(result.stdout, "not even one pass")
end

-- The round that was cut is done again: as many whole ones as were asked for.
function suite.test_a_cut_round_does_not_count()
  local place <close> = disk.directory()
  local log <close> = soak_run.log()
  do
    local run <close> = soak_run.start(place.path, log, { "--rounds", "1", "--rate", "8M" })
    run:wait_event(log.run, soak_run.is("writing", 2), 20)
    run:signal("KILL")
    run:finish(10)
  end
  local result = cli_run.run { "soak.lua", "--resume", log.run }
  lu.assertEquals(result.code, 0, result.stdout .. result.stderr)
  lu.assertEquals(cli_run.verdict(log.run).rounds, 1)
  lu.assertEquals(generations(log), { 1, 2, 3, 4 })
end

-- The time ends in the random rewrite: it stops, and both generations are
-- verified, each where it belongs.
function suite.test_time_cuts_a_rewrite()
  local place <close> = disk.directory()
  local log <close> = soak_run.log()
  -- Writing, reading and rewriting take 2 s each.
  local result = soak(place.path, log, "--size", "4M", "--record", "64k", "--rate", "2M",
    "--time", "5")
  local verdict = soak_run.verdict(log, result, "passed", 0)
  lu.assertTrue(verdict.bytes_written > 4 << 20 and verdict.bytes_written < 8 << 20)
  local last = cli_run.events_of(log.run, "measure")[4]
  lu.assertEquals(last.case_id, "random_read")
  local verify = last.result.verify
  lu.assertEquals(verify.sectors, (4 << 20) // 512)
  lu.assertEquals(verify.old_sectors, ((8 << 20) - verdict.bytes_written) // 512)
  lu.assertEquals(#cli_run.events_of(log.run, "flushed"), 1)
end

function suite.test_time_too_short_for_one_pass_is_incomplete()
  local place <close> = disk.directory()
  local log <close> = soak_run.log()
  local result = soak(place.path, log, "--size", "4M", "--record", "64k", "--rate", "2M",
    "--time", "0.5")
  local verdict = soak_run.verdict(log, result, "failed", 1)
  lu.assertStrContains(verdict.reasons[1], "incomplete: the time was up")
  lu.assertEquals(verdict.verified_bytes, verdict.bytes_written)
  lu.assertEquals(soak_run.leftovers(place.path), {})
end

-- By default a part is rewritten, elsewhere in each round; the rest keeps its
-- generation, and both are verified.
function suite.test_a_part_is_rewritten()
  local place <close> = disk.directory()
  local log <close> = soak_run.log()
  local result = soak(place.path, log, "--size", "4M", "--record", "64k", "--rewrite", "25",
    "--rounds", "3")
  soak_run.verdict(log, result, "passed", 0)
  local flushed, places = cli_run.events_of(log.run, "flushed"), {}
  for i = 2, #flushed, 2 do
    lu.assertEquals(flushed[i].range_bytes, 1 << 20)
    places[flushed[i].range_offset] = true
  end
  lu.assertEquals(#flushed, 6)
  lu.assertTrue(next(places, next(places)) ~= nil, "the part never moved")
end

function suite.test_reads_have_their_share()
  local place <close> = disk.directory()
  local log <close> = soak_run.log()
  local result = soak(place.path, log, "--size", "4M", "--reads", "50", "--rounds", "2")
  soak_run.verdict(log, result, "passed", 0)
  local mixed = cli_run.events_of(log.run, "measure")[3].result
  lu.assertEquals(mixed.read.bytes + mixed.write.bytes, 4 << 20)
  lu.assertTrue(mixed.read.operations > 0 and mixed.write.operations > 0)
  lu.assertEquals(mixed.verify.bad_sectors, 0)
end

function suite.test_two_directories_beside_each_other()
  local first <close> = disk.directory()
  local second <close> = disk.file_system("tmpfs", { size = "32M" })
  local log <close> = soak_run.log()
  local result = soak(first.path, log, "--dir", second.path, "--size", "4M", "--rounds", "2")
  local verdict = soak_run.verdict(log, result, "passed", 0)
  lu.assertEquals(verdict.bytes_written, 4 * (8 << 20) // 1)
  local targets = {}
  for _, event in ipairs(cli_run.events_of(log.run, "flushed")) do targets[event.target] = true end
  lu.assertTrue(targets[first.path .. "/storlua.soak"] and targets[second.path .. "/storlua.soak"])
end

function suite.test_limits_are_judged()
  local place <close> = disk.directory()
  local log <close> = soak_run.log()
  local result = soak(place.path, log, "--size", "4M", "--rounds", "1", "--limit",
    "write.mib_s p50 >= 100000000")
  soak_run.verdict(log, result, "failed", 1)
  lu.assertStrContains(result.stdout, "write.mib_s p50 >= 100000000")
  local bad <close> = soak_run.log()
  result = soak(place.path, bad, "--limit", "write.mib_s is fast")
  lu.assertEquals(result.code, 2, result.stdout .. result.stderr)
end

return suite
