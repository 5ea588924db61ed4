-- SPDX-License-Identifier: MIT
--- The iozone procedure when something goes wrong in the middle: no cell is
--- lost, the reason is told, and the run goes on where it was.

local cli_run = require("cli_run")
local disk = require("disk")
local fs = require("storlua.fs")
local lu = require("luaunit")
local process = require("storlua.process")

local suite = {}

local function start(folder, words, more)
  local argv = { "--output", folder .. "/run" }
  table.move(more or {}, 1, #(more or {}), #argv + 1, argv)
  argv[#argv + 1] = "iozone.lua"
  table.move(words, 1, #words, #argv + 1, argv)
  argv.cwd = folder
  return cli_run.start(argv)
end

local function end_of(run_dir)
  local list = cli_run.events_of(run_dir, "x_iozone_end")
  return list[#list]
end

local function accounted(finish)
  local skipped = 0
  for _, one in ipairs(finish.skipped) do skipped = skipped + one.cells end
  lu.assertEquals(finish.skipped_cells, skipped)
  lu.assertEquals(finish.planned, finish.done + skipped)
end

function suite.test_disk_full_in_the_middle()
  local memory <close> = disk.file_system("tmpfs", { size = "1536k" })
  local folder <close> = fs.temp_dir()
  local run <close> = start(folder.path, { "-s", "256k", "-s", "4m", "-r", "64k", "-i", "0", "-i",
    "1", "--ignore-space", "-f", memory.path .. "/F" })
  local result = run:finish()
  lu.assertEquals(result.code, 1, run:text())
  lu.assertStrContains(result.stdout, "FAIL")
  lu.assertStrContains(result.stdout, "is full")
  local finish = end_of(folder.path .. "/run")
  accounted(finish)
  lu.assertEquals({ finish.planned, finish.done }, { 8, 5 })
  lu.assertStrContains(finish.skipped[1].reason, "iozone.4096k.64k.write failed")
  lu.assertEquals(fs.list(memory.path), {})
  -- the cells before are there
  local text = cli_run.run { "report", folder.path .. "/run", "--to", "iozone" }.stdout
  lu.assertStrContains(text, "             256      64")
end

function suite.test_the_timed_flush_fails()
  local fault <close> = disk.fault()
  local folder <close> = fs.temp_dir()
  local run <close> = start(folder.path, { "-e", "-a", "-n", "64k", "-g", "512m", "-i", "0",
    "-f", fault.path .. "/F" })
  run:wait_event(folder.path .. "/run", function(e) return e.kind == "measure" end)
  fault:tell("fsync EIO")
  local result = run:finish()
  lu.assertEquals(result.code, 1, run:text())
  lu.assertStrContains(result.stdout, "EIO")
  accounted(end_of(folder.path .. "/run"))
  local measures = cli_run.events_of(folder.path .. "/run", "measure")
  lu.assertEquals(measures[#measures].verdict, "fail")
  lu.assertEquals(measures[#measures].result.errors[1].op, "flush")
end

function suite.test_a_read_error_and_keep_going()
  local fault <close> = disk.fault()
  local folder <close> = fs.temp_dir()
  fault:tell("read EIO 131072")
  local run <close> = start(folder.path, { "-s", "64k", "-s", "256k", "-r", "64k", "-r", "32k",
    "-i", "0", "-i", "1", "--keep-going", "-f", fault.path .. "/F" })
  lu.assertEquals(run:finish().code, 1)
  local finish = end_of(folder.path .. "/run")
  accounted(finish)
  -- of the two rows of the larger file each loses its second read
  lu.assertEquals({ finish.planned, finish.done }, { 16, 14 })
end

function suite.test_a_stream_that_fails()
  local fault <close> = disk.fault()
  local folder <close> = fs.temp_dir()
  fault:tell("only bad")
  fault:tell("write EIO 131072")
  local run <close> = start(folder.path, { "-x", "-t", "2", "-s", "1m", "-r", "64k", "-i", "0",
    "-i", "1", "-F", folder.path .. "/good", fault.path .. "/bad" })
  local result = run:finish()
  lu.assertEquals(result.code, 1, run:text())
  lu.assertStrContains(result.stdout, "initial writers: FAIL")
  accounted(end_of(folder.path .. "/run"))
  lu.assertEquals(end_of(folder.path .. "/run").done, 1)
  lu.assertFalse(fs.exists(folder.path .. "/good"))
end

function suite.test_damage_is_found_and_the_file_is_kept()
  local fault <close> = disk.fault()
  local folder <close> = fs.temp_dir()
  fault:tell("flip 70000 1")
  local run <close> = start(folder.path, { "-+d", "-s", "256k", "-r", "64k", "-i", "0", "-i", "1",
    "-f", fault.path .. "/F" })
  lu.assertEquals(run:finish().code, 1, run:text())
  lu.assertEquals(cli_run.verdict(folder.path .. "/run").bad_sectors, 1)
  lu.assertTrue(fs.exists(fault.path .. "/F"))
  fault:tell("clear")
end

function suite.test_stop_in_a_cell()
  local folder <close> = fs.temp_dir()
  local run <close> = start(folder.path, { "-a", "-n", "64k", "-g", "256m", "-i", "0", "-i", "1",
    "-o", "-f", folder.path .. "/F" })
  run:wait_event(folder.path .. "/run", function(e) return e.case_id == "iozone.64k.8k.write" end)
  run:signal("INT")
  local result = run:finish()
  lu.assertEquals(result.code, 130, run:text())
  lu.assertStrContains(result.stdout, "skipped")
  accounted(end_of(folder.path .. "/run"))
  lu.assertFalse(fs.exists(folder.path .. "/F"))
end

function suite.test_killed_and_resumed()
  local folder <close> = fs.temp_dir()
  local words = { "-a", "-n", "64k", "-g", "512k", "-i", "0", "-i", "1", "-o", "-Rf",
    folder.path .. "/F" }
  local run <close> = start(folder.path, words)
  run:wait_event(folder.path .. "/run", function(e)
    return e.case_id == "iozone.64k.16k.rewrite"
  end)
  process.run { "sh", "-c", "kill -9 $(pgrep -g " .. run.child.pid .. ")" }
  run:finish()
  local before = #cli_run.events_of(folder.path .. "/run", "measure")
  local partial = cli_run.run { "report", folder.path .. "/run", "--to", "iozone" }
  lu.assertStrContains(partial.stdout, "known so far")
  local result = cli_run.run { "--resume", folder.path .. "/run", "iozone.lua", cwd = folder.path }
  lu.assertEquals(result.code, 0, result.stdout .. result.stderr)
  local finish = end_of(folder.path .. "/run")
  accounted(finish)
  lu.assertEquals(finish.done, finish.planned)
  -- at least the first two rows were not measured again, and every cell is there
  lu.assertTrue(finish.taken_over >= 8)
  lu.assertTrue(#cli_run.events_of(folder.path .. "/run", "measure") < before + finish.planned)
  local _, rows = result.stdout:gsub("\n +%d+ +%d+ [ %d*]+", "")
  lu.assertEquals(rows, 5 + 6 + 7 + 8)
  lu.assertFalse(fs.exists(folder.path .. "/F"))
end

function suite.test_remount()
  local loop <close> = disk.loop()
  local folder <close> = fs.temp_dir()
  process.run { "mkfs.ext4", "-q", loop.device }
  -- mount(8) finds the place by its entry in the table of file systems; in a
  -- name space of its own, so that the machine's stays as it is
  local point, table_file = folder.path .. "/point", folder.path .. "/fstab"
  fs.mkdir(point)
  fs.write_atomic(table_file, ("%s %s ext4 noauto 0 0\n"):format(loop.device, point))
  local argv = { "unshare", "-m", "sh", "-c",
    "mount --bind \"$1\" /etc/fstab && mount \"$2\" && shift 2 && exec \"$@\"", "sh", table_file,
    point, cli_run.program, "--output", folder.path .. "/run", "iozone.lua", "-s", "256k", "-r",
    "64k", "-i", "0", "-i", "1", "-U", point, "-f", point .. "/F" }
  local result = process.try_run(argv)
  lu.assertEquals(result.code, 0, result.stdout .. result.stderr)
  for _, event in ipairs(cli_run.events_of(folder.path .. "/run", "measure")) do
    if event.result.read then lu.assertTrue(event.result.cache.cold, event.case_id) end
  end
  fs.remove_tree(folder.path .. "/run")
  local run <close> = start(folder.path, { "-s", "64k", "-U", folder.path, "-i", "0" })
  local result_of_none = run:finish()
  lu.assertEquals(result_of_none.code, 1, run:text())
  lu.assertStrContains(result_of_none.stdout, "-U: umount")
  accounted(end_of(folder.path .. "/run"))
end

-- A selection that only reads writes too, where the file is not there.
function suite.test_the_plan_counts_what_is_prepared()
  local folder <close> = fs.temp_dir()
  for words, planned in pairs {
    ["-i 1 -i 2 -i 9 -s 64k -s 128k -r 64k"] = (64 + 128) * (1 + 3),
    ["-i 1 -s 64k -t 2"] = 2 * 64, ["-i 0 -i 1 -s 64k"] = 2 * 64,
  } do
    local argv = { "--output", folder.path .. "/run", "iozone.lua", cwd = folder.path }
    for word in words:gmatch("%S+") do argv[#argv + 1] = word end
    local result = cli_run.run(argv)
    lu.assertEquals(result.code, 0, result.stdout .. result.stderr)
    local plan = cli_run.events_of(folder.path .. "/run", "x_iozone_plan")[1]
    lu.assertEquals(plan.bytes_written, planned * 1024, words)
    local written = 0
    for _, one in ipairs(cli_run.events_of(folder.path .. "/run", "measure")) do
      written = written + (one.result.write and one.result.write.bytes or 0)
    end
    lu.assertEquals(written, plan.bytes_written, words)
    fs.remove_tree(folder.path .. "/run")
  end
  fs.write_atomic(folder.path .. "/old", ("x"):rep(65536))
  lu.assertEquals(cli_run.run { "--output", folder.path .. "/run", "iozone.lua", "-i", "1", "-s",
    "64k", "-f", folder.path .. "/old" }.code, 0)
  local plan = cli_run.events_of(folder.path .. "/run", "x_iozone_plan")[1]
  lu.assertEquals(plan.bytes_written, 0)
end

return suite
