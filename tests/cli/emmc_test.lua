-- SPDX-License-Identifier: MIT
--- The eMMC procedures of a vendor's manual: loops, files, verdicts.

local cli_run = require("cli_run")
local disk = require("disk")
local fs = require("storlua.fs")
local lu = require("luaunit")
local process = require("storlua.process")
local workbook = require("storlua.workbook")

local suite = {}

local function run(folder, script, words, board)
  local argv = { "--output", folder .. "/run" }
  if board then table.move({ "--board", board }, 1, 2, #argv + 1, argv) end
  argv[#argv + 1] = script
  table.move(words, 1, #words, #argv + 1, argv)
  argv.cwd = folder
  return cli_run.run(argv)
end

function suite.test_loops_and_what_they_leave()
  local place <close> = disk.file_system("ext4")
  local folder <close> = fs.temp_dir()
  for script, name in pairs { ["emmc_performance.lua"] = "performance",
    ["emmc_stability.lua"] = "stability" } do
    local out = place.path .. "/" .. name
    local result = run(folder.path, script, { "-t", "2h", "-d", "0", "-o", out, "--loops", "2",
      "--largest", "1M" })
    lu.assertEquals(result.code, 0, result.stdout .. result.stderr)
    local base = "test_iozone_emmc_" .. name
    local ending = workbook.available() and ".xlsx" or ".csv"
    lu.assertEquals(fs.list(out),
      { base .. ".log", base .. "_1" .. ending, base .. "_2" .. ending })
    local log = fs.read(out .. "/" .. base .. ".log")
    for _, text in ipairs { "Test duration: 120 minutes", "Sleep duration: 0 seconds",
      "Output directory: " .. out, "loop_test: 1", "loop_test: 2", "Test loop 1 succeeded!",
      "Test loop 2 succeeded!", "O_DIRECT", "  1024    1024" } do
      lu.assertStrContains(log, text)
    end
    lu.assertStrContains(result.stdout, "loop_test: 2")
    lu.assertStrContains(result.stdout, "Test loop 2 succeeded!")
    lu.assertNil(log:lower():find("error"))
    lu.assertEquals(cli_run.verdict(folder.path .. "/run").rounds, 2)
    fs.remove_tree(folder.path .. "/run")
  end
end

function suite.test_speed_limits_of_a_board()
  local place <close> = disk.file_system("ext4")
  local folder <close> = fs.temp_dir()
  local name = place.device:match("[^/]+$")
  local function judged(limit)
    fs.write_atomic(folder.path .. "/kit.lua", ([[return { name = "kit", roles = { usb = {
      host = %q, limits = { { metric = "write.mb_s", statistic = "p50", min = %s, unit = "MB/s",
      applies_to = { operation = "write", order = "sequential", record_bytes_min = "1M" },
      each = "size" } } } } }]]):format(name, limit))
    local result = run(folder.path, "emmc_performance.lua", { "-d", "0", "-o", place.path .. "/o",
      "--loops", "1", "--largest", "1M" }, folder.path .. "/kit.lua")
    fs.remove_tree(folder.path .. "/run")
    return result.code, result.stdout
  end
  local code, text = judged("0.001")
  lu.assertEquals(code, 0, text)
  lu.assertStrContains(text, "usb.write.mb_s.1MiB")
  code, text = judged("1e9")
  lu.assertEquals(code, 1, text)
end

-- A limit on sequential writes has the samples of write, rewrite, fwrite and
-- frewrite: not the record rewrite, and not what prepares a file for it.
function suite.test_what_a_limit_counts()
  local place <close> = disk.file_system("ext4")
  local folder <close> = fs.temp_dir()
  fs.write_atomic(folder.path .. "/kit.lua", ([[return { name = "kit", roles = { usb = {
    host = %q, limits = { { metric = "write.mb_s", min = 0.001,
    applies_to = { order = "sequential" } } } } } }]]):format(place.device:match("[^/]+$")))
  for tests, judged in pairs { ["-i0"] = 1, ["-i6"] = 1, ["-i4"] = 0 } do
    local result = run(folder.path, "iozone.lua", { tests, "-s", "1m", "-r", "64k", "-f",
      place.path .. "/x" }, folder.path .. "/kit.lua")
    lu.assertEquals(result.code, 0, result.stdout .. result.stderr)
    lu.assertEquals(#cli_run.events_of(folder.path .. "/run", "threshold"), judged, tests)
    fs.remove_tree(folder.path .. "/run")
  end
end

-- Why speeds are not judged: the hint is about what is missing.
function suite.test_without_limits_the_reason_is_said()
  local place <close> = disk.file_system("ext4")
  local folder <close> = fs.temp_dir()
  local name = place.device:match("[^/]+$")
  fs.write_atomic(folder.path .. "/kit.lua",
    ([[return { name = "kit", roles = { usb = { host = %q } } }]]):format(name))
  for board, text in pairs { generic = "no board is named (--board NAME)",
    evb_x5 = "board evb_x5 does not know the device of " .. place.path .. "/o (storlua devices.lua",
    [folder.path .. "/kit.lua"] = "board kit sets none for its role usb" } do
    local result = run(folder.path, "emmc_performance.lua", { "-d", "0", "-o", place.path .. "/o",
      "--loops", "1", "--largest", "16k" }, board)
    lu.assertEquals(result.code, 0, result.stdout .. result.stderr)
    lu.assertStrContains(result.stdout, "speeds are not judged: " .. text)
    fs.remove_tree(folder.path .. "/run")
  end
end

function suite.test_a_loop_that_fails()
  local fault <close> = disk.fault()
  local folder <close> = fs.temp_dir()
  fault:tell("only iozone_data")
  fault:tell("flip 5000 1")
  local result = run(folder.path, "emmc_stability.lua", { "-d", "0", "-o", fault.path, "--loops",
    "5", "--largest", "64k" })
  lu.assertEquals(result.code, 1, result.stdout .. result.stderr)
  lu.assertStrContains(result.stdout, "Test loop 1 failed!")
  lu.assertStrContains(result.stdout, "kept as evidence")
  lu.assertTrue(fs.exists(fault.path .. "/iozone_data"))
  -- errors of a device leave no evidence: three loops of them are enough
  fault:tell("clear")
  fs.remove(fault.path .. "/iozone_data")
  fs.remove_tree(folder.path .. "/run")
  fault:tell("only iozone_data")
  fault:tell("read EIO 4096")
  result = run(folder.path, "emmc_stability.lua", { "-d", "0", "-o", fault.path, "--loops", "5",
    "--largest", "64k" })
  lu.assertEquals(result.code, 1, result.stdout .. result.stderr)
  lu.assertStrContains(result.stdout, "Test loop 3 failed!")
  lu.assertStrContains(result.stdout, "3 loops in a row failed")
  fault:tell("clear")
end

function suite.test_a_reboot_is_found()
  local place <close> = disk.file_system("ext4")
  local folder <close> = fs.temp_dir()
  local run_dir = folder.path .. "/run"
  local started <close> = cli_run.start { "--output", run_dir, "emmc_performance.lua", "-d", "60",
    "-o", place.path .. "/o", "--loops", "2", "--largest", "16k", cwd = folder.path }
  started:wait_event(run_dir, function(e) return e.kind == "round" and e.phase == "end" end, 60)
  process.run { "sh", "-c", "kill -9 $(pgrep -g " .. started.child.pid .. ")" }
  started:finish()
  -- what the log of a machine looks like that was started anew since
  local text = fs.read(run_dir .. "/events.jsonl")
  local boot_id = text:match("\"boot_id\":\"([^\"]+)\"")
  fs.write_atomic(run_dir .. "/events.jsonl",
    (text:gsub(boot_id:gsub("%-", "%%-"), "00000000-0000-4000-8000-000000000000")))
  local result = cli_run.run { "--resume", run_dir, "emmc_performance.lua", cwd = folder.path }
  lu.assertEquals(result.code, 1, result.stdout .. result.stderr)
  lu.assertStrContains(result.stdout, "the machine was started anew during the test")
  lu.assertStrContains(result.stdout, "Test loop 2 succeeded!")
end

function suite.test_options()
  local result = cli_run.run { "emmc_stability.lua", "-h" }
  lu.assertEquals(result.code, 0)
  lu.assertStrContains(result.stdout, "48h")
  for _, case in ipairs { { { "-t", "48" }, "of what?" }, { { "-t" }, "needs a value" },
    { { "-x" }, "unknown option '-x'" }, { { "-d", "soon" }, "-d: 'soon'" },
    { { "--loops", "0" }, "a count" }, { { "--largest", "0" }, "leaves no file" },
    { { "--largest", "8K" }, "leaves no file: the smallest has 16 KiB" } } do
    result = cli_run.run { "emmc_performance.lua", table.unpack(case[1]) }
    lu.assertEquals(result.code, 2)
    lu.assertStrContains(result.stderr, case[2])
  end
end

function suite.test_time_is_up()
  local folder <close> = fs.temp_dir("/dev/shm")
  -- -I on memory is refused, and nothing is left behind
  local result = run(folder.path, "emmc_stability.lua", { "-t", "1s", "-o", folder.path .. "/o",
    "--largest", "64k" })
  lu.assertEquals(result.code, 2, result.stdout)
  lu.assertStrContains(result.stdout, "which is memory")
  lu.assertEquals(fs.list(folder.path), {})
  local place <close> = disk.file_system("ext4")
  result = run(folder.path, "emmc_performance.lua", { "-t", "1s", "-d", "0", "-o",
    place.path .. "/o", "--largest", "16k" })
  lu.assertEquals(result.code, 0, result.stdout .. result.stderr)
  process.run { "grep", "-q", "Test loop 1 succeeded!",
    place.path .. "/o/test_iozone_emmc_performance.log" }
end

return suite
