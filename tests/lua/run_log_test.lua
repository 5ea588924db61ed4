-- SPDX-License-Identifier: MIT
--- The event log of runs: full disks, caps, long runs, resuming.

local cli_run = require("cli_run")
local disk = require("disk")
local event = require("storlua.event")
local lu = require("luaunit")
local procedure_run = require("procedure_run")
local reader = require("storlua.report.reader")

local test = {}

local function size_of(path)
  local file = io.open(path, "rb")
  if not file then return 0 end
  local size = file:seek("end")
  file:close()
  return size
end

local function read_text(path)
  local file <close> = assert(io.open(path, "rb"))
  return file:read("a")
end

function test.test_a_log_that_somebody_removes_fails_the_run()
  local place <close> = procedure_run.place(
    [[os.remove(t.run_dir .. "/events.jsonl") t:check("a", true) t:check("b", true)]])
  local result = procedure_run.run(place)
  lu.assertEquals(result.code, 1)
  lu.assertStrContains(result.stderr, "somebody removed the log of a run that goes on")
end

-- Rounds on a log of 1 MiB that is then filled by somebody else.
function test.test_a_full_disk_is_a_named_failure_with_a_verdict()
  local small <close> = disk.file_system("tmpfs", { size = "1M" })
  local place <close> = procedure_run.place [[
    for n in t:rounds { count = 100000 } do
      t:measure("null", NULL, { labels = { round = n } })
      if n == 3 then
        local file = io.open(t.run_dir .. "/../filler", "w")
        while file:write(("x"):rep(4096)) and file:flush() do end
        pcall(file.close, file)
      end
    end ]]
  local run_dir = small.path .. "/run"
  local result = procedure_run.run(place, { output = run_dir })
  lu.assertEquals(result.code, 1, result.stdout .. result.stderr)
  lu.assertStrContains(result.stderr, "the event log cannot be written: ENOSPC")
  local v = cli_run.verdict(run_dir)
  lu.assertEquals(v.status, "failed")
  lu.assertStrContains(v.reasons[1], "ENOSPC")
  lu.assertTrue(v.rounds >= 3 and v.rounds < 100000)
  lu.assertEquals(event.decode(read_text(run_dir .. "/summary.json")).status, "failed")
end

-- Two thousand rounds into a disk of 1 MiB: the log makes do with it.
function test.test_many_small_rounds_stay_below_the_cap()
  local small <close> = disk.file_system("tmpfs", { size = "1M" })
  local place <close> = procedure_run.place [[
    for n in t:rounds { count = 2000 } do
      t:measure("null", NULL, { labels = { round = n } })
      t:check("null.ok", n ~= 7, "round %d", n)
    end
    t:note("last", "words") ]]
  local run_dir = small.path .. "/run"
  local result = procedure_run.run(place, { output = run_dir })
  lu.assertEquals(result.code, 1, result.stderr)
  local bytes = size_of(run_dir .. "/events.jsonl") + size_of(run_dir .. "/events.1.jsonl")
  lu.assertTrue(bytes < 1 << 20, bytes)
  local v = cli_run.verdict(run_dir)
  lu.assertEquals({ v.rounds, v.measures, v.checks, v.checks_failed }, { 2000, 2000, 2000, 1 })
  local summary = event.decode(read_text(run_dir .. "/summary.json"))
  lu.assertEquals({ summary.rounds, summary.failures[1].case_id }, { 2000, "null.ok" })
  -- what is left stands alone: it begins with a start event that carries the sums
  local first
  local state = reader.read(run_dir, function(fields) first = first or fields end)
  lu.assertEquals(first.kind, "start")
  lu.assertTrue(first.continued)
  lu.assertEquals(first.carried.checks_failed, 1)
  lu.assertEquals(state.lost_events, 0)
  local report = cli_run.run { "report", run_dir, "--to", "junit" }
  lu.assertEquals(report.code, 0, report.stderr)
  lu.assertStrContains(report.stdout, "null.ok: round 7")
end

