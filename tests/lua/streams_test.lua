-- SPDX-License-Identifier: MIT
-- Several streams of one workload: together at the start, honest in the sum.
local lu = require("luaunit")

local fs = require("storlua.fs")
local loop = require("storlua.core.loop")
local workload = require("storlua.workload")

local tests = {}

local function paths(dir, count)
  local list = {}
  for i = 1, count do list[i] = ("%s/part%d"):format(dir.path, i) end
  return list
end

function tests.streams_with_files_of_their_own()
  local dir <close> = fs.temp_dir("/dev/shm")
  local r = workload.run { operation = "write", size_bytes = "1M", record_bytes = "4k",
    streams = 3, paths = paths(dir, 3), stamp = true, flush = "end" }
  lu.assertEquals(r["end"], "complete")
  lu.assertEquals(#r.streams, 3)
  lu.assertEquals(r.write.bytes, 3 << 20)
  lu.assertEquals(r.write.operations, 768)
  lu.assertEquals(r.write.latency.count, 768)
  lu.assertEquals(r.write.streams_mib_s.count, 3)
  lu.assertTrue(r.write.streams_mib_s.min <= r.write.streams_mib_s.max)
  lu.assertEquals(r.flush.count, 3)
  lu.assertTrue(r.window.bytes <= 3 << 20)
  lu.assertEquals(#r.window.streams, 3)
  r = workload.run { operation = "read", record_bytes = "4k", streams = 3,
    paths = paths(dir, 3), verify = true, order = "random" }
  lu.assertEquals(r.verify.bad_sectors, 0)
  lu.assertEquals(r.verify.sectors, 3 * 2048)
end

function tests.streams_share_one_file()
  local dir <close> = fs.temp_dir("/dev/shm")
  local path = dir.path .. "/one"
  local given = { path = path, operation = "write", range_bytes = "1000k", record_bytes = "16k",
    streams = 4, stamp = true, writer = 0 }
  local r = workload.run(given)
  lu.assertEquals(r.write.bytes, 1000 * 1024)
  lu.assertEquals(r.target.size_bytes > 0, true)
  lu.assertEquals(fs.stat(path).size_bytes, 1000 * 1024)
  given.operation, given.verify, given.range_bytes = "read", true, nil
  r = workload.run(given)
  lu.assertEquals(r.read.bytes, 1000 * 1024)
  lu.assertEquals(r.verify.bad_sectors, 0)
end

function tests.a_stonewall_is_a_good_end()
  if loop.is_virtual() then return end
  local dir <close> = fs.temp_dir("/dev/shm")
  local r = workload.run { operation = "write", range_bytes = "64k", record_bytes = "4k",
    streams = 2, paths = paths(dir, 2), limit_seconds = 0.1, stonewall = true }
  lu.assertEquals(r["end"], "complete")
  lu.assertTrue(r.window.ns > 0)
  lu.assertTrue(r.window.mib_s > 0)
end

function tests.one_that_cannot_start_is_named()
  local dir <close> = fs.temp_dir("/dev/shm")
  local list = paths(dir, 3)
  list[2] = dir.path .. "/none/x"
  local ok, err = pcall(workload.run, { operation = "write", range_bytes = "1M",
    streams = 3, paths = list })
  lu.assertFalse(ok)
  lu.assertEquals(err.code, "ENOENT")
  lu.assertStrContains(err.message, "none/x")
end

function tests.what_makes_no_sense_is_refused()
  local dir <close> = fs.temp_dir("/dev/shm")
  local cases = {
    { { streams = 0 }, "streams is 0" },
    { { streams = 2000 }, "1 to 1024" },
    { { streams = 3, paths = { "a", "b" } }, "2 paths for 3 streams" },
    { { streams = 2, path = dir.path .. "/new" }, "need range_bytes" },
    { { streams = 3, path = dir.path .. "/new", range_bytes = "8k", record_bytes = "4k" },
      "fewer records" },
  }
  for _, case in ipairs(cases) do
    case[1].operation = "write"
    local ok, err = pcall(workload.run, case[1])
    lu.assertFalse(ok)
    lu.assertStrContains(tostring(err.message), case[2])
  end
end

return tests
