-- SPDX-License-Identifier: MIT
--- Jobs of fio as a user runs them; the figures are those of the events.

local cli_run = require("cli_run")
local disk = require("disk")
local dkjson = require("dkjson")
local fio_run = require("fio_run")
local fs = require("storlua.fs")
local lu = require("luaunit")
local process = require("storlua.process")

local suite = {}
local fio, assert_passed = fio_run.fio, fio_run.assert_passed

local THREAD = { "--ioengine=psync", "--iodepth=1", "--numjobs=1", "--runtime=0.3s",
  "--time_based", "--direct=1", "--group_reporting", "--lat_percentiles=1",
  "--percentile_list=50:90:95:99:99.9:99.99" }

local function thread(...)
  return table.move(THREAD, 1, #THREAD, select("#", ...) + 1, { ... })
end

function suite.test_the_thread_on_a_loop_device()
  local loop <close> = disk.loop { size = "16M" }
  local place <close> = disk.directory()
  local agree = { "--destroy", "loop:" .. loop.backing }
  local function on(device, ...) return thread("--filename=" .. device, ...) end
  local write = on(loop.device, "--name=seqwrite_raw_sync", "--rw=write", "--bs=1M", "--sync=1",
    "--output=" .. place.path .. "/out.txt")
  lu.assertEquals(fio(place, write).code, 5)
  local result
  for _ = 1, 5 do
    result = fio(place, write, agree)
    if not result.stdout:find("%(losetup%) has it open") then break end
  end
  local r = assert_passed(result).seqwrite_raw_sync.result
  local file <close> = assert(io.open(place.path .. "/out.txt"))
  local text = file:read("a")
  lu.assertStrContains(text, "seqwrite_raw_sync: (groupid=0, jobs=1): err= 0:")
  lu.assertStrContains(text, ("issued rwts: total=0,%d,0,0"):format(r.write.operations))
  lu.assertStrContains(text, "99.99th=[")
  lu.assertStrContains(text, "WRITE: bw=")
  lu.assertStrContains(text, "Disk stats (read/write):")
  -- fio itself refuses the next line of the thread.
  assert_passed(fio(place, on(loop.device, "--name=r", "--readonly=1", "--rw=read", "--bs=1M")))
end

-- Names that fio 3.33 has in its document.
local JOB = "jobname groupid error eta elapsed read write trim sync job_runtime usr_cpu sys_cpu "
  .. "ctx majf minf iodepth_level iodepth_submit iodepth_complete latency_ns latency_us "
  .. "latency_ms latency_depth latency_target latency_percentile latency_window"
local DIRECTION = "io_bytes io_kbytes bw_bytes bw iops runtime total_ios short_ios drop_ios "
  .. "slat_ns clat_ns lat_ns bw_min bw_max bw_agg bw_mean bw_dev bw_samples iops_min iops_max "
  .. "iops_mean iops_stddev iops_samples"

function suite.test_json()
  local place <close> = disk.directory()
  local result = fio(place, { "--name=a", "--filename=x", "--rw=randrw", "--bs=4k", "--size=2m",
    "--percentile_list=50:99.9", "--output-format=json+", "--fsync=64" })
  local a = assert_passed(result).a
  local document, _, err = dkjson.decode(result.stdout)
  lu.assertNil(err, result.stdout)
  lu.assertTrue(result.stdout:find("^{") ~= nil)
  local job = document.jobs[1]
  for name in JOB:gmatch("%S+") do lu.assertNotNil(job[name], name) end
  for _, which in ipairs { "read", "write", "trim" } do
    for name in DIRECTION:gmatch("%S+") do lu.assertNotNil(job[which][name], which .. name) end
  end
  lu.assertEquals(job["job options"].percentile_list, "50:99.9")
  for _, which in ipairs { "read", "write" } do
    local d, tally = job[which], a.result[which]
    lu.assertEquals({ d.io_bytes, d.total_ios }, { tally.bytes, tally.operations })
    lu.assertEquals(d.bw_bytes, tally.bytes * 1000 // d.runtime)
    lu.assertEquals({ d.clat_ns.min, d.clat_ns.max, d.clat_ns.N },
      { tally.latency.min_ns, tally.latency.max_ns, tally.operations })
    lu.assertEquals(d.clat_ns.percentile["50.000000"], tally.latency.p50_ns)
    lu.assertEquals(d.clat_ns.percentile["99.900000"], tally.latency.p999_ns)
    local all = 0
    for _, n in pairs(d.clat_ns.bins) do all = all + n end
    lu.assertEquals(all, tally.operations)
  end
  lu.assertEquals(job.sync.total_ios, a.result.flush.count)
  lu.assertNil(job.read.lat_ns.percentile)
  -- The same document later.
  local later = cli_run.run { "report", result.run, "--to", "fio_json" }
  lu.assertEquals(dkjson.decode(later.stdout).jobs[1].read.io_bytes, job.read.io_bytes)
end

function suite.test_verify()
  local place <close> = disk.file_system("ext4")
  for _, words in ipairs {
    { "--rw=write", "--bs=64k", "--size=1m" },
    { "--rw=randwrite", "--bs=4k", "--size=4m", "--io_size=1m" },
    { "--rw=randwrite", "--bs=4k", "--size=256k", "--io_size=1300k", "--direct=1" },
    { "--rw=write", "--bs=4k", "--size=256k", "--time_based", "--runtime=0.2s" },
  } do
    local all = { "--name=v", "--filename=v", "--verify=crc32c", table.unpack(words) }
    local found = assert_passed(fio(place, all))
    local verify = found["v.verify"].result.verify
    local line = table.concat(words, " ")
    lu.assertEquals(verify.bad_sectors, 0, line)
    lu.assertEquals(verify.sectors * 512, math.min(found.v.result.write.bytes,
      found.v.spec.range_bytes), line)
  end
end

function suite.test_jobs_together_and_one_after_the_other()
  local place <close> = disk.directory()
  do
    local file <close> = assert(io.open(place.path .. "/jobs.fio", "w"))
    file:write([[
[global]
bs=4k
size=1m
group_reporting
[w]
rw=write
end_fsync=1
[r]
stonewall
rw=randread
numjobs=2
filename=w.0.0
[null]
stonewall
ioengine=null
size=100m
rw=randwrite
]])
  end
  local result = fio(place, { "jobs.fio" })
  local found = assert_passed(result)
  lu.assertNil(found["r.1.layout"], "the file is there already")
  lu.assertNotEquals(found["r.1"].spec.seed, found["r.2"].spec.seed)
  lu.assertTrue(found.w.result.boot_start_ns < found["r.1"].result.boot_start_ns)
  lu.assertStrContains(result.stdout, "r: (groupid=1, jobs=2)")
  lu.assertStrContains(result.stdout, "issued rwts: total=512,0,0,0")
  lu.assertEquals(found.null.result.write.bytes, 100 << 20)
end

function suite.test_reads_are_laid_out_and_files_of_others_left()
  local place <close> = disk.directory()
  local result = fio(place, { "--name=r", "--filename=new", "--rw=randread", "--size=1m",
    "--unlink=1" })
  local found = assert_passed(result)
  lu.assertNotNil(found["r.layout"])
  lu.assertEquals(found.r.result.cache.unbacked_before_bytes, 0)
  lu.assertNil(io.open(place.path .. "/new"))
  process.run { "sh", "-c", "echo precious >" .. place.path .. "/p" }
  local words = { "--name=w", "--filename=p", "--rw=write", "--size=64k" }
  local refused = fio(place, words)
  lu.assertEquals(refused.code, 2)
  lu.assertStrContains(refused.stderr, "storlua did not write")
  lu.assertEquals(process.run { "cat", place.path .. "/p" }.stdout, "precious\n")
  words[#words + 1] = "--overwrite"
  assert_passed(fio(place, words))
  -- A sparse file of somebody is read, and not believed.
  process.run { "truncate", "-s", "1M", place.path .. "/sparse" }
  local sparse = fio(place, { "--name=s", "--filename=sparse", "--rw=read" })
  lu.assertEquals(sparse.code, 1)
  lu.assertStrContains(sparse.stdout, "reading them is no I/O")
end

function suite.test_a_job_file_from_a_pipe()
  local place <close> = disk.directory()
  local result = cli_run.run { cwd = place.path, stdin = "[a]\nsize=64k\nrw=write\n", "--output",
    place.path .. "/run", "fio.lua", "-" }
  lu.assertEquals(result.code, 0, result.stderr)
  lu.assertEquals(fs.stat(place.path .. "/a.0.0").size_bytes, 65536)
end

-- A job that could not start has no result: what reads the events as they
-- happen sees it as what reads the log.
function suite.test_a_job_that_cannot_start_is_reported()
  local place <close> = disk.directory()
  -- The file of a program that runs cannot be written.
  process.run { "cp", "/bin/sleep", place.path .. "/x" }
  local _ <close> = process.start { place.path .. "/x", "60" }
  local words = { "--name=a", "--filename=x", "--rw=randwrite", "--overwrite", "--size=64k",
    "--output-format=json" }
  local failed = fio(place, words)
  lu.assertEquals(failed.code, 1, failed.stderr)
  lu.assertEquals(failed.stderr:find("reporter", 1, true), nil, failed.stderr)
  local job = dkjson.decode(failed.stdout).jobs[1]
  lu.assertEquals({ job.error, job.write.total_ios }, { 26, 0 })
  words[#words] = nil
  failed = fio(place, words)
  lu.assertEquals(failed.stderr:find("reporter", 1, true), nil, failed.stderr)
  lu.assertStrContains(failed.stdout, "err=26")
end

-- Stopped by the user is no error of the medium; errnos are the system's own.
function suite.test_errors_are_those_of_the_system()
  local place <close> = disk.file_system("ext4")
  local run <close> = cli_run.start { cwd = place.path, "--output", place.path .. "/int", "fio.lua",
    "--name=a", "--filename=x", "--rw=write", "--size=1m", "--time_based", "--runtime=60",
    "--rate=1m", "--output-format=json" }
  disk.wait_until(20, "the job runs", function()
    return fs.try_exists(place.path .. "/x") and fs.stat(place.path .. "/x").size_bytes > 0
  end)
  run:signal("INT")
  local stopped = run:finish()
  lu.assertEquals(stopped.code, 130, stopped.stderr)
  lu.assertEquals(dkjson.decode(stopped.stdout).jobs[1].error, 0)
  local limited = process.try_run { "sh", "-c", "ulimit -f 4096; cd \"$0\"; exec \"$@\"",
    place.path, cli_run.program, "--output", place.path .. "/big", "fio.lua", "--name=a",
    "--filename=y", "--rw=write", "--size=8m", "--output-format=json" }
  lu.assertEquals(limited.code, 1, limited.stderr)
  lu.assertEquals(dkjson.decode(limited.stdout).jobs[1].error, 27) -- EFBIG
end

-- Behind fio.lua, --output is fio's: it names a file.
function suite.test_the_hint_about_the_log_names_the_option_of_the_run()
  local folder <close> = disk.file_system("ext4")
  local result = cli_run.run { cwd = folder.path, "fio.lua", "--name=a", "--filename=x",
    "--rw=write", "--size=64k" }
  lu.assertEquals(result.code, 0, result.stdout)
  lu.assertStrContains(result.stderr, "; storlua --output DIR fio.lua … puts it elsewhere")
end

function suite.test_limits_and_usage()
  local place <close> = disk.directory()
  local slow = fio(place, { "--name=w", "--filename=x", "--rw=write", "--size=1m", "--rate=1m",
    "--rate_min=500m" })
  lu.assertEquals(slow.code, 1, slow.stdout)
  lu.assertStrContains(slow.stdout, "at least 524288000 are asked for")
  local paced = fio(place, { "--name=w", "--filename=x", "--rw=write", "--size=1m", "--bs=4k",
    "--rate_iops=200", "--number_ios=50" })
  lu.assertTrue(assert_passed(paced).w.result.total_ns > 200000000)
  local late = fio(place, { "--name=w", "--filename=x", "--rw=write", "--size=1m", "--fsync=1",
    "--max_latency=1us" })
  lu.assertEquals(late.code, 1, late.stdout)
  lu.assertStrContains(late.stdout, "err=110")
  lu.assertEquals(fio(place, { "--name=a", "--filename=/dev/storlua-none", "--size=1m" }).code, 2)
  lu.assertEquals(fio(place, { "--name=a", "--filename=no/such", "--size=1m" }).code, 2)
  lu.assertEquals(fio(place, { "--name=a", "--filename=nothing" }).code, 2)
  local parsed = fio(place, { "--name=a", "--filename=y", "--size=1m", "--parse-only" })
  lu.assertEquals(parsed.code, 4)
  lu.assertNil(io.open(place.path .. "/y"))
end

function suite.test_trims_on_a_file_and_a_device()
  local place <close> = disk.file_system("ext4")
  local result = fio(place, { "--name=t", "--filename=t", "--rw=randtrim", "--bs=64k",
    "--size=1m", "--number_ios=8", "--output-format=json" })
  local found = assert_passed(result)
  lu.assertNotNil(found["t.layout"], "what is trimmed is there before")
  lu.assertEquals(found.t.result.trim.bytes, 8 << 16)
  local trim = dkjson.decode(result.stdout).jobs[1].trim
  lu.assertEquals({ trim.io_bytes, trim.total_ios, trim.clat_ns.N }, { 8 << 16, 8, 8 })
  local used = tonumber(process.run { "stat", "-c", "%b", place.path .. "/t" }.stdout) * 512
  lu.assertTrue(used <= (1 << 20) - (8 << 16) + 65536, used)
  local loop <close> = disk.loop { size = "4M" }
  process.run { "sh", "-c", "tr '\\0' x </dev/zero | head -c 4M >" .. loop.device }
  local words = { "--name=d", "--filename=" .. loop.device, "--rw=trim", "--bs=4k", "--size=1m" }
  lu.assertEquals(fio(place, words).code, 5)
  local text
  for _ = 1, 5 do
    text = fio(place, words, { "--destroy", "loop:" .. loop.backing })
    if not text.stdout:find("%(losetup%) has it open") then break end
  end
  assert_passed(text)
  lu.assertStrContains(text.stdout, "issued rwts: total=0,0,256,0")
  lu.assertStrContains(text.stdout, "   TRIM: bw=")
  local left = process.run { "sh", "-c", "tr -d '\\0' <" .. loop.device .. " | wc -c" }.stdout
  lu.assertEquals(tonumber(left), 3 << 20)
end

function suite.test_trimwrite_pauses_and_what_comes_before()
  local place <close> = disk.directory()
  do
    local file <close> = assert(io.open(place.path .. "/jobs.fio", "w"))
    file:write([[
[global]
bs=4k
size=64k
stonewall
filename=f
[tw]
rw=trimwrite
[slow]
rw=read
thinktime=20ms
thinktime_blocks=4
pre_read=1
[over]
filename=g
rw=randwrite
overwrite=1
number_ios=2
]])
  end
  local result = fio(place, { "jobs.fio" })
  local found = assert_passed(result)
  lu.assertEquals({ found.tw.result.trim.operations, found.tw.result.write.operations },
    { 16, 16 })
  lu.assertTrue(found.slow.result.pace_ns >= 3 * 20000000, "three pauses between 16 reads")
  lu.assertEquals(found["slow.pre_read"].result.read.bytes, 65536)
  lu.assertEquals(found["over.layout"].result.write.bytes, 65536)
  lu.assertStrContains(result.stdout, "issued rwts: total=0,16,16,0")
end

function suite.test_distributions_and_sizes_run()
  local place <close> = disk.directory()
  local result = fio(place, { "--name=hot", "--filename=f", "--size=4m", "--rw=randrw", "--bs=4k",
    "--random_distribution=zipf:1.1", "--number_ios=500", "--time_based", "--runtime=60s",
    "--name=mixed", "--filename=f", "--size=4m", "--rw=randread", "--bssplit=4k/60:64k/40",
    "--stonewall", "--name=near", "--filename=f", "--size=4m", "--rw=randread", "--bs=4k",
    "--random_distribution=zoned_abs:50/64k:50/192k", "--direct=0", "--stonewall",
    "--name=pareto", "--filename=f", "--size=4m", "--rw=randread", "--bs=4k",
    "--random_distribution=pareto:0.2", "--stonewall" })
  local by_id = assert_passed(result)
  local hot, mixed = by_id.hot, by_id.mixed
  lu.assertEquals(hot.result.read.operations + hot.result.write.operations, 500)
  lu.assertEquals(hot.spec.distribution, "zipf")
  lu.assertTrue(mixed.result.read.bytes > 3 << 20 and mixed.result.read.bytes <= 4 << 20)
  lu.assertEquals(by_id.near.result.read.bytes, 4 << 20)
  lu.assertEquals(by_id.pareto.spec.pareto_h, 0.2)
  lu.assertStrContains(result.stdout, "mixed: (g=1): rw=randread, bs=(R) 4096B-65536B")
end

function suite.test_in_memory_the_engine_that_ran_is_named()
  local place <close> = disk.directory()
  local folder <close> = disk.file_system("tmpfs")
  local result = fio(place, { "--name=x", "--rw=read", "--size=1M", "--ioengine=io_uring",
    "--iodepth=8", "--filename=" .. folder.path .. "/f" })
  if result.stderr:find("engines here", 1, true) then lu.skip("no io_uring here") end
  lu.assertEquals(assert_passed(result).x.result.engine, "psync")
  lu.assertStrContains(result.stdout, "ioengine=psync, iodepth=1")
  lu.assertStrContains(result.stdout, "depth=1\n")
end

return suite
