-- SPDX-License-Identifier: MIT
--- Stopped by hand in every phase, twice, by a kill and by a lost session; and
--- taken up again.

local cli_run = require("cli_run")
local disk = require("disk")
local lu = require("luaunit")
local soak_run = require("soak_run")
local task = require("storlua.task")

local suite = {}

-- Each phase: arguments that make it long, and the event after which the run
-- is in the middle of it.
local phases = {
  write = { arguments = { "--rate", "2M" }, event = soak_run.is("writing", 1) },
  verify = { arguments = { "--rate", "2M" }, event = soak_run.is("flushed", 1) },
  random_write = { arguments = { "--rate", "4M" }, event = soak_run.is("writing", 2) },
  pause = {
    arguments = { "--pause", "60" },
    event = function(event) return event.kind == "round" and event.phase == "end" end,
  },
}

local function in_phase(name, place, log)
  local phase = phases[name]
  local run = soak_run.start(place, log, { "--time", "1h", table.unpack(phase.arguments) })
  run:wait_event(log.run, phase.event, 20)
  task.sleep(0.2)
  return run
end

local codes = { HUP = 129, INT = 130, TERM = 143 }

for name in pairs(phases) do
  for signal, code in pairs(codes) do
    suite[("test_%s_in_%s"):format(signal, name)] = function()
      local place <close> = disk.directory()
      local log <close> = soak_run.log()
      local run <close> = in_phase(name, place.path, log)
      -- INT comes from a terminal and reaches the group, TERM from kill(1).
      run:signal(signal, signal == "TERM")
      local result = run:finish(10)
      soak_run.verdict(log, result, "interrupted", code)
      lu.assertTrue(result.seconds < 2, result.seconds)
      lu.assertEquals(soak_run.leftovers(place.path), {})
    end
  end

  suite[("test_KILL_in_%s_and_resume"):format(name)] = function()
    local place <close> = disk.directory()
    local log <close> = soak_run.log()
    do
      local run <close> = in_phase(name, place.path, log)
      run:signal("KILL")
      lu.assertEquals(run:finish(10).signal, 9)
    end
    local before = #cli_run.events(log.run)
    local result = cli_run.run { "soak.lua", "--resume", log.run, "--rounds", "1", "--rate", "1G",
      "--pause", "0" }
    local verdict = soak_run.verdict(log, result, "passed", 0)
    lu.assertTrue(verdict.soaked_ns > 0)
    local events, seq = cli_run.events(log.run), 0
    for _, event in ipairs(events) do
      lu.assertEquals(event.seq, seq + 1)
      seq = event.seq
    end
    lu.assertTrue(#events > before)
    lu.assertTrue(cli_run.events_of(log.run, "start")[2].resumed)
    if name ~= "write" then
      local verified = 0
      for _, event in ipairs(cli_run.events_of(log.run, "measure")) do
        if event.case_id == "resume.verify" then
          verified = verified + event.result.verify.sectors
          lu.assertEquals(event.result.verify.bad_sectors, 0)
        end
      end
      lu.assertEquals(verified, (4 << 20) // 512)
    end
    lu.assertEquals(soak_run.leftovers(place.path), {})
  end
end

-- A call that lasts for seconds is not waited for, and is no failure of the
-- medium either; what was left behind is taken over by the next run.
function suite.test_INT_during_a_slow_write()
  cli_run.within(1, function()
    local place <close> = disk.fault()
    local log <close> = soak_run.log()
    local second <close> = soak_run.log()
    place:tell("only storlua.soak\nslow write 2500")
    local run <close> = soak_run.start(place.path, log, { "--time", "1h" })
    run:wait_event(log.run, soak_run.is("writing", 1), 20)
    task.sleep(0.2)
    run:signal("INT")
    local result = run:finish(10)
    soak_run.verdict(log, result, "interrupted", 130)
    local stuck = cli_run.events_of(log.run, "stuck")
    lu.assertTrue(stuck[1].abandoned)
    place:tell("clear")
    task.sleep(2.5)
    soak_run.verdict(second, soak_run.run(place.path, second, { "--rounds", "1" }), "passed", 0)
    lu.assertEquals(soak_run.leftovers(place.path), {})
    return result.seconds
  end)
end

function suite.test_INT_twice_ends_at_once()
  local place <close> = disk.fault()
  local log <close> = soak_run.log()
  place:tell("hang write")
  local run <close> = soak_run.start(place.path, log, { "--time", "1h" })
  disk.wait_until(10, "a write hangs", function() return place:count("hanging") > 0 end)
  run:signal("INT")
  task.sleep(0.3) -- two signals that are both still pending are one
  run:signal("INT")
  local result = run:finish(10)
  lu.assertEquals(result.code, 130, result.stderr)
  lu.assertTrue(result.seconds < 0.8, result.seconds)
end

function suite.test_second_run_in_the_same_directory()
  local place <close> = disk.directory()
  local log <close> = soak_run.log()
  local second <close> = soak_run.log()
  local run <close> = in_phase("write", place.path, log)
  local result = soak_run.run(place.path, second, { "--rounds", "1" })
  lu.assertNotEquals(result.code, 0)
  lu.assertStrMatches(result.stdout .. result.stderr, ".*storlua%.soak.*")
  run:signal("INT")
  soak_run.verdict(log, run:finish(10), "interrupted", 130)
end

function suite.test_second_run_with_the_same_run_folder()
  local place <close> = disk.directory()
  local other <close> = disk.directory()
  local log <close> = soak_run.log()
  local run <close> = in_phase("write", place.path, log)
  local result = soak_run.run(other.path, log, { "--rounds", "1" })
  lu.assertNotEquals(result.code, 0)
  lu.assertEquals(soak_run.leftovers(other.path), {})
  run:signal("INT")
  soak_run.verdict(log, run:finish(10), "interrupted", 130)
end

return suite
