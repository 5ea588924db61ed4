-- SPDX-License-Identifier: MIT
--- The raw-device tests as a user runs them: on files and on loop devices.

local cli_run = require("cli_run")
local disk = require("disk")
local lu = require("luaunit")
local process = require("storlua.process")
local task = require("storlua.task")
local throttle = require("throttle")

local suite = {}

local IDS = {
  "severe.seq_write", "severe.seq_read", "severe.rand_write", "severe.rand_read",
  "less_severe.seq_write", "less_severe.seq_read", "less_severe.rand_write",
  "less_severe.rand_read",
}

local function rawblock(place, argv)
  local all = { "rawblock.lua", "--output", place.path .. "/run", cwd = place.path }
  table.move(argv, 1, #argv, #all + 1, all)
  for _ = 1, 5 do
    local result = cli_run.run(all)
    -- Another test's losetup, looking for a free device, had this one open.
    if not result.stdout:find("%(losetup%) has it open") then return result end
    process.run { "rm", "-r", place.path .. "/run" }
  end
end

local function measures(place)
  local by_id = {}
  for _, event in ipairs(cli_run.events_of(place.path .. "/run", "measure")) do
    by_id[event.case_id] = by_id[event.case_id] or {}
    table.insert(by_id[event.case_id], event)
  end
  return by_id
end

function suite.test_a_file()
  local place <close> = disk.directory()
  local result = rawblock(place, { "--target", place.path .. "/my file", "--size", "8M",
    "--runtime", "0.05", "--runs", "3" })
  lu.assertEquals(result.code, 0, result.stdout .. result.stderr)
  lu.assertNil(io.open(place.path .. "/my file"), "the file is removed")
  local found, seeds = measures(place), {}
  lu.assertEquals(#found.fill, 1)
  for _, id in ipairs(IDS) do
    lu.assertEquals(#found[id], 3, id)
    for run, event in ipairs(found[id]) do
      local spec, writes = event.spec, id:find("write") ~= nil
      lu.assertEquals(event.labels.run, run)
      lu.assertTrue(spec.direct)
      lu.assertEquals(spec.record_bytes, id:find("seq") and 1 << 20 or 4096)
      lu.assertEquals(spec.open_sync, writes and id:find("^severe") and "full" or "none", id)
      lu.assertEquals(spec.flush, writes and id:find("^less") and "end" or "none", id)
      lu.assertNil(seeds[spec.seed], "each test has an order of its own")
      seeds[spec.seed] = true
      if writes then
        local r = event.result
        local flush_ns = type(r.flush) == "table" and r.flush.ns or 0
        lu.assertTrue(r.total_ns >= r.write.io_ns + flush_ns)
      end
    end
  end
  for _, text in ipairs { "In brief", "Severe against less severe", "p99.99", "coverage",
    "What these numbers rest on", "sync means", "4 KiB random read", "the same test twice" } do
    lu.assertStrContains(result.stdout, text)
  end
  lu.assertEquals(#cli_run.events_of(place.path .. "/run", "x_cache_drop"), 24)
  -- The same tables later.
  local later = cli_run.run { "report", place.path .. "/run", "--to", "rawblock" }
  lu.assertEquals(later.code, 0)
  lu.assertStrContains(result.stdout, later.stdout)
end

function suite.test_two_runs_are_not_judged()
  local place <close> = disk.directory()
  local result = rawblock(place, { "--target", place.path, "--size", "2M", "--runtime", "0.02",
    "--runs", "1", "--keep" })
  lu.assertEquals(result.code, 0, result.stdout .. result.stderr)
  lu.assertStrContains(result.stdout, "too few runs to judge")
  lu.assertNotNil(io.open(place.path .. "/storlua.rawblock"))
end

-- The tail of the device is less than a large record.
local function on_loop(sector, size)
  local loop <close> = disk.loop { size = size, sector = sector }
  local place <close> = disk.directory()
  local refused = rawblock(place, { "--target", loop.device, "--runs", "1" })
  lu.assertEquals(refused.code, 5, refused.stdout .. refused.stderr)
  lu.assertStrContains(refused.stdout, "--destroy 'loop:" .. loop.backing .. "'")
  process.run { "rm", "-r", place.path .. "/run" }
  local result = rawblock(place, { "--target", loop.device, "--destroy",
    "loop:" .. loop.backing, "--runtime", "0.05", "--runs", "1", "--fill" })
  lu.assertEquals(result.code, 0, result.stdout .. result.stderr)
  lu.assertStrContains(result.stdout, "held alone")
  local found = measures(place)
  for _, id in ipairs(IDS) do
    local r, name = found[id][1].result, id:match("[^_]+$")
    lu.assertTrue(r.target.is_block)
    -- The device counted what was issued: nobody else uses it.
    lu.assertEquals(r.device[name .. "_bytes"], r[name].bytes, id)
  end
end

function suite.test_a_loop_device() on_loop("512", "12288512") end
function suite.test_a_loop_device_with_large_sectors() on_loop("4096", "12292096") end

function suite.test_a_device_in_use_is_refused()
  local mounted <close> = disk.file_system("ext4")
  local place <close> = disk.directory()
  local result = rawblock(place, { "--target", mounted.device, "--destroy",
    "loop:" .. mounted.backing, "--force-signature" })
  lu.assertEquals(result.code, 5, result.stdout .. result.stderr)
  lu.assertStrContains(result.stdout, mounted.path)
  -- A missing device does not become a file.
  local missing = rawblock(place, { "--target", "/dev/storlua-none", "--destroy", "x" })
  lu.assertEquals(missing.code, 2)
  lu.assertNil(io.open("/dev/storlua-none"))
  local role = rawblock(place, { "--target", "emmc", "--board", "generic" })
  lu.assertEquals(role.code, 2)
  lu.assertStrContains(role.stderr, "role emmc")
end

function suite.test_a_device_that_vanishes_in_mid_run()
  local loop <close> = disk.loop { size = "64M" }
  local place <close> = disk.directory()
  local watcher <close> = task.scope()
  watcher:spawn("shrink", function()
    disk.wait_until(30, "the first test is done", function()
      return cli_run.events_of(place.path .. "/run", "measure")[1]
    end)
    process.run { "truncate", "-s", "1M", loop.backing }
  end)
  local result = rawblock(place, { "--target", loop.device, "--destroy",
    "loop:" .. loop.backing, "--runtime", "1.5", "--runs", "1" })
  lu.assertEquals(result.code, 1, result.stdout .. result.stderr)
  lu.assertStrContains(result.stdout, "because  severe.seq_read: ")
  lu.assertStrContains(result.stdout, "first: EIO: read " .. loop.device)
  lu.assertStrContains(result.stdout, "the first failure ends the tests")
end

function suite.test_reading_holes_is_not_believed()
  local place <close> = disk.directory()
  process.run { "truncate", "-s", "8M", place.path .. "/sparse" }
  local result = rawblock(place, { "--target", place.path .. "/sparse", "--read-only",
    "--runtime", "0.02", "--runs", "1" })
  lu.assertEquals(result.code, 1, result.stdout .. result.stderr)
  lu.assertStrContains(result.stdout, "holes or unwritten extents: reading them is no I/O")
  local loop <close> = disk.loop { size = "8M" }
  process.run { "rm", "-r", place.path .. "/run" }
  result = rawblock(place, { "--target", loop.device, "--read-only", "--runtime", "0.02",
    "--runs", "1" })
  lu.assertEquals(result.code, 0, result.stdout .. result.stderr)
  lu.assertStrContains(result.stdout, "of it are holes: reading them is no I/O")
  lu.assertEquals(cli_run.verdict(place.path .. "/run").bytes_written, 0)
end

function suite.test_a_slow_device()
  local loop <close> = disk.loop { size = "32M" }
  local place <close> = disk.directory()
  local limit = 10 << 20
  local group <close> = throttle.device(loop.device, limit)
  local result = process.try_run(group.wrap { cli_run.program, "rawblock.lua", "--output",
    place.path .. "/run", "--target", loop.device, "--destroy", "loop:" .. loop.backing,
    "--runtime", "1", "--runs", "1" })
  lu.assertEquals(result.code, 0, result.stdout .. result.stderr)
  for id, events in pairs(measures(place)) do
    local r, name = events[1].result, id:match("[^_]+$")
    local rate = r[name].bytes / (r.total_ns / 1e9)
    lu.assertTrue(rate <= limit * 1.25, ("%s: %.0f"):format(id, rate))
  end
end

function suite.test_no_medium_and_read_only()
  local place <close> = disk.directory()
  local loop <close> = disk.loop { size = "4M" }
  process.run { "blockdev", "--setro", loop.device }
  local locked = rawblock(place, { "--target", loop.device, "--destroy",
    "loop:" .. loop.backing })
  lu.assertEquals(locked.code, 5, locked.stdout)
  lu.assertStrContains(locked.stdout, "read-only")
  process.run { "blockdev", "--setrw", loop.device }
  process.run { "truncate", "-s", "0", loop.backing }
  process.run { "losetup", "-c", loop.device }
  for _, argv in ipairs {
    { "rawblock.lua", "--target", loop.device, "--destroy", "loop:" .. loop.backing },
    { "dd.lua", "if=" .. loop.device, "of=/dev/null" },
    { "fio.lua", "--name=a", "--filename=" .. loop.device },
  } do
    argv.cwd = place.path
    local empty = cli_run.run(argv)
    lu.assertEquals(empty.code, 2, empty.stdout .. empty.stderr)
    lu.assertStrContains(empty.stdout .. empty.stderr, "no medium")
  end
end

function suite.test_bad_values()
  local place <close> = disk.directory()
  for _, argv in ipairs {
    { "--target", place.path, "--size", "4k" },
    { "--target", place.path, "--size", "7E" },
    { "--target", place.path .. "/no/file" },
    { "--target", "" },
    { "--target", place.path, "--runs", "0" },
    { "--target", place.path, "--read-only" },
    { "--target", place.path, "--size", "10000001" },
    { "--target", place.path, "--size", "8M", "--record", "1000000" },
    { "--target", place.path, "--size", "8M", "--random-record", "700" },
    { "--target", "/dev/shm/storlua-rawblock", "--size", "8M" },
    {},
  } do
    local result = rawblock(place, argv)
    lu.assertEquals(result.code, 2, table.concat(argv, " ") .. result.stdout)
    process.run { "rm", "-rf", place.path .. "/run" }
  end
  lu.assertEquals(process.run { "ls", place.path }.stdout, "")
end

-- What no sector of this device fits is known before it is overwritten.
function suite.test_records_below_a_sector_change_nothing()
  local loop <close> = disk.loop { size = "8M", sector = "4096" }
  local place <close> = disk.directory()
  for option, bytes in pairs { ["--random-record"] = "512", ["--size"] = "4194816" } do
    local result = rawblock(place, { "--target", loop.device, "--destroy",
      "loop:" .. loop.backing, "--fill", "--runs", "1", option, bytes })
    lu.assertEquals(result.code, 2, result.stdout .. result.stderr)
    lu.assertStrContains(result.stdout, option .. " " .. bytes .. ": direct I/O on")
    lu.assertStrContains(result.stdout, "needs multiples of 4096 bytes")
  end
  lu.assertEquals(process.run { "cmp", "-n", "8388608", loop.backing, "/dev/zero" }.code, 0)
end

-- A second pass through the page cache would come from there; what is written
-- several times there reaches the device once.
function suite.test_without_direct_io()
  local place <close> = disk.directory()
  local result = rawblock(place, { "--target", place.path, "--size", "4000001", "--runtime", "0.3",
    "--runs", "1", "--direct", "off" })
  lu.assertEquals(result.code, 0, result.stdout .. result.stderr)
  for _, id in ipairs { "severe.seq_read", "less_severe.rand_read" } do
    lu.assertEquals(measures(place)[id][1].result.read.bytes, 4000001)
  end
  process.run { "rm", "-r", place.path .. "/run" }
  local loop <close> = disk.loop { size = "4M" }
  result = rawblock(place, { "--target", loop.device, "--destroy", "loop:" .. loop.backing,
    "--runtime", "0.2", "--runs", "1", "--direct", "off" })
  lu.assertEquals(result.code, 0, result.stdout .. result.stderr)
end

function suite.test_a_file_is_read_in_whole_sectors()
  local place <close> = disk.directory()
  process.run { "dd", "if=/dev/urandom", "of=" .. place.path .. "/odd", "bs=3000001", "count=1",
                "conv=fsync", "status=none" }
  local result = rawblock(place, { "--target", place.path .. "/odd", "--read-only", "--runtime",
    "0.05", "--runs", "1" })
  lu.assertEquals(result.code, 0, result.stdout .. result.stderr)
  lu.assertEquals(measures(place)["severe.seq_read"][1].spec.range_bytes, 3000001 // 512 * 512)
end

-- Nobody holds a device that is only read.
function suite.test_a_device_that_is_detached_between_two_tests()
  disk.need_root()
  local place <close> = disk.directory()
  local backing, is_attached = place.path .. "/disk.img", true
  process.run { "truncate", "-s", "8M", backing }
  local device = process.run { "losetup", "-f", "--show", backing }.stdout:match("%S+")
  local function detach()
    if is_attached then process.run { "losetup", "-d", device } end
    is_attached = false
  end
  local _ <close> = task.defer(detach)
  local watcher <close> = task.scope()
  watcher:spawn("detach", function()
    disk.wait_until(30, "the first test is done", function()
      return cli_run.events_of(place.path .. "/run", "measure")[1]
    end)
    detach()
  end)
  local result = rawblock(place, { "--target", device, "--read-only", "--runtime", "1",
    "--runs", "3" })
  lu.assertEquals(result.code, 1, result.stdout .. result.stderr)
  lu.assertNotNil(result.stdout:find("because  [%w_.]+ in run 1: " .. device
    .. " is another device now"), result.stdout)
end

function suite.test_a_folder_that_is_read_only()
  local mounted <close> = disk.file_system("tmpfs", { options = "ro,size=8M" })
  local place <close> = disk.directory()
  local result = rawblock(place, { "--target", mounted.path .. "/x", "--size", "4M", "--direct",
    "off" })
  lu.assertEquals(result.code, 2, result.stdout .. result.stderr)
  lu.assertStrContains(result.stdout, "no file can be made in")
end

function suite.test_killed_and_resumed()
  local place <close> = disk.directory()
  local out = place.path .. "/run"
  local run <close> = cli_run.start { "rawblock.lua", "--output", out, "--target",
    place.path .. "/x", "--size", "4M", "--runtime", "0.2", "--runs", "2", cwd = place.path }
  run:wait_line("less_severe.seq_read", 30)
  run:signal("KILL")
  pcall(run.finish, run, 20)
  -- Other records would be of another test, in the same row.
  for option, value in pairs { ["--record"] = "2M", ["--size"] = "8M", ["--direct"] = "off" } do
    local other = cli_run.run { "--resume", out, "rawblock.lua", option, value, cwd = place.path }
    lu.assertEquals(other.code, 2, other.stdout .. other.stderr)
    lu.assertStrContains(other.stdout, option .. " was ")
  end
  local result = cli_run.run { "--resume", out, "rawblock.lua", "--target", place.path .. "/x" }
  lu.assertEquals(result.code, 0, result.stdout .. result.stderr)
  for _, id in ipairs(IDS) do lu.assertEquals(#measures(place)[id], 2, id) end
end

function suite.test_a_device_is_filled_once()
  local loop <close> = disk.loop { size = "4M" }
  local place <close> = disk.directory()
  local out, consent = place.path .. "/run", "loop:" .. loop.backing
  local run <close> = cli_run.start { "rawblock.lua", "--output", out, "--target", loop.device,
    "--destroy", consent, "--runtime", "0.2", "--runs", "1", "--fill" }
  run:wait_line("severe.seq_read", 30)
  run:signal("KILL")
  pcall(run.finish, run, 20)
  local result = cli_run.run { "--resume", out, "rawblock.lua", "--target", loop.device,
    "--destroy", consent, "--fill" }
  lu.assertEquals(result.code, 0, result.stdout .. result.stderr)
  lu.assertEquals(#measures(place).fill, 1)
end

return suite
