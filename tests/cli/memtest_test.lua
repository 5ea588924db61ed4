-- SPDX-License-Identifier: MIT
--- scripts/memtest.lua and soak.lua --memory as a user runs them.
local cli_run = require("cli_run")
local disk = require("disk")
local fs = require("storlua.fs")
local lu = require("luaunit")
local sanitizer = require("sanitizer")
local process = require("storlua.process")
local task = require("storlua.task")

local T = {}

local function events(place) return cli_run.events_of(place.path .. "/run", "memory") end

function T.test_one_pass()
  local place <close> = disk.directory()
  local r = cli_run.run { "--output", place.path .. "/run", "memtest.lua", "--memory", "4M",
    "--fade", "1ms", "--no-compare" }
  lu.assertEquals(r.code, 0, r.stdout .. r.stderr)
  lu.assertEquals(#events(place), 1)
  lu.assertEquals(events(place)[1].result.errors_total, 0)
  -- the planted flips, and that each pattern was verified
  lu.assertEquals(#cli_run.events_of(place.path .. "/run", "check"), 8)
end

-- Each pass is a job of its own; the patterns go on where the last one ended.
function T.test_passes_count_on()
  local place <close> = disk.directory()
  local r = cli_run.run { "--output", place.path .. "/run", "memtest.lua", "--memory", "2M",
    "--patterns", "walking,random", "--passes", "3", "--no-compare" }
  lu.assertEquals(r.code, 0, r.stdout .. r.stderr)
  for i, event in ipairs(events(place)) do lu.assertEquals(event.spec.first_pass, i - 1) end
  lu.assertEquals(#events(place), 3)
end

-- The third pass of the pause would need more time than there is left.
function T.test_the_time_cuts_the_last_pass()
  local place <close> = disk.directory()
  local r = cli_run.run { "--output", place.path .. "/run", "memtest.lua", "--memory", "4M",
    "--patterns", "fade", "--fade", "1.3s", "--time", "2.8s", "--no-compare" }
  lu.assertEquals(r.code, 0, r.stdout .. r.stderr)
  lu.assertNil(r.stdout:find("not locked", 1, true))
end

local function plan_of(place)
  for _, note in ipairs(cli_run.events_of(place.path .. "/run", "note")) do
    if note.key == "plan" then return note.value end
  end
end

-- All that is free is more than some seconds reach; what was asked for stays.
function T.test_a_short_time_takes_as_much_as_it_reaches()
  local place <close> = disk.directory()
  local seconds = sanitizer and 12 or 4 -- the planted flips take most of it there
  local r = cli_run.run { "--output", place.path .. "/run", "memtest.lua", "--time",
    seconds .. "s", "--no-compare" }
  lu.assertEquals(r.code, 0, r.stdout .. r.stderr)
  lu.assertStrContains(plan_of(place), "that may be taken: more would not be tested to the end")
  lu.assertStrContains(plan_of(place), ("the pauses of fade are %.1f s"):format(seconds / 10))
  lu.assertEquals(events(place)[1].spec.fade_ns, seconds * 100000000)
end

function T.test_what_was_asked_for_is_told_to_be_too_much()
  local place <close> = disk.directory()
  local r = cli_run.run { "--output", place.path .. "/run", "memtest.lua", "--time", "1s",
    "--memory", "64M", "--fade", "5s", "--no-compare" }
  lu.assertEquals(r.code, 1, r.stdout .. r.stderr)
  lu.assertStrContains(plan_of(place), "a pass over 64 MiB may take ")
  lu.assertEquals(events(place)[1].spec.bytes, 64 << 20)
end

function T.test_a_pattern_that_was_not_verified_is_named()
  local place <close> = disk.directory()
  local r = cli_run.run { "--output", place.path .. "/run", "memtest.lua", "--memory", "4M",
    "--patterns", "address,fade", "--fade", "1h", "--time", "2s", "--no-compare" }
  lu.assertEquals(r.code, 1, r.stdout .. r.stderr)
  lu.assertStrContains(r.stdout, "not tested, no word was verified: fade;")
end

-- What was verified before a kill counts, and so does what failed.
function T.test_resumed()
  local place <close> = disk.directory()
  local run <close> = cli_run.start { "--output", place.path .. "/run", "memtest.lua", "--memory",
    "2M", "--patterns", "walking,fade", "--fade", "0.3s", "--time", "1h", "--no-compare" }
  run:wait_event(place.path .. "/run", function(event) return event.kind == "memory" end, 20)
  run:signal("KILL")
  run:finish()
  local log = place.path .. "/run/events.jsonl"
  local text = fs.read(log)
  local function resume()
    local r = cli_run.run { "--resume", place.path .. "/run", "memtest.lua", "--time", "1ms" }
    return r.code, r.stdout .. r.stderr
  end
  local code, said = resume()
  lu.assertEquals(code, 0, said)
  fs.write_atomic(log, (text:gsub('"verdict":"pass","reason":null',
    '"verdict":"fail","reason":"a wrong word"')))
  code, said = resume()
  lu.assertEquals(code, 1, said)
  lu.assertStrContains(said, "a wrong word")
end

function T.test_bad_command_lines()
  local place <close> = disk.directory()
  for _, argv in ipairs {
    { "--memory", "0" }, { "--memory", "9000T" }, { "--memory", "200%" }, { "--memory", "4k" },
    { "--patterns", "magic" }, { "--patterns", "," }, { "--threads", "0" }, { "--memory", "lots" },
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

function T.test_ctrl_c_in_every_phase()
  local function kind(name)
    return function(event) return event.kind == name end
  end
  local function copied(event) return event.kind == "memory" end
  for _, one in ipairs {
    { kind("start") }, -- the planted flips, or before them
    { kind("check"), "--pages", "small", "--memory", "2G" }, -- taking the memory
    { kind("check"), "--patterns", "walking" }, { kind("check"), "--patterns", "block_move" },
    { kind("check"), "--patterns", "fade" }, -- its pause
    { kind("check"), "--patterns", "fade", "--fade", "9223372036s", "--time", "9223372036s" },
    { copied, "--patterns", "walking", "--memory", "4M" }, -- a later pass
  } do
    local place <close> = disk.directory()
    local run <close> = cli_run.start { "--output", place.path .. "/run", "memtest.lua",
      "--memory", "64M", "--time", "1h", "--fade", "1h", table.unpack(one, 2) }
    run:wait_event(place.path .. "/run", one[1], 20)
    run:signal("INT")
    local r = run:finish()
    lu.assertEquals(r.code, 130, r.stdout .. r.stderr)
    lu.assertEquals(cli_run.verdict(place.path .. "/run").status, "interrupted")
  end
end

function T.test_what_cannot_be_tested_is_said_before()
  local place <close> = disk.directory()
  local cases = { { "2 threads were asked for", "--threads", "2" } }
  if fs.read("/proc/sys/vm/nr_hugepages"):find("^0") then
    cases[2] = { "the pool of huge pages has no", "--pages", "hugetlb" }
  end
  for i, one in ipairs(cases) do -- the mask leaves one CPU
    local r = process.try_run { "taskset", "-c", "0", cli_run.program, "--output",
      place.path .. "/" .. i, "memtest.lua", "--memory", "8M", table.unpack(one, 2) }
    lu.assertEquals(r.code, 2, r.stdout .. r.stderr)
    lu.assertStrContains(r.stdout, one[1])
  end
end

function T.test_cgroup_limit()
  local group <close> = disk.memory_group("64M")
  local place <close> = disk.directory()
  local r = group.run { cli_run.program, "--output", place.path .. "/run", "memtest.lua",
    "--memory", "80M" }
  lu.assertEquals(r.code, 2, r.stdout .. r.stderr)
  lu.assertStrContains(r.stdout, "limits to 64 MiB")
  r = group.run { cli_run.program, "--output", place.path .. "/share", "memtest.lua",
    "--memory", "50%", "--fade", "1ms", "--no-compare" }
  lu.assertEquals(r.code, 0, r.stdout .. r.stderr)
end

function T.test_limit_of_a_group_with_a_long_path()
  local group <close> = disk.memory_group("64M")
  local folders, place <close> = { group.path }, disk.directory()
  for i = 1, 3 do
    folders[i + 1] = folders[i] .. "/" .. ("x"):rep(200)
    process.run { "mkdir", folders[i + 1] }
  end
  local r = process.try_run { "sh", "-c", "echo $$ > \"$0/cgroup.procs\"; exec \"$@\"", folders[4],
    cli_run.program, "--output", place.path .. "/run", "memtest.lua", "--memory", "80M" }
  for i = 4, 2, -1 do process.run { "rmdir", folders[i] } end
  lu.assertEquals(r.code, 2, r.stdout .. r.stderr)
  lu.assertStrContains(r.stdout, "limits to 64 MiB")
end

-- In a mount namespace of its own the machine gets memory controllers.
function T.test_what_ecc_counts_is_judged()
  disk.need_root()
  local place <close> = disk.directory()
  local mc = place.path .. "/sys/edac/mc/mc0"
  fs.mkdirs(mc)
  fs.write_atomic(mc .. "/ce_count", "4\n")
  fs.write_atomic(mc .. "/ue_count", "0\n")
  local function run(name, ...)
    local one <close> = cli_run.start { "--output", place.path .. "/" .. name, "memtest.lua",
      "--memory", "4M", "--patterns", "random,fade", "--fade", "1", "--no-compare", ... }
    one:wait_event(place.path .. "/" .. name, function(e)
      return e.case_id == "self_test.fade" -- then the pass begins
    end, 20)
    task.sleep(0.3)
    fs.write_atomic(mc .. "/ce_count", "6\n")
    local r = one:finish()
    fs.write_atomic(mc .. "/ce_count", "4\n")
    return r
  end
  local program = cli_run.program
  cli_run.program = place.path .. "/storlua"
  fs.write_atomic(cli_run.program, ("#!/bin/sh\nexec unshare -m sh -c 'mount --bind %s/sys "
    .. "/sys/devices/system && exec \"$@\"' sh %s \"$@\"\n"):format(place.path, program))
  process.run { "chmod", "755", cli_run.program }
  local ok, err = pcall(function()
    local r = run("fails")
    lu.assertEquals(r.code, 1, r.stdout .. r.stderr)
    lu.assertStrContains(r.stdout, "the memory controller counted errors: mc0: 2 corrected")
    r = run("allowed", "--corrected", "2")
    lu.assertEquals(r.code, 0, r.stdout .. r.stderr)
    lu.assertStrContains(r.stdout, "2 corrected, 0 uncorrected errors counted in this pass")
  end)
  cli_run.program = program
  if not ok then error(err, 0) end
end

-- Half of the memory is hardly taken before so short a soak has ended.
function T.test_a_soak_that_verified_no_memory()
  local place <close> = disk.directory()
  local r = cli_run.run { "--output", place.path .. "/run", "soak.lua", "--rounds", "1",
    "--size", "1M", "--dir", place.path, "--memory", "50%" }
  local verified = 0
  for _, event in ipairs(events(place)) do verified = verified + event.result.verified_bytes end
  if verified > 0 then return lu.assertEquals(r.code, 0, r.stdout .. r.stderr) end
  lu.assertEquals(r.code, 1, r.stdout .. r.stderr)
  lu.assertStrContains(r.stdout, "nothing was verified before the run ended")
  lu.assertStrContains(r.stdout, "memory.verified: 0 B verified")
  r = cli_run.run { "--output", place.path .. "/rehearsal", "soak.lua", "--rounds", "1",
    "--size", "1M", "--dir", place.path, "--memory", "50%", "--engine", "null" }
  lu.assertEquals(r.code, 4, r.stdout .. r.stderr)
end

function T.test_a_soak_that_was_stopped_before_its_memory_was_tested()
  local place <close> = disk.directory()
  local run <close> = cli_run.start { "--output", place.path .. "/run", "soak.lua", "--hours",
    "1", "--size", "4M", "--dir", place.path, "--memory", "50%" }
  run:wait_event(place.path .. "/run", function(event) return event.kind == "start" end, 20)
  run:signal("INT")
  lu.assertEquals(run:finish().code, 130)
end

function T.test_beside_a_soak()
  local place <close> = disk.directory()
  local r = cli_run.run { "--output", place.path .. "/run", "soak.lua", "--rounds", "2",
    "--size", "4M", "--dir", place.path, "--memory", "8M" }
  lu.assertEquals(r.code, 0, r.stdout .. r.stderr)
  lu.assertTrue(#events(place) >= 1)
  lu.assertStrContains(r.stdout, "memory.ecc: ")
  lu.assertStrContains(r.stdout, "memory.verified: ")
  r = cli_run.run { "--output", place.path .. "/none", "soak.lua", "--rounds", "1",
    "--size", "4M", "--dir", place.path, "--memory", "9000T" }
  lu.assertEquals(r.code, 2, r.stdout .. r.stderr)
end

return T