local RESUMABLE = [[
  local left = t.resume
  if left then
    t:note("left", { rounds = left.rounds, rebooted = left.rebooted,
                     soaked = left.soaked_ns > 0, torn = left.torn_bytes,
                     writing = #(left.writing[7] or {}), flushed = left.flushed[7] })
  end
  for n, round in t:rounds { count = 4, seconds = 60 } do
    local pass = { target = 7, generation = n, range_offset = 0, range_bytes = 1048576 }
    t:event("writing", pass)
    t:measure("null", NULL, { labels = { round = n } })
    t:event("flushed", pass)
    t:check("fine", n ~= 1, "round %d", n)
    if n == 3 and not left then
      t:event("writing", { target = 7, generation = 9, range_offset = 4096, range_bytes = 4096 })
      t:note("cut", true)
      task.sleep(60)
    end
  end ]]

local function kill_at_note(place)
  local run <close> = cli_run.start { "--output", place.run_dir, "--seed", "5", place.script }
  run:wait_event(place.run_dir, function(one) return one.kind == "note" end)
  run:signal("KILL")
  run:finish(10)
end

function test.test_resume_goes_on_where_the_run_was_cut()
  local place <close> = procedure_run.place(RESUMABLE)
  kill_at_note(place)
  local torn = '{"v":1,"seq":99'
  local file = assert(io.open(place.run_dir .. "/events.jsonl", "a"))
  file:write(torn)
  file:close()
  local report = cli_run.run { "report", place.run_dir }
  lu.assertEquals(report.code, 1)
  lu.assertStrContains(report.stdout, "incomplete: no verdict (crashed or still running)")
  lu.assertStrContains(report.stdout, "torn (15 bytes)")

  local result = cli_run.run { "--resume", place.run_dir, place.script }
  lu.assertEquals(result.code, 1, result.stdout .. result.stderr)
  local events = cli_run.events(place.run_dir)
  for i, one in ipairs(events) do lu.assertEquals(one.seq, i) end
  local starts = cli_run.events_of(place.run_dir, "start")
  lu.assertEquals({ #starts, starts[1].resumed, starts[2].resumed, starts[2].torn_bytes },
    { 2, false, true, #torn })
  lu.assertEquals({ starts[2].seed, starts[2].run_id }, { 5, starts[1].run_id })
  local left = cli_run.events_of(place.run_dir, "note")[2].value
  lu.assertEquals({ left.rounds, left.rebooted, left.soaked, left.torn, left.writing },
    { 3, false, true, #torn, 1 })
  lu.assertEquals(left.flushed[#left.flushed].generation, 3)
  lu.assertEquals(#left.flushed, 1)
  local v = cli_run.verdict(place.run_dir)
  lu.assertEquals({ v.checks_failed, v.measures, v.rounds }, { 1, 5, 4 })
  lu.assertStrContains(v.reasons[1], "fine: round 1")
  lu.assertTrue(v.soaked_ns > v.elapsed_ns)

  local again = cli_run.run { "--resume", place.run_dir, place.script }
  lu.assertEquals(again.code, 2)
  lu.assertStrContains(again.stderr, "has ended (failed)")
end

function test.test_a_stopped_run_can_be_resumed()
  local place <close> = procedure_run.place([[
    t:note("stopped", t.resume and t.resume.interrupted or false)
    t:check("a", true)
    if not t.resume then task.sleep(60) end
    t:sample("x", 1) ]], 'thresholds = { "x max < 2" },')
  local run <close> = cli_run.start { "--output", place.run_dir, place.script }
  run:wait_event(place.run_dir, function(one) return one.kind == "check" end)
  run:signal("INT", true)
  lu.assertEquals(run:finish(10).code, 130)
  lu.assertEquals(cli_run.verdict(place.run_dir).status, "interrupted")
  local result = cli_run.run { "--resume", place.run_dir, place.script }
  lu.assertEquals(result.code, 0, result.stderr)
  lu.assertEquals(cli_run.events_of(place.run_dir, "note")[2].value, true)
  local verdicts = cli_run.events_of(place.run_dir, "verdict")
  lu.assertEquals({ #verdicts, verdicts[2].status }, { 2, "passed" })
  local report = cli_run.run { "report", place.run_dir, "--to", "junit" }
  lu.assertEquals(report.code, 0)
  lu.assertStrContains(report.stdout, 'failures="0" errors="0"')
end

-- The sums of what rotation dropped are part of the verdict after a resume,
-- and so is what thresholds are judged by.
function test.test_resume_after_rotation_forgets_no_failure()
  local place <close> = procedure_run.place([[
    for n in t:rounds { count = 1000 } do
      t:check("fine", n ~= 2, "round %d", n)
      t:measure("null", NULL, { labels = { round = n } })
      t:sample("disk.celsius", n == 2 and 95 or 40, "C")
      t:count("seen", "x", 1)
      t:event("x_filler", { text = ("x"):rep(4000) })
      if n == 2 then task.sleep(1.1) end
      if n == 700 and not t.resume then
        t:check("cut", true)
        task.sleep(60)
      end
    end ]], [[thresholds = { "disk.celsius max < 80", "disk.celsius min >= 40",
                             "seen count == 1000", "seen rate > 1" },]])
  local run <close> = cli_run.start { "--output", place.run_dir, "--log-limit", "1M",
                                      place.script }
  run:wait_event(place.run_dir, function(one) return one.case_id == "cut" end, 60)
  run:signal("KILL")
  run:finish(10)
  local result = cli_run.run { "--resume", place.run_dir, place.script }
  lu.assertEquals(result.code, 1, result.stderr)
  local v = cli_run.verdict(place.run_dir)
  -- the round that was cut is done again
  lu.assertEquals({ v.checks_failed, v.rounds, v.measures }, { 1, 1000, 1001 })
  lu.assertStrContains(v.reasons[1], "fine: round 2")
  local ok, thresholds = {}, cli_run.events_of(place.run_dir, "threshold")
  for i, one in ipairs(thresholds) do ok[i] = one.ok end
  lu.assertEquals(ok, { false, true, false, true })
  -- a rate is that of the whole time
  lu.assertTrue(thresholds[4].value * v.elapsed_ns / 3600e9 < 1001)
  lu.assertStrContains(v.reasons[2], "threshold disk.celsius max < 80: 95")
  lu.assertStrContains(v.reasons[3], "threshold seen count == 1000: 1001")
end

function test.test_resume_names_a_damaged_line()
  local place <close> = procedure_run.place(RESUMABLE)
  kill_at_note(place)
  local path = place.run_dir .. "/events.jsonl"
  local file <close> = assert(io.open(path))
  local text = file:read("a")
  local damaged <close> = assert(io.open(path, "w"))
  assert(damaged:write((text:gsub("\n[^\n]*", "\ngarbage", 1))))
  damaged:close()
  local result = cli_run.run { "--resume", place.run_dir, place.script }
  lu.assertEquals(result.code, 2, result.stderr)
  lu.assertStrContains(result.stderr, "events.jsonl, line 2")
  lu.assertNotStrContains(result.stderr, "traceback")
end

function test.test_resume_refuses_what_it_cannot_go_on_with()
  local place <close> = procedure_run.place(RESUMABLE)
  kill_at_note(place)
  local other = place.path .. "/other.lua"
  procedure_run.write(other, 't:check("a", true)')
  local result = cli_run.run { "--resume", place.run_dir, other }
  lu.assertEquals(result.code, 2)
  lu.assertStrContains(result.stderr, "a run of case, not of other")
  result = cli_run.run { "--resume", place.path .. "/none", place.script }
  lu.assertEquals(result.code, 2)
  lu.assertStrContains(result.stderr, "there is no run")
  assert(io.open(place.run_dir .. "/events.jsonl", "w")):close()
  result = cli_run.run { "--resume", place.run_dir, place.script }
  lu.assertEquals(result.code, 2)
  lu.assertStrContains(result.stderr, "before its first event")
end

-- A log on a frozen file system: the run waits, says so, and can be ended.
function test.test_a_stuck_log_does_not_hold_the_exit()
  local fs <close> = disk.file_system("ext4")
  local place <close> = procedure_run.place [[
    local event_log = require("storlua.event_log")
    event_log.last_word_seconds = 1
    t:check("first", true)
    task.sleep(1)
    t:check("second", true) ]]
  local run <close> = cli_run.start { "--output", fs.path .. "/run", place.script }
  run:wait_event(fs.path .. "/run", function(one) return one.kind == "check" end)
  local process = require("storlua.process")
  process.run { "fsfreeze", "-f", fs.path }
  local _ <close> = require("storlua.task").defer(function()
    process.run { "fsfreeze", "-u", fs.path }
  end)
  require("storlua.task").sleep(1.5)
  run:signal("INT", true)
  local result = run:finish(10)
  lu.assertTrue(result.code ~= 0)
  lu.assertStrContains(result.stderr, "does not answer")
end

return test
