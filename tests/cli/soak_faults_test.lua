-- SPDX-License-Identifier: MIT
--- A medium that fails, fills up, cuts transfers short, is slow or does not
--- answer at all.

local cli_run = require("cli_run")
local disk = require("disk")
local lu = require("luaunit")
local procedure_run = require("procedure_run")
local process = require("storlua.process")
local soak_run = require("soak_run")

local suite = {}

local function fails_with(command, pattern, check)
  local place <close> = disk.fault()
  local log <close> = soak_run.log()
  place:tell(command)
  local result = soak_run.run(place.path, log, { "--rounds", "1" })
  soak_run.verdict(log, result, "failed", 1)
  lu.assertStrMatches(result.stdout .. result.stderr, ".*" .. pattern .. ".*")
  if check then check(cli_run.events_of(log.run, "measure"), place) end
end

local function has_error(op, code, offset)
  return function(measures)
    for _, event in ipairs(measures) do
      for _, err in ipairs(event.result.errors) do
        if err.op == op and err.code == code and (not offset or err.offset == offset) then
          return
        end
      end
    end
    lu.fail(("no %s %s in the events"):format(op, code))
  end
end

function suite.test_EIO_on_read()
  fails_with("read EIO 1048576", "EIO", has_error("read", "EIO", 1048576))
end

function suite.test_EIO_on_write()
  fails_with("write EIO 1048576", "EIO", has_error("write", "EIO", 1048576))
end

function suite.test_EIO_on_fsync()
  local place <close> = disk.fault()
  local log <close> = soak_run.log()
  place:tell("slow write 30")
  local run <close> = soak_run.start(place.path, log, { "--rounds", "1" })
  run:wait_event(log.run, soak_run.is("writing", 1), 10)
  place:tell("clear\nfsync EIO")
  local result = run:finish(20)
  soak_run.verdict(log, result, "failed", 1)
  has_error("flush", "EIO")(cli_run.events_of(log.run, "measure"))
end

-- Such a medium does not even take the note whose file it is.
function suite.test_EIO_on_the_first_fsync()
  local place <close> = disk.fault()
  local log <close> = soak_run.log()
  place:tell("fsync EIO")
  local result = soak_run.run(place.path, log, { "--rounds", "1" })
  lu.assertTrue(result.code == 1 or result.code == 3, result.code)
  lu.assertStrContains(result.stderr, "EIO: fsync")
end

function suite.test_full_in_mid_write()
  -- Whole blocks, as a file system has them; some go to the probe of O_DIRECT.
  fails_with("only storlua.soak\nenospc after 1003520", "ENOSPC", function(measures)
    local result = measures[1].result
    lu.assertEquals(result["end"], "no_space")
    lu.assertTrue(result.write.bytes > 900000 and result.write.bytes <= 1003520)
  end)
end

function suite.test_a_file_system_that_fills_up()
  local place <close> = disk.file_system("tmpfs", { size = "8M" })
  local log <close> = soak_run.log()
  local run <close> = soak_run.start(place.path, log, { "--rounds", "1", "--rate", "2M" })
  run:wait_event(log.run, soak_run.is("writing", 1), 10)
  process.try_run { "dd", "status=none", "if=/dev/zero", "of=" .. place.path .. "/other",
    "bs=64k" }
  local result = run:finish(20)
  soak_run.verdict(log, result, "failed", 1)
  lu.assertStrMatches(result.stdout .. result.stderr, ".*ENOSPC.*")
end

function suite.test_short_transfers_are_no_errors()
  local place <close> = disk.fault()
  local log <close> = soak_run.log()
  place:tell("short read 100000\nshort write 99840")
  local result = soak_run.run(place.path, log, { "--rounds", "1", "--direct", "off" })
  soak_run.verdict(log, result, "passed", 0)
  local write = cli_run.events_of(log.run, "measure")[1].result.write
  lu.assertEquals(write.bytes, 4 << 20)
  lu.assertEquals(write.operations, 16)
  lu.assertTrue(write.calls > 16)
