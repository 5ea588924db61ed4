-- SPDX-License-Identifier: MIT
--- Log files of fio.lua: their numbers are those of the events, and no file of
--- somebody else is replaced.

local disk = require("disk")
local fio_run = require("fio_run")
local lu = require("luaunit")
local process = require("storlua.process")

local suite = {}
local fio, assert_passed = fio_run.fio, fio_run.assert_passed

-- {ms, value, direction} of each line, checked as a parser of fio's logs would.
local function read(place, name)
  local file <close> = assert(io.open(place.path .. "/" .. name))
  local lines = {}
  for line in file:lines() do
    local ms, value, direction = line:match("^(%d+), (%d+), ([012]), 0, 0$")
    lu.assertNotNil(ms, line)
    lines[#lines + 1] = { math.tointeger(ms), math.tointeger(value), math.tointeger(direction) }
  end
  return lines
end

local function of(lines, direction)
  local chosen = {}
  for _, line in ipairs(lines) do
    if line[3] == direction then chosen[#chosen + 1] = line end
  end
  return chosen
end

function suite.test_a_mixed_job()
  local place <close> = disk.directory()
  local found = assert_passed(fio(place, { "--name=m", "--filename=x", "--rw=randrw", "--bs=4k",
    "--size=4m", "--runtime=0.5s", "--time_based", "--write_bw_log=l", "--write_iops_log=l",
    "--write_lat_log=l", "--log_avg_msec=100" }))
  local result = found.m.result
  lu.assertEquals(result.series.interval_ns, 100000000)
  for direction, name in pairs { [0] = "read", "write" } do
    local series = result.series.directions[name]
    local bw, iops = of(read(place, "l_bw.1.log"), direction),
      of(read(place, "l_iops.1.log"), direction)
    local bytes, latency_ns = 0, 0
    lu.assertEquals(#bw, #series.bytes)
    for i = 1, #series.bytes do
      bytes, latency_ns = bytes + series.bytes[i], latency_ns + series.latency_ns[i]
      if i < #series.bytes then -- the last one ends with the job
        lu.assertEquals(bw[i], { 100 * i, series.bytes[i] * 10 // 1024, direction })
        lu.assertEquals(iops[i], { 100 * i, series.operations[i] * 10, direction })
      end
    end
    lu.assertEquals(bytes, result[name].bytes)
    lu.assertEquals(latency_ns, result[name].io_ns)
    local lat = of(read(place, "l_lat.1.log"), direction)
    lu.assertEquals(lat[1][2], series.latency_ns[1] // series.operations[1])
    lu.assertEquals(of(read(place, "l_clat.1.log"), direction), lat)
  end
  lu.assertEquals(read(place, "l_slat.1.log"), {})
end

function suite.test_several_streams_clones_and_the_slowest()
  local place <close> = disk.directory()
  local found = assert_passed(fio(place, { "--name=n", "--nrfiles=2", "--ioengine=libaio",
    "--iodepth=4", "--rw=randread", "--bs=4k", "--size=2m", "--numjobs=2", "--write_bw_log=n",
    "--write_lat_log=n", "--log_avg_msec=1000", "--log_max_value=1" }))
  for job = 1, 2 do
    local result = found["n." .. job].result
    local lines, slowest = read(place, ("n_bw.%d.log"):format(job)), 0
    for _, one in ipairs(result.streams) do slowest = math.max(slowest, one.series.max_ns[1]) end
    lu.assertEquals(#lines, 1)
    local length_ns = math.min(result.total_ns, 1000000000)
    lu.assertEquals(lines[1][2], (2 << 20) * 1000000000 // length_ns // 1024)
    lu.assertEquals(read(place, ("n_lat.%d.log"):format(job))[1][2], slowest)
  end
end

function suite.test_names_and_refusals()
  local place <close> = disk.directory()
  local jobfile <close> = assert(io.open(place.path .. "/a.fio", "w"))
  jobfile:write("[a]\nioengine=null\nsize=1m\nwrite_bw_log\nlog_avg_msec=50\nper_job_logs=0\n")
  jobfile:close()
  assert_passed(fio(place, { "a.fio" }))
  lu.assertEquals(#read(place, "a_bw.log"), 1)
  assert_passed(fio(place, { "a.fio" })) -- a log is replaced
  local function refused(text, ...)
    local words = { "--name=b", "--ioengine=null", "--size=1m", ... }
    local result = fio(place, words)
    lu.assertEquals(result.code, 2, result.stdout .. result.stderr)
    lu.assertStrContains(result.stderr, text)
  end
  refused("log_avg_msec= is needed", "--write_bw_log=b")
  refused("the log no/b_bw.1.log cannot be written", "--write_bw_log=no/b", "--log_avg_msec=5")
  process.run { "mkfifo", place.path .. "/f_bw.1.log" } -- opening it would wait for a reader
  refused("f_bw.1.log is no file", "--write_bw_log=f", "--log_avg_msec=5")
  refused("is the log of another job", "--write_bw_log=b", "--log_avg_msec=5", "--numjobs=2",
    "--per_job_logs=0")
  refused("one maximum is kept", "--rw=rw", "--write_lat_log=b", "--log_avg_msec=5",
    "--log_max_value=1")
  local other <close> = assert(io.open(place.path .. "/b_bw.1.log", "w"))
  other:write("mine\n")
  other:close()
  refused("is no log of fio: --overwrite", "--write_bw_log=b", "--log_avg_msec=5")
  assert_passed(fio(place, { "--name=b", "--ioengine=null", "--size=1m", "--write_bw_log=b",
    "--log_avg_msec=5", "--overwrite" }))
  lu.assertEquals(#read(place, "b_bw.1.log"), 1)
end

return suite
