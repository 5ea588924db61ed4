-- SPDX-License-Identifier: MIT
--- Figures of jobs that run at once: what is counted for the whole disk is
--- counted once, what is a job's own is its thread's, and rates add up.

local cli_run = require("cli_run")
local disk = require("disk")
local dkjson = require("dkjson")
local fio_run = require("fio_run")
local lu = require("luaunit")
local process = require("storlua.process")

local suite = {}
local fio, assert_passed = fio_run.fio, fio_run.assert_passed

function suite.test_the_disk_is_counted_once_for_jobs_at_once()
  local place <close> = disk.directory()
  local folder <close> = disk.file_system("ext4")
  local result = fio(place, { "--directory=" .. folder.path, "--rw=read", "--bs=4k", "--size=1m",
    "--direct=1", "--name=a", "--numjobs=3", "--name=b", "--stonewall", "--output-format=json" })
  assert_passed(result)
  local util = dkjson.decode(result.stdout).disk_util[1]
  -- Four jobs of 256 reads, and little of the file system's own.
  lu.assertTrue(util.read_ios >= 1024 and util.read_ios < 1400, util.read_ios)
  lu.assertTrue(util.util >= 0 and util.util <= 100, util.util)
end

function suite.test_the_processor_is_that_of_the_jobs_thread()
  local place <close> = disk.directory()
  local words = { "--name=a", "--filename=x", "--rw=read", "--bs=4k", "--size=256k",
    "--thinktime=2ms", "--group_reporting", "--numjobs=3", "--output-format=json" }
  local result = fio(place, words)
  local found = assert_passed(result)
  local switches, user_ns, total_ns = 0, 0, 0
  for i = 1, 3 do
    local r = found["a." .. i].result
    -- It sleeps 63 times.
    lu.assertTrue(r.cpu.voluntary_switches >= 60, r.cpu.voluntary_switches)
    lu.assertTrue(r.cpu.user_ns + r.cpu.system_ns <= 1.1 * r.total_ns + 20000000)
    switches = switches + r.cpu.voluntary_switches + r.cpu.involuntary_switches
    user_ns, total_ns = user_ns + r.cpu.user_ns, total_ns + r.total_ns
  end
  local job = dkjson.decode(result.stdout).jobs[1]
  lu.assertEquals(job.ctx, switches)
  lu.assertAlmostEquals(job.usr_cpu, user_ns / total_ns * 100, 0.001)
end

-- fio 3.33 numbers them 0, 1, 2, and runs a and b at once.
function suite.test_new_group_is_a_group_of_the_report_only()
  local place <close> = disk.directory()
  local result = fio(place, { "--size=64k", "--rw=read", "--group_reporting", "--mem=malloc",
    "--description=of the shop",
    "--name=a", "--numjobs=2", "--name=b", "--new_group", "--numjobs=2", "--name=c", "--stonewall",
    "--output-format=normal" })
  assert_passed(result)
  lu.assertStrContains(result.stdout, "\n  Description  : [of the shop]\n")
  for group, bytes in pairs { [0] = "128KiB", [1] = "128KiB", [2] = "64.0KiB" } do
    lu.assertStrMatches(result.stdout, (".*\nRun status group %d %%(all jobs%%):\n   READ: [^\n]*"
      .. "io=%s .*"):format(group, bytes))
  end
  lu.assertEquals(#cli_run.events_of(result.run, "x_fio_group"), 2)
end

-- fio 3.33 reads 7 of 8 blocks here, and none of them twice.
function suite.test_what_failed_is_not_made_up_for()
  local place <close> = disk.fault()
  for _, more in ipairs { "--rw=read", "--rw=randread --runtime=20", "--rw=randrw --overwrite" } do
    process.run { "sh", "-c", "head -c 32768 /dev/urandom >" .. place.backing .. "/x" }
    place:tell("read EIO 8192 4096")
    place:tell("write EIO 8192 4096")
    local words = { "--name=a", "--filename=" .. place.path .. "/x", "--continue_on_error=all" }
    for word in more:gmatch("%S+") do words[#words + 1] = word end
    local out <close> = disk.directory()
    local result = fio(out, words)
    lu.assertEquals(result.code, 1, result.stderr)
    local r = cli_run.events_of(result.run, "measure")[1].result
    lu.assertEquals({ r.visits, (r.read and r.read.operations or 0)
      + (r.write and r.write.operations or 0), r.errors_total }, { 8, 7, 1 }, more)
  end
end

-- The line that etcd's documents judge a disk by; fio 3.33 prints this block.
function suite.test_syncs_have_percentiles()
  local place <close> = disk.directory()
  local words = { "--rw=write", "--ioengine=sync", "--fdatasync=1", "--size=22k", "--bs=2300",
    "--percentile_list=50:99", "--name=mytest" }
  local result = fio(place, words)
  assert_passed(result)
  lu.assertStrContains(result.stdout, "\n  fsync/fdatasync/sync_file_range:\n    sync (")
  lu.assertStrMatches(result.stdout,
    ".*\n    sync percentiles %(%asec%):\n     | 50%.00th=%[ *%d+%], 99%.00th=%[ *%d+%]\n  cpu .*")
  table.insert(words, "--output-format=json")
  process.run { "rm", place.path .. "/mytest.0.0" }
  result = fio(place, words)
  local flush = assert_passed(result).mytest.result.flush
  local sync = dkjson.decode(result.stdout).jobs[1].sync
  lu.assertEquals({ sync.total_ios, sync.lat_ns.N }, { flush.count, flush.count })
  lu.assertTrue(sync.lat_ns.percentile["50.000000"] <= sync.lat_ns.percentile["99.000000"])
  lu.assertTrue(sync.lat_ns.percentile["99.000000"] > 0)
end

local function mean_kib(series)
  local sum = 0
  for i = 1, #series.bytes - 1 do
    sum = sum + math.floor(series.bytes[i] / 1024 / (series.interval_ns / 1e9))
  end
  return sum / (#series.bytes - 1)
end

function suite.test_rates_of_jobs_that_are_reported_together_add_up()
  local place <close> = disk.directory()
  local result = fio(place, { "--name=a", "--ioengine=null", "--rw=write", "--bs=4k", "--size=1g",
    "--rate=1m", "--runtime=1.7s", "--time_based", "--group_reporting", "--numjobs=2",
    "--output-format=json" })
  local found = assert_passed(result)
  local one, two = found["a.1"].result.series, found["a.2"].result.series
  local write = dkjson.decode(result.stdout).jobs[1].write
  lu.assertAlmostEquals(write.bw_mean, mean_kib(one) + mean_kib(two), 0.01)
  lu.assertAlmostEquals(write.iops_mean, write.bw_mean / 4, 2)
  lu.assertEquals(write.bw_samples, #one.bytes + #two.bytes - 2)
end

return suite
