-- SPDX-License-Identifier: MIT
--- Corruption behind our back, in every class that the classifier knows: the
--- run fails, says what it found and where, and keeps the file.

local cli_run = require("cli_run")
local disk = require("disk")
local lu = require("luaunit")
local process = require("storlua.process")
local soak_run = require("soak_run")

local suite = {}

local AT <const> = (4 << 20) - 65536 -- far in the file: there is time to plant it

local function damage_of(log)
  local damage, offsets = {}, {}
  for _, event in ipairs(cli_run.events_of(log.run, "measure")) do
    local verify = event.result.verify
    for kind, count in pairs(verify and verify.damage or {}) do
      if count > 0 then damage[kind] = (damage[kind] or 0) + count end
    end
    for _, bad in ipairs(verify and verify.bad or {}) do offsets[bad.offset] = bad.kind end
  end
  return damage, offsets
end

local function fails_with(kind, place, log, result)
  soak_run.verdict(log, result, "failed", 1)
  local damage, offsets = damage_of(log)
  lu.assertTrue((damage[kind] or 0) > 0, kind .. " in " .. lu.prettystr(damage))
  lu.assertEquals(offsets[AT], kind)
  lu.assertStrContains(result.stdout .. result.stderr, kind)
  lu.assertEquals(soak_run.leftovers(place.path), { "storlua.soak", "storlua.soak.owner" })
end

-- What the medium returns is wrong from the start.
local on_read = {
  zero = "zero %d",
  ones = "ones %d",
  flips = "flip %d+100 3",
  torn = "garbage %d+100 412",
  garbage = "garbage %d",
  address = "misdirect %d 0",
}
for kind, command in pairs(on_read) do
  suite["test_" .. kind] = function()
    local place <close> = disk.fault()
    local log <close> = soak_run.log()
    place:tell((command:gsub("%%d%+100", tostring(AT + 100)):gsub("%%d", tostring(AT))))
    fails_with(kind, place, log, soak_run.run(place.path, log, { "--rounds", "1" }))
  end
end

function suite.test_stale()
  local place <close> = disk.fault()
  local log <close> = soak_run.log()
  place:tell("slow read 50")
  local run <close> = soak_run.start(place.path, log, { "--rounds", "1" })
  run:wait_event(log.run, soak_run.is("flushed", 1), 20)
  place:tell("clear\nstale " .. AT)
  fails_with("stale", place, log, run:finish(30))
end

-- Found by a pass that was then cut off: the file stays all the same.
function suite.test_stopped_after_it_was_found()
  local place <close> = disk.fault()
  local log <close> = soak_run.log()
  place:tell("zero 4096\nslow read 200")
  local run <close> = soak_run.start(place.path, log, { "--rounds", "1" })
  run:wait_event(log.run, soak_run.is("flushed", 1), 20)
  local before = place:count("read")
  disk.wait_until(20, "the bad sector is read", function()
    return place:count("read") >= before + 4
  end)
  run:signal("INT")
  local result = run:finish(20)
  soak_run.verdict(log, result, "failed", 1)
  lu.assertEquals(soak_run.leftovers(place.path), { "storlua.soak", "storlua.soak.owner" })
end

local function sector(path, to, offset)
  process.run { "dd", "status=none", "bs=512", "if=" .. path, "of=" .. to,
    "count=1", "skip=" .. offset // 512 }
end

local function plant(from, path, offset)
  process.run { "dd", "status=none", "bs=512", "if=" .. from, "of=" .. path, "count=1",
    "seek=" .. offset // 512, "conv=notrunc" }
end

function suite.test_run()
  local place <close> = disk.fault()
  local log <close> = soak_run.log()
  local earlier <close> = soak_run.log()
  local saved = earlier.path .. "/sector"
  local first = soak_run.run(place.path, earlier, { "--rounds", "1", "--keep" })
  soak_run.verdict(earlier, first, "passed", 0)
  sector(place.backing .. "/storlua.soak", saved, AT)
  process.run { "rm", place.backing .. "/storlua.soak", place.backing .. "/storlua.soak.owner" }
  place:tell("slow read 50")
  local run <close> = soak_run.start(place.path, log, { "--rounds", "1" })
  run:wait_event(log.run, soak_run.is("flushed", 1), 20)
  plant(saved, place.backing .. "/storlua.soak", AT)
  fails_with("run", place, log, run:finish(30))
end

function suite.test_rotten_at_rest()
  local place <close> = disk.directory()
  local log <close> = soak_run.log()
  local run <close> = soak_run.start(place.path, log, { "--rounds", "2", "--pause", "2" })
  run:wait_event(log.run, function(event)
    return event.kind == "round" and event.phase == "end"
  end, 20)
  process.run { "dd", "status=none", "bs=512", "if=/dev/zero", "of=" .. place.path
    .. "/storlua.soak", "count=1", "seek=" .. AT // 512, "conv=notrunc,fsync" }
  local result = run:finish(30)
  fails_with("zero", place, log, result)
  lu.assertStrContains(result.stdout, "rest_read: 1 bad sectors")
end

-- The log lost its tail and the medium did not: what is on it is newer than
-- anything that was promised.
function suite.test_newer()
  local place <close> = disk.directory()
  local log <close> = soak_run.log()
  do -- killed in the pause between two rounds
    local run <close> = soak_run.start(place.path, log, { "--rounds", "2", "--pause", "60",
      "--time", "1h" })
    run:wait_event(log.run, soak_run.is("flushed", 2), 20)
    run:signal("KILL")
    run:finish(10)
  end
  local kept = {}
  for line in io.open(log.run .. "/events.jsonl"):read("a"):gmatch("[^\n]+\n") do
    if line:find('"kind":"writing"', 1, true) and line:find('"generation":2', 1, true) then
      break
    end
    kept[#kept + 1] = line
  end
  local file <close> = assert(io.open(log.run .. "/events.jsonl", "w"))
  file:write(table.concat(kept))
  file:close()
  local result = cli_run.run { "soak.lua", "--resume", log.run, "--rounds", "1" }
  lu.assertEquals(result.code, 1, result.stdout .. result.stderr)
  lu.assertTrue((damage_of(log).newer or 0) > 0)
end

return suite
