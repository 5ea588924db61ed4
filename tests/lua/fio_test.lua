-- SPDX-License-Identifier: MIT
--- fio's command lines and job files: what is taken, and what is named.

local arguments = require("storlua.fio.arguments")
local disk = require("disk")
local errors = require("storlua.errors")
local fio_job = require("storlua.fio.job")
local lu = require("luaunit")
local source = require("storlua.source")

local suite = {}

local function parse(line)
  local argv = {}
  for word in line:gmatch("%S+") do argv[#argv + 1] = word end
  return errors.try(arguments.parse, argv)
end

local COMMON = " --ioengine=psync --iodepth=1 --numjobs=1 --runtime=30 --time_based --direct=1"
  .. " --group_reporting --lat_percentiles=1 --percentile_list=50:90:95:99:99.9:99.99"

local function spec_of(job, has_bytes)
  local offset, size = fio_job.extent(job, has_bytes or 1 << 30, true)
  return fio_job.spec(job, offset, size, true, 7)
end

function suite.test_the_thread()
  local opt = parse("--name=seqwrite_raw_sync --filename=/dev/mmcblk2p1 --rw=write --bs=1M"
    .. " --sync=1" .. COMMON .. " --output=/tmp/x.txt")
  lu.assertEquals({ #opt.jobs, opt.output, opt.formats[1] }, { 1, "/tmp/x.txt", "fio" })
  local job = opt.jobs[1]
  lu.assertEquals({ job.case_id, job.path }, { "seqwrite_raw_sync", "/dev/mmcblk2p1" })
  lu.assertEquals(job.percentiles, { 50, 90, 95, 99, 99.9, 99.99 })
  local spec = spec_of(job)
  lu.assertEquals({ spec.operation, spec.order, spec.record_bytes, spec.open_sync, spec.flush,
    spec.direct, spec.limit_seconds, spec.limit_bytes, spec.range_bytes },
    { "write", "sequential", 1 << 20, "full", "none", true, 30, nil, 1 << 30 })
  local less = parse("--name=r --filename=/dev/x --rw=randwrite --bs=4k --end_fsync=1" .. COMMON)
  spec = spec_of(less.jobs[1])
  lu.assertEquals({ spec.order, spec.open_sync, spec.flush }, { "random", "none", "end" })
  for _, readonly in ipairs { "--readonly", "--readonly=1", "--readonly=true" } do
    local read = parse("--name=r --filename=/dev/x " .. readonly .. " --rw=read --bs=1M" .. COMMON)
    lu.assertTrue(read.readonly)
    lu.assertEquals(read.jobs[1].operation, "read")
  end
end

function suite.test_options_before_the_name_hold_for_all()
  local opt = parse("--bs 8k --rw read --name=a --name=b --bs=16k --stonewall --size=1m")
  lu.assertEquals({ opt.jobs[1].block_bytes, opt.jobs[2].block_bytes }, { 8192, 16384 })
  lu.assertEquals({ opt.jobs[1].group, opt.jobs[2].group }, { 0, 1 })
  lu.assertEquals(opt.jobs[2].path, "b.0.0")
  opt = parse("--name=a --overwrite=1 --size=1m")
  lu.assertEquals({ opt.overwrite, opt.jobs[1].file_overwrite }, { nil, true })
  opt = parse("--name=a --overwrite --size=1m")
  lu.assertEquals({ opt.overwrite, opt.jobs[1].file_overwrite }, { true, nil })
end

-- As cloud providers write them, and as fio's getopt takes them.
function suite.test_one_dash_and_blanks()
  local opt = parse("-direct=1 -iodepth 16 -rw=randread -ioengine=libaio -bs=4k -size=1m"
    .. " -group_reporting -filename=/dev/x -name=Rand_Read_Testing")
  local job = opt.jobs[1]
  lu.assertEquals({ #opt.jobs, job.name, job.direct, job.iodepth, job.group_reporting },
    { 1, "Rand_Read_Testing", true, 16, true })
  opt = parse("--name a --direct 1 --fallocate none --time_based --runtime 5 --randrepeat 0"
    .. " --buffered 0 --overwrite 1 --end_fsync true --iodepth_low 4 --rw write --size 1m")
  job = opt.jobs[1]
  lu.assertEquals({ job.direct, job.time_based, job.runtime, job.end_fsync, job.file_overwrite,
    opt.overwrite }, { true, true, 5, true, true, nil })
  local _, err = parse("--name=a --size=1m --thread no-such.fio")
  lu.assertStrContains(err.message, "no-such.fio")
end

function suite.test_cpus()
  local function masks(line)
    local list = {}
    for i, job in ipairs(parse("--name=a --filename=/dev/x --numjobs=3 " .. line).jobs) do
      list[i] = spec_of(job).cpus
    end
    return list
  end
  lu.assertEquals(masks(""), { 0, 0, 0 })
  lu.assertEquals(masks("--cpus_allowed=0"), { 1, 1, 1 })
  if source.read("/sys/devices/system/cpu/online"):find("^0\n") then lu.skip("one CPU") end
  lu.assertEquals(masks("--cpus_allowed=0-1"), { 3, 3, 3 })
  lu.assertEquals(masks("--cpus_allowed=1,0 --cpus_allowed_policy=split"), { 1, 2, 1 })
end

function suite.test_clones_and_names()
  local opt = parse("--name=a/b --numjobs=3 --size=1m --directory=/tmp --name=a_b --size=1m")
  local ids, paths = {}, {}
  for i, job in ipairs(opt.jobs) do ids[i], paths[i] = job.case_id, job.path end
  lu.assertEquals(ids, { "a_b.1", "a_b.2", "a_b.3", "a_b_2" })
  lu.assertEquals(paths, { "/tmp/a_b.0.0", "/tmp/a_b.1.0", "/tmp/a_b.2.0", "a_b.0.0" })
end

function suite.test_shares_and_limits()
  local job = parse("--name=a --filename=x --size=50% --offset=25% --loops=3 --bs=4k").jobs[1]
  local spec = spec_of(job, 1 << 20)
  lu.assertEquals({ spec.range_offset, spec.range_bytes, spec.limit_bytes },
    { 256 << 10, 512 << 10, 1536 << 10 })
  job = parse("--name=a --filename=x --io_size=10% --size=1m --number_ios=5 --ramp_time=500ms"
    .. " --rw=randrw --rwmixwrite=30 --fsync=4").jobs[1]
  spec = spec_of(job)
  lu.assertEquals({ spec.limit_bytes, spec.limit_records, spec.ramp_seconds, spec.read_percent,
    spec.flush, spec.flush_every }, { 102400, 5, 0.5, 70, "every", 4 })
  local _, err = errors.try(fio_job.extent, parse("--name=a --filename=x --size=2g").jobs[1],
    1 << 30, true)
  lu.assertStrContains(err.message, "x has 1073741824 bytes")
  _, err = errors.try(fio_job.extent, parse("--name=a --filename=x --size=1k").jobs[1], 0, false)
  lu.assertStrContains(err.message, "less than one block of 4096")
  for _, option in ipairs { "offset", "offset_increment" } do
    _, err = errors.try(fio_job.extent, parse("--name=a --filename=x --size=1m --numjobs=2 --"
      .. option .. "=50%").jobs[2], 0, false)
    lu.assertStrContains(err.message, "of what " .. option .. "= is a share is not known")
  end
  for _, zones in ipairs { "zoned_abs:50/1m:50/2m", "zoned_abs:50/2k:50/1m", "zoned:9/1:91/99" } do
    _, err = errors.try(fio_job.extent, parse("--name=a --filename=x --rw=randread --size="
      .. (zones:find("abs") and "2m" or "64k") .. " --random_distribution=" .. zones).jobs[1],
      1 << 30, true)
    lu.assertStrContains(err.message, "do not fit a range of")
  end
end

function suite.test_counts_are_in_powers_of_1024_too()
  local job = parse("--name=a --filename=x --number_ios=1k --rate_iops=2M --size=1m").jobs[1]
  lu.assertEquals({ job.number_ios, job.rate_iops }, { 1024, 2 << 20 })
  local _, err = parse("--name=a --filename=x --number_ios=100p --size=1m")
  lu.assertStrContains(err.message, "a whole number")
end

function suite.test_distributions_and_sizes()
  local function first(line)
    return spec_of(parse("--name=a --filename=/dev/x " .. line).jobs[1])
  end
  local spec = first("--rw=randwrite --bs=4k --random_distribution=zipf:0.9 --iodepth=16")
  lu.assertEquals({ spec.distribution, spec.zipf_theta, spec.order, spec.stamp },
    { "zipf", 0.9, "random" })
  spec = first("--rw=randread --bs=4k --random_distribution=normal:20")
  lu.assertEquals({ spec.distribution, spec.normal_percent }, { "normal", 20 })
  spec = first("--rw=randread --bs=4k --random_distribution=zoned:60/10:40/90")
  lu.assertEquals(spec.zones, { { visit_percent = 60, range_percent = 10 },
    { visit_percent = 40, range_percent = 90 } })
  spec = first("--rw=randread --bssplit=4k/50:64k/:16k")
  lu.assertEquals({ spec.record_bytes, spec.distribution, #spec.size_mix }, { 65536, nil, 3 })
  lu.assertEquals(spec.size_mix[2], { record_bytes = 65536, percent = 25 })
  lu.assertEquals(first("--rw=randread --random_distribution=random").distribution, nil)
end

function suite.test_trims_pauses_and_places()
  local function first(line)
    return spec_of(parse("--name=a --filename=/dev/x " .. line).jobs[1])
  end
  local spec = first("--rw=randtrim --bs=4k --size=1m --end_fsync=1")
  lu.assertEquals({ spec.operation, spec.order, spec.stamp, spec.cold, spec.limit_bytes,
    spec.flush },
    { "trim", "random", nil, nil, 1 << 20, "end" })
  spec = first("--rw=trimwrite --size=1m --number_ios=10")
  lu.assertEquals({ spec.operation, spec.stamp, spec.limit_bytes, spec.limit_records },
    { "trim_write", true, 2 << 20, 20 })
  local opt = parse("--name=a --filename=/dev/x --rw=trim --ioengine=libaio --iodepth=8")
  lu.assertEquals({ opt.jobs[1].engine, opt.jobs[1].iodepth }, { "psync", 1 })
  lu.assertStrContains(opt.jobs[1].capped, "one call at a time")
  spec = first("--thinktime=500 --thinktime_spin=900 --bs=8k,")
  lu.assertEquals({ spec.think_seconds, spec.think_every, spec.think_after_seconds,
    spec.think_spin_seconds, spec.record_bytes }, { 0.0005, 1, nil, 0.0005, 8192 })
  spec = first("--thinktime=1s --thinktime_iotime=9 --rw=write --bs=,64k")
  lu.assertEquals({ spec.think_seconds, spec.think_every, spec.think_after_seconds,
    spec.record_bytes }, { 1, nil, 9, 65536 })
  lu.assertEquals(first("--thinktime=1s --thinktime_iotime=9 --thinktime_blocks=4").think_every, 4)
  lu.assertNil(first("--thinktime=0 --thinktime_blocks=4").think_every)
  spec = first("--rw=randread --random_distribution=pareto:0.3")
  lu.assertEquals({ spec.distribution, spec.pareto_h }, { "pareto", 0.3 })
  spec = first("--rw=randread --random_distribution=zoned_abs:60/1m:40/2m")
  lu.assertEquals(spec.zones, { { visit_percent = 60, range_bytes = 1 << 20 },
    { visit_percent = 40, range_bytes = 2 << 20 } })
  local offsets = {}
  for i, job in ipairs(parse("--name=a --filename=/dev/x --size=1m --offset=4k --numjobs=3"
    .. " --offset_increment=8m").jobs) do
    offsets[i] = spec_of(job).range_offset
  end
  lu.assertEquals(offsets, { 4096, (8 << 20) + 4096, (16 << 20) + 4096 })
end

function suite.test_several_files()
  local opt = parse("--name=a --nrfiles=3 --numjobs=2 --directory=/tmp --size=96k --rw=write")
  lu.assertEquals(opt.jobs[2].paths, { "/tmp/a.1.0", "/tmp/a.1.1", "/tmp/a.1.2" })
  local spec = spec_of(opt.jobs[1])
  lu.assertEquals({ spec.range_bytes, spec.limit_bytes, spec.streams, spec.one_after_other },
    { 32 << 10, 96 << 10, nil, nil })
  opt = parse("--name=a --filename=/dev/x:y\\:z --directory=d --filesize=8k --size=64k"
    .. " --io_size=4k --file_service_type=sequential")
  lu.assertEquals(opt.jobs[1].paths, { "/dev/x", "d/y:z" })
  spec = spec_of(opt.jobs[1])
  lu.assertEquals({ spec.range_bytes, spec.limit_bytes, spec.one_after_other },
    { 8 << 10, 4 << 10, true })
  opt = parse("--name=a --nrfiles=4 --ioengine=libaio --iodepth=32 --size=1m --rw=randread")
  spec = spec_of(opt.jobs[1])
  lu.assertEquals({ spec.streams, #spec.paths, spec.queue_depth, spec.limit_bytes,
    spec.range_bytes }, { 4, 4, 8, 256 << 10, 256 << 10 })
end

function suite.test_what_is_not_taken_is_named()
  for line, text in pairs {
    [""] = "no job",
    ["--rw=read --bs=4k"] = "--name= is missing",
    ["--name=a --rw=randread --bssplit=4k/50:8k/49"] = "the percents are 99",
    ["--name=a --rw=randread --bssplit=4k/50:6k/50"] = "4096 does not divide",
    ["--name=a --rw=randread --bssplit=4k/x"] = "SIZE/PERCENT",
    ["--name=a --bssplit=4k/50:8k/50"] = "needs a random rw",
    ["--name=a --rw=randwrite --verify=md5 --bssplit=4k/50:8k/50"] = "exclude each other",
    ["--name=a --rw=read --random_distribution=zipf:1.2"] = "needs a random rw",
    ["--name=a --rw=randread --random_distribution=zipf:x"] = "'x' is no number",
    ["--name=a --rw=randread --random_distribution=poisson:0.2"] = "are offered",
    ["--name=a --rw=randread --random_distribution=zoned:60/10:30/90"] = "are 90, not 100",
    ["--name=a --rw=randread --random_distribution=pareto:1"] = "to 0.999",
    ["--name=a --rw=randread --random_distribution=zoned_abs:60/1q:40/9g"] = "is no size",
    ["--name=a --rw=randread --random_distribution=zoned_abs:60/1g:30/9g"] = "are 90, not 100",
    ["--name=a --rw=randtrim --ioengine=mmap"] = "does not trim",
    ["--name=a --rw=trimwrite --ioengine=libaio"] = "does not trim",
    ["--name=a --rw=trimwrite --readonly"] = "writes (rw=trimwrite)",
    ["--name=a --rw=randread:8"] = "are not offered",
    ["--name=a --thinktime=5x"] = "is no time",
    ["--name=a --thinktime=5 --thinktime_blocks=0"] = "from 1 on",
    ["--name=a --exitall --name=b"] = "exitall is not taken",
    ["--name=a --rw=raedwrite"] = "it can be",
    ["--name=a --blocksiez=4k"] = "blocksiez is not taken",
    ["--name=a --bs=4KiB"] = "power of 1000",
    ["--name=a --bs=4kk"] = "is no size",
    ["--name=a --rw=rw --bs=4k,8k"] = "one block size",
    ["--name=a --bs=4k,8k,1k,1k"] = "are three",
    ["--name=a --bs=0"] = "at least one byte",
    ["--name=a --rate=1m,2m"] = "one for reads and writes",
    ["--name=a --size=16E"] = "is no size",
    ["--name=a --size=101%"] = "more than all",
    ["--name=a --loops=0"] = "from 1 on",
    ["--name=a --loops=2 --io_size=512k"] = "io_size= anew each time",
    ["--name=a --loops=2 --number_ios=8"] = "number_ios= anew each time",
    ["--name=a --time_based"] = "needs runtime",
    ["--name=a --ioengine=rados"] = "it can be",
    ["--name=a --readonly --rw=write"] = "--readonly: job a writes",
    ["--name=a --verify=crc32c --rw=read"] = "jobs that write",
    ["--name=a --verify=pattern --rw=write"] = "patterns are not",
    ["--name=a --filename=/dev/a::/dev/b"] = "names nothing",
    ["--name=a --filename=a:b:a"] = "a is named twice",
    ["--name=a --nrfiles=2000"] = "more than 1024",
    ["--name=a --nrfiles=2 --file_service_type=zipf"] = "it can be",
    ["--name=a --nrfiles=3 --ioengine=libaio --iodepth=8"] = "no multiple",
    ["--name=a --nrfiles=2 --ioengine=libaio --iodepth=8 --rate=1m"] = "without rate=",
    ["--name=a --nrfiles=2 --ioengine=libaio --file_service_type=sequential"] = "for psync",
    ["--name=a --cpus_allowed=0-"] = "are written 0,2-3",
    ["--name=a --cpus_allowed=62"] = "there is no CPU 62, online are 0",
    ["--name=a --cpus_allowed=1-0"] = "are written 0,2-3",
    ["--name=a --cpus_allowed="] = "are written 0,2-3",
    ["--name=a --allow_mounted_write=1"] = "safety gate",
    ["--name=a --percentile_list=50:101"] = "up to 100",
    ["--name=a --output-format=terse"] = "there are normal, json",
    ["--name=a --direct=2"] = "0 or 1",
    ["--name=a --section=b"] = "there is no such job",
    ["/no/such.fio"] = "/no/such.fio",
    ["-x"] = "x is not taken",
    ["--"] = "unknown option --",
  } do
    local opt, err = parse(line)
    lu.assertNil(opt, line)
    lu.assertEquals(err.code, "USAGE", line)
    lu.assertStrContains(err.message, text)
  end
end

local function file_of(place, name, text)
  local file <close> = assert(io.open(place.path .. "/" .. name, "w"))
  assert(file:write(text))
  return place.path .. "/" .. name
end

function suite.test_job_files()
  local place <close> = disk.directory()
  file_of(place, "common.inc", "bs=8k\nsize=1m\n")
  local path = file_of(place, "a.fio", [[
; first a comment
# and another
[global]
include common.inc
rw=randread   ; of all
directory=${HOME}

[one]
time_based
runtime=2m

[global]
bs=16k
[two]
stonewall
]])
  local opt = parse(path)
  local one, two = opt.jobs[1], opt.jobs[2]
  lu.assertEquals({ one.name, one.block_bytes, one.runtime, one.order, one.group },
    { "one", 8192, 120, "random", 0 })
  lu.assertEquals({ two.name, two.block_bytes, two.group }, { "two", 16384, 1 })
  lu.assertEquals(one.path, os.getenv("HOME") .. "/one.0.0")
  lu.assertEquals(#parse(path .. " --section=two").jobs, 1)
  -- fio 3.33 reads these as it does: a comment begins anywhere, a section
  -- keeps its name, and the machine has some variables.
  opt = parse(file_of(place, "b.fio", "[a]\nname=other\nbs=8k#c\nsize=16 * $pagesize\n"
    .. "numjobs=$ncpus;c\nfilename=$jobname\n") .. " --section=a")
  local cpus = select(2, source.read("/proc/cpuinfo"):gsub("processor%s*:", ""))
  one = opt.jobs[1]
  lu.assertEquals({ #opt.jobs, one.name, one.block_bytes, one.path },
    { cpus, "other", 8192, "$jobname" })
  lu.assertTrue(one.size >= 65536 and one.size % 65536 == 0, one.size)
  one = parse(file_of(place, "c.fio", "[a]\nsize=2*$mb_memory\n")).jobs[1]
  lu.assertTrue(one.size >= 32 and one.size < 1 << 30, one.size)
  for name, case in pairs {
    ["circle.fio"] = { "[a]\ninclude circle.fio\n", "circles" },
    ["early.fio"] = { "bs=4k\n[a]\n", "before the first [section]" },
    ["empty.fio"] = { "; nothing\n", "holds no job" },
    ["odd.fio"] = { "[a]\n= 5\n", "is no option" },
    ["open.fio"] = { "[a\n", "is no section" },
    ["var.fio"] = { "[a]\nsize=${STORLUA_NOT_SET}\n", "is not set" },
    ["zero.fio"] = { "[a]\nloops=0\n", "loops=0" },
    ["unknown.fio"] = { "[a]\nzonemode=zbd\n", "zonemode is not taken" },
  } do
    local _, err = parse(file_of(place, name, case[1]))
    lu.assertNotNil(err, name)
    lu.assertStrContains(err.message, case[2])
  end
end

return suite
