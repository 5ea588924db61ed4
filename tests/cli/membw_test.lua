-- SPDX-License-Identifier: MIT
--- scripts/membw.lua as a user runs it.
local cli_run = require("cli_run")
local curve = require("storlua.memory.curve")
local disk = require("disk")
local fs = require("storlua.fs")
local lu = require("luaunit")
local sanitizer = require("sanitizer")
local process = require("storlua.process")

local function membw(place, ...)
  return cli_run.run { "--output", place.path .. "/run", "membw.lua", ... }
end

local function memory_events(place)
  return cli_run.events_of(place.path .. "/run", "memory")
end

local QUICK = { "--no-curve", "--size", "256k", "--samples", "2", "--sample-time", "1ms" }

local T = {}

function T.setUp()
  lu.skipIf(sanitizer == "thread", "its own page faults fall into the timed parts")
end

function T.test_operations_are_events_and_a_table()
  local place <close> = disk.directory()
  local r = membw(place, "--op", "read,copy", "--threads", "1", table.unpack(QUICK))
  lu.assertEquals(r.code, 0, r.stdout .. r.stderr)
  local events = memory_events(place)
  lu.assertEquals(#events, 2)
  lu.assertEquals(events[2].case_id, "copy.256KiB.t1")
  lu.assertEquals(events[2].result.level, "unknown")
  lu.assertTrue(events[2].result.verified)
  lu.assertEquals(events[1].result.faults, 0)
  local report = cli_run.run { "report", place.path .. "/run", "--to", "text" }
  lu.assertStrContains(report.stdout, "copy.256KiB.t1")
  report = cli_run.run { "report", place.path .. "/run", "--to", "csv" }
  lu.assertStrContains(report.stdout, "copy.256KiB.t1")
  report = cli_run.run { "report", place.path .. "/run", "--to", "junit" }
  lu.assertStrContains(report.stdout, "copy.256KiB.t1")
end

function T.test_the_scaling_curve()
  local place <close> = disk.directory()
  local r = membw(place, "--op", "read,copy", "--threads", "sweep", table.unpack(QUICK))
  lu.assertEquals(r.code, 0, r.stdout .. r.stderr)
  local cpus = tonumber(process.run { "nproc" }.stdout)
  local events = memory_events(place)
  lu.assertEquals(#events, 2 * cpus)
  for i, event in ipairs(events) do
    local threads = (i - 1) % cpus + 1
    lu.assertEquals(event.spec.threads, threads)
    local seen = {}
    for _, cpu in ipairs(event.result.cpus) do -- each on one of its own
      lu.assertFalse(cpu < 0 or seen[cpu] or false)
      seen[cpu] = true
    end
    lu.assertEquals(#event.result.cpus, threads)
    local single = events[i - threads + 1].result.mb_s
    if threads == 1 then
      lu.assertNil(event.result.scaling)
    else
      lu.assertAlmostEquals(event.result.scaling, event.result.mb_s / single, 1e-6)
    end
    lu.assertNotNil(event.result.conditions.before)
  end
  lu.assertStrContains(r.stdout, "times")
  lu.assertStrContains(r.stdout, "page faults in the timed parts: 0;")
  lu.assertStrContains(r.stdout, "cpu_clock: ")
end

function T.test_what_cannot_be_measured_is_said_before()
  local place <close> = disk.directory()
  local cases = {
    { "stay for others", "--latency", "--size", "1000T" },
    { "has no 'none' here: ", "--kernel", "none", "--op", "read,copy" },
    { "CPU 1023 is not there", "--cpus", "1023", "--threads", "1" },
    { "CPU 1023 is not there", "--cpus", "1023", "--compat", "bw_mem" },
    { "--op: ',' names nothing", "--op", "," },
    { "--cpus: ',' names nothing", "--cpus", "," },
    { "--threads: ',' names nothing", "--threads", "," },
    { "CPU 0 is named twice", "--cpus", "0,0" },
    { "CPU 1 is named twice", "--cpus", "0-1,1" },
    { "301 CPUs", "--cpus", "0-300" },
    { "15 samples of 20.0 ms take longer", "--limit", "1us" },
    { "--threads does not go with --latency", "--latency", "--threads", "1" },
    { "--op does not go with --latency", "--latency", "--op", "nonsense" },
    { "--kernel does not go with --latency", "--latency", "--kernel", "xyz" },
    { "--no-curve does not go with --latency", "--latency", "--no-curve" },
    { "at most 100 with --latency", "--latency", "--samples", "101" },
    { "runs on one CPU", "--latency", "--cpus", "0,1" },
    { "--op does not go with --compat bw_mem", "--compat", "bw_mem", "--op", "read" },
    { "--threads does not go with", "--compat", "bw_mem", "--threads", "2" },
    { "--size does not go with", "--compat", "bw_mem", "--size", "4k" },
    { "--samples does not go with", "--compat", "bw_mem", "--samples", "3" },
    { "--kernel does not go with", "--compat", "bw_mem", "--kernel", "cx1" },
    { "--latency does not go with", "--compat", "bw_mem", "--latency" },
  }
  if fs.read("/proc/sys/vm/nr_hugepages"):find("^0") then
    cases[#cases + 1] = { "the pool of huge pages has no", "--pages", "hugetlb" }
  end
  for i, one in ipairs(cases) do
    local r = cli_run.run { "--output", place.path .. "/" .. i, "membw.lua",
      table.unpack(one, 2) }
    lu.assertEquals(r.code, 2, one[1] .. r.stdout .. r.stderr)
    lu.assertStrContains(r.stdout .. r.stderr, one[1])
    lu.assertEquals(cli_run.events_of(place.path .. "/" .. i, "memory"), {})
  end
end

function T.test_a_kernel_of_some_operations()
  local place <close> = disk.directory()
  local r = membw(place, "--kernel", "memset", "--threads", "1", table.unpack(QUICK))
  lu.assertEquals(r.code, 0, r.stdout .. r.stderr)
  for _, event in ipairs(memory_events(place)) do
    lu.assertEquals(event.result.kernel, "memset")
  end
  lu.assertEquals(#memory_events(place), 2) -- fill and zero
end

function T.test_bw_mem_form()
  local place <close> = disk.directory()
  local r = membw(place, "--compat", "bw_mem", "--sample-time", "1ms")
  lu.assertEquals(r.code, 0, r.stdout .. r.stderr)
  lu.assertStrContains(r.stdout, "L1 cache bandwidth rd test with # process\n0.008192 ")
  local _, main = r.stdout:gsub("\n52%.43 %d+%.%d%d", "")
  lu.assertEquals(main, 9 * 5)
  lu.assertStrContains(r.stdout, "touch 4 bytes of 16")
  local events = memory_events(place)
  lu.assertEquals(#events, 27)
  lu.assertEquals(events[1].result.coverage, 0.25)
end

local function ladder(place, ...)
  local r = membw(place, "--latency", "--samples", "1", "--sample-time", "1ms", ...)
  lu.assertEquals(r.code, 0, r.stdout .. r.stderr)
  local ids = {}
  for i, event in ipairs(memory_events(place)) do ids[i] = event.case_id end
  return ids, r.stdout
end

function T.test_the_ladder_ends_with_what_was_asked_for()
  local place <close> = disk.directory()
  lu.assertEquals(ladder(place, "--size", "512k", "--pages", "small"), {
    "latency.4KiB.small.all", "latency.16KiB.small.all", "latency.64KiB.small.all",
    "latency.256KiB.small.all", "latency.512KiB.small.all", "latency.512KiB.small.block",
  })
  local other <close> = disk.directory() -- no whole number of blocks
  local ids, out = ladder(other, "--size", "260k", "--pages", "small")
  lu.assertEquals(#ids, 5)
  lu.assertStrContains(out, "260 KiB is no multiple of 256 KiB")
end

function T.test_huge_only_what_lies_in_huge_pages()
  local place <close> = disk.directory()
  for i, pages in ipairs { "huge", "both" } do
    local r = process.try_run { os.getenv("STORLUA_HELPERS") .. "/no_huge", cli_run.program,
      "--output", place.path .. "/" .. i, "membw.lua", "--latency", "--size", "16k", "--samples",
      "1", "--sample-time", "1ms", pages == "huge" and "--pages=huge" or nil }
    lu.assertEquals(r.code, 0, r.stdout .. r.stderr)
    local events = cli_run.events_of(place.path .. "/" .. i, "memory")
    local name = pages == "huge" and "not_huge" or "small"
    lu.assertEquals(events[1].case_id, "latency.4KiB." .. name .. ".all")
    lu.assertEquals(#events, 2)
    lu.assertEquals(events[1].result.huge_bytes, 0)
    lu.assertStrContains(r.stdout, "16 KiB  small")
    lu.assertNotStrContains(r.stdout, "KiB  huge")
    lu.assertStrContains(r.stdout, "huge_pages: the system gives none")
  end
end

-- Not even the first size of the curve ends in time.
function T.test_no_curve_within_the_limit()
  local place <close> = disk.directory()
  local r = membw(place, "--op", "read", "--threads", "1", "--samples", "1", "--sample-time",
    "1us", "--limit", "2us")
  lu.assertEquals(r.code, 1, r.stdout .. r.stderr)
  lu.assertStrContains(r.stdout, "time limit")
  lu.assertNotStrContains(r.stdout .. r.stderr, "traceback")
end

function T.test_bad_command_lines()
  local place <close> = disk.directory()
  for _, argv in ipairs {
    { "--op", "fly" }, { "--size", "5000" }, { "--size", "0" }, { "--threads", "0" },
    { "--threads", "500" }, { "--cpus", "x" }, { "--samples", "0" }, { "--compat", "stream" },
    { "--size", "1P" }, { "--kernel", "nosuch" }, { "--op", "fill", "--kernel", "cx1" },
  } do
    local r = cli_run.run { "--output", place.path .. "/none", "membw.lua", table.unpack(argv) }
    lu.assertEquals(r.code, 2, table.concat(argv, " ") .. r.stdout .. r.stderr)
    lu.assertNotStrContains(r.stdout, "by size") -- nothing was measured before
  end
end

function T.test_a_cpu_that_the_mask_forbids()
  local place <close> = disk.directory()
  local r = process.try_run { "taskset", "-c", "0", cli_run.program, "--output",
    place.path .. "/run", "membw.lua", "--cpus", "1", "--op", "read", table.unpack(QUICK) }
  lu.assertEquals(r.code, 2)
  lu.assertStrContains(r.stdout .. r.stderr, "CPU 1")
end

function T.test_board_limits()
  local place <close> = disk.directory()
  fs.write_atomic(place.path .. "/board.lua", [[return { name = "b", roles = { ddr = { limits = {
    { metric = "read.mb_s", min = 1 } } } } }]])
  local r = membw(place, "--board", place.path .. "/board.lua", "--op", "read", "--threads", "1",
    table.unpack(QUICK))
  -- Nothing here is proved to be memory, so the limit has no data: it fails.
  lu.assertEquals(r.code, 1, r.stdout .. r.stderr)
  lu.assertStrContains(r.stdout, "ddr.read.mb_s")
end

local function interrupt(argv, pattern)
  local place <close> = disk.directory()
  local run <close> = cli_run.start { "--output", place.path .. "/run", "membw.lua",
    table.unpack(argv) }
  run:wait_event(place.path .. "/run", pattern, 30)
  run:signal("INT")
  local r = run:finish()
  lu.assertEquals(r.code, 130, r.stdout .. r.stderr)
  lu.assertEquals(cli_run.verdict(place.path .. "/run").status, "interrupted")
end

function T.test_ctrl_c_in_every_phase()
  local function started(event) return event.kind == "start" end
  local function measured(event) return event.kind == "memory" end
  interrupt({}, started)
  interrupt({}, measured)
  interrupt({ "--no-curve", "--size", "64M" }, started)
  interrupt({ "--latency" }, measured)
  interrupt({ "--compat", "bw_mem" }, measured)
end

function T.test_cgroup_limit()
  local group <close> = disk.memory_group("64M")
  local place <close> = disk.directory()
  local r = group.run { cli_run.program, "--output", place.path .. "/run", "membw.lua",
    "--no-curve", "--op", "copy", "--size", "64M" }
  lu.assertEquals(r.code, 2, r.stdout .. r.stderr)
  lu.assertStrContains(r.stdout, "limits to 64 MiB")
  r = group.run { cli_run.program, "--output", place.path .. "/small", "membw.lua",
    "--no-curve", "--op", "copy", "--size", "8M", "--threads", "1", "--samples", "2" }
  lu.assertEquals(r.code, 0, r.stdout .. r.stderr)
end

-- What the cgroup leaves ends the curve in the cache of most machines.
function T.test_a_short_curve_proves_no_memory()
  local group <close> = disk.memory_group("100M")
  local cache = curve.cache_bytes()
  lu.skipIf(cache and cache < 4 << 20, "this machine's caches are small")
  local place <close> = disk.directory()
  local r = group.run { cli_run.program, "--output", place.path .. "/run", "membw.lua", "--op",
    "read", "--threads", "1", "--samples", "2", "--sample-time", "1ms" }
  lu.assertEquals(r.code, 0, r.stdout .. r.stderr)
  lu.assertNotStrContains(r.stdout, "level DRAM")
  for _, event in ipairs(cli_run.events_of(place.path .. "/run", "memory")) do
    lu.assertNotEquals(event.result.level, "DRAM")
  end
end

return T