end

-- Told to stop while a thread sits in the kernel: the process is gone within
-- a second, its verdict is written, and what it was stuck in is said.
local function stop_in(op)
  local place <close> = disk.fault()
  local log <close> = soak_run.log()
  place:tell(op == "fsync" and "slow write 30" or "hang " .. op)
  local run <close> = soak_run.start(place.path, log, { "--time", "1h" })
  if op == "fsync" then
    run:wait_event(log.run, soak_run.is("writing", 1), 10)
    place:tell("clear\nhang fsync")
  end
  disk.wait_until(10, op .. " hangs", function() return place:count("hanging") > 0 end)
  run:signal("INT")
  local result = run:finish(10)
  local verdict = cli_run.verdict(log.run)
  lu.assertEquals(result.code, verdict.exit_code)
  lu.assertTrue(result.code ~= 0)
  local stuck = cli_run.events_of(log.run, "stuck")
  lu.assertTrue(#stuck > 0)
  lu.assertTrue(stuck[#stuck].abandoned)
  return result.seconds
end

for _, op in ipairs { "write", "read", "fsync" } do
  suite["test_hang_in_" .. op] = function() cli_run.within(1, function() return stop_in(op) end) end
end

-- One operation that takes longer than --stuck is stalled: it fails the run
-- although it comes back. A shorter one is an event only.
function suite.test_a_stalled_operation_fails_the_run()
  local place <close> = disk.fault()
  for limit, status in pairs { ["600ms"] = "failed", ["6s"] = "passed" } do
    local log <close> = soak_run.log()
    local run <close> = soak_run.start(place.path, log, { "--rounds", "1", "--stuck", limit })
    run:wait_event(log.run, soak_run.is("writing", 1), 10)
    place:tell("hang read 1048576")
    disk.wait_until(10, "a read hangs", function() return place:count("hanging") > 0 end)
    run:wait_event(log.run, function(one) return one.kind == "stuck" and one.what == "read"
      and (status == "passed" or one.seconds >= 0.6) end, 10)
    place:tell("release")
    local result = run:finish(20)
    local verdict = soak_run.verdict(log, result, status, status == "failed" and 1 or 0)
    if status == "failed" then
      lu.assertStrContains(verdict.reasons[1], "is stuck in read")
    end
  end
end

-- Timers stand beside it: each fires when it is due.
function suite.test_timers_are_on_time_beside_a_hang()
  local place <close> = disk.fault()
  local script <close> = procedure_run.place([[
    local clock = require("storlua.clock")
    local scope <close> = task.scope()
    scope:spawn("ticks", function()
      while true do
        local due_ns = clock.now_ns() + 50000000
        task.sleep(0.05)
        print(("late %.6f"):format((clock.now_ns() - due_ns) / 1e9))
        io.stdout:flush()
      end
    end)
    t:measure("w", { path = opt.path, operation = "write", size_bytes = "1M" }) ]],
    'options = { { name = "path", type = "string" } },')
  place:tell("hang write")
  local run <close> = cli_run.start { "--output", script.run_dir, script.script, "--path",
    place.path .. "/data" }
  disk.wait_until(10, "a write hangs", function() return place:count("hanging") > 0 end)
  local function ticks()
    local late = {}
    for _, line in ipairs(run.out) do late[#late + 1] = tonumber(line:match("late (.*)")) end
    return late
  end
  cli_run.within(0.02, function()
    local first = #ticks()
    disk.wait_until(20, "20 ticks", function() return #ticks() >= first + 20 end)
    local late = { table.unpack(ticks(), first + 1) }
    lu.assertTrue(math.min(table.unpack(late)) >= 0, "a timer was early")
    return math.max(table.unpack(late))
  end)
  lu.assertEquals(place:count("hanging"), 1)
  run:signal("INT")
  lu.assertEquals(run:finish(10).code, cli_run.verdict(script.run_dir).exit_code)
end

return suite
