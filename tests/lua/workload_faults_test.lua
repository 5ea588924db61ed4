-- SPDX-License-Identifier: MIT
--- Workloads on a file system that fails on demand, and on real ones that are
--- full, small or odd.

local disk = require("disk")
local lu = require("luaunit")
local workload = require("storlua.workload")

local suite = {}

local SECTORS = 2048 -- 1 MiB

local function layout(path)
  local w = workload.run { path = path, operation = "write", size_bytes = "1M",
    record_bytes = "64k", stamp = true }
  lu.assertEquals(w["end"], "complete")
end

local function read(path, more)
  local spec = { path = path, operation = "read", record_bytes = 4096, verify = true }
  for key, value in pairs(more or {}) do spec[key] = value end
  return workload.run(spec)
end

function suite.test_read_error_stops_or_is_counted()
  local fault <close> = disk.fault()
  local path = fault.path .. "/data"
  layout(path)
  fault:tell("read EIO 40960")
  local r = read(path)
  lu.assertEquals(r["end"], "error")
  lu.assertEquals(r.error.code, "EIO")
  lu.assertEquals(r.error.op, "read")
  lu.assertEquals(r.error.offset, 40960)
  lu.assertEquals(r.read.operations, 10)
  lu.assertEquals(r.errors, { { op = "read", code = "EIO", offset = 40960, count = 1 } })

  fault:tell("read EIO 81920 512")
  r = read(path, { continue_on_error = true })
  lu.assertEquals(r["end"], "complete")
  lu.assertEquals(r.errors_total, 2)
  lu.assertEquals(r.errors[1].count, 2)
  lu.assertEquals(r.read.operations, 254)
  lu.assertEquals(r.read.bytes, 254 * 4096)
  lu.assertEquals(r.verify.sectors, 254 * 8)
  lu.assertEquals(r.verify.bad_sectors, 0)
end

function suite.test_a_dead_device_ends_a_run_that_continues()
  local fault <close> = disk.fault()
  local path = fault.path .. "/data"
  layout(path)
  fault:tell("read EIO")
  local r = read(path, { continue_on_error = true, limit_bytes = "1G" })
  lu.assertEquals(r["end"], "error")
  lu.assertEquals(r.errors_total, 256)
  lu.assertEquals(r.read.operations, 0)
  lu.assertNil(r.read.latency.p50_ns)
end

function suite.test_a_failed_flush_ends_the_run()
  local fault <close> = disk.fault()
  local path = fault.path .. "/data"
  fault:tell("fsync EIO")
  local w = workload.run { path = path, operation = "write", size_bytes = "1M",
    record_bytes = "64k", flush = "every", flush_every = 4, continue_on_error = true }
  lu.assertEquals(w["end"], "error")
  lu.assertEquals(w.error.op, "fdatasync")
  lu.assertEquals(w.write.operations, 4)
  lu.assertEquals(w.flush.count, 1)
  lu.assertEquals(w.errors, { { op = "flush", code = "EIO", count = 1 } })
  w = workload.run { path = path, operation = "write", size_bytes = "1M", flush = "end" }
  lu.assertEquals(w["end"], "error")
  lu.assertEquals(w.write.operations, 16)
end

function suite.test_write_error_in_mid_record()
  local fault <close> = disk.fault()
  local path = fault.path .. "/data"
  fault:tell("enospc after 100000")
  local w = workload.run { path = path, operation = "write", size_bytes = "1M",
    record_bytes = "64k", stamp = true }
  lu.assertEquals(w["end"], "no_space")
  lu.assertEquals(w.write.bytes, 100000)
  lu.assertEquals(w.target.size_bytes, 100000)
  fault:tell("clear")
  lu.assertEquals(read(path).verify.bad_sectors, 0)
end

function suite.test_short_calls_are_made_whole()
  local fault <close> = disk.fault()
  local path = fault.path .. "/data"
  fault:tell("short write 3000\nshort read 1000")
  local w = workload.run { path = path, operation = "write", size_bytes = "128k",
    record_bytes = "16k", stamp = true }
  lu.assertEquals(w["end"], "complete")
  lu.assertEquals(w.write.operations, 8)
  lu.assertEquals(w.write.bytes, 131072)
  lu.assertEquals(w.write.calls, 8 * 6)
  lu.assertEquals(w.write.short_calls, 8 * 5)
  local r = read(path)
  lu.assertEquals(r["end"], "complete")
  lu.assertEquals(r.read.bytes, 131072)
  lu.assertEquals(r.read.calls, 32 * 5)
  lu.assertEquals(r.verify.bad_sectors, 0)
end

function suite.test_damage_on_the_way_is_classified()
  local fault <close> = disk.fault()
  local path = fault.path .. "/data"
  layout(path)
  local cases = {
    { "flip 51712 3", "flips", 51712 }, { "zero 102400", "zero", 102400 },
    { "ones 102400", "ones", 102400 }, { "garbage 102400", "garbage", 102400 },
    { "misdirect 102400 204800", "address", 102400 },
  }
  for _, case in ipairs(cases) do
    fault:tell("clear")
    fault:tell(case[1])
    local v = read(path, { order = "random" }).verify
    lu.assertEquals(v.damage, { [case[2]] = 1 }, case[1])
    lu.assertEquals(v.bad[1].offset, case[3], case[1])
    lu.assertEquals(v.sectors, SECTORS)
  end
end

function suite.test_lost_and_torn_writes()
  local fault <close> = disk.fault()
  local path = fault.path .. "/data"
  layout(path)
  fault:tell("stale 8192 1024\ntorn 40000")
  local w = workload.run { path = path, operation = "write", record_bytes = "4k",
    range_bytes = "1M", stamp = true, generation = 2 }
  lu.assertEquals(w["end"], "complete")
  fault:tell("clear")
  local v = read(path, { generation = 2 }).verify
  lu.assertEquals(v.damage.stale, 2 + (40960 - 40448) // 512)
  lu.assertEquals(v.damage.torn, 1)
  lu.assertEquals(v.bad[1].offset, 8192)
  lu.assertEquals(v.bad[1].found.generation, 1)
  lu.assertEquals(v.bad[1].expected.generation, 2)
end

function suite.test_a_hanging_read_is_seen_while_it_hangs()
  local fault <close> = disk.fault()
  local path = fault.path .. "/data"
  layout(path)
  fault:tell("hang read 65536")
  local h <close> = workload.start { path = path, operation = "read", record_bytes = 4096 }
  disk.wait_until(10, "the read hangs", function() return fault:count("hanging") > 0 end)
  lu.assertEquals(h:stuck().what, "read")
  lu.assertEquals(h:stuck().offset, 65536)
  lu.assertEquals(h:progress().operations, 16)
  lu.assertFalse(h:is_done())
  fault:tell("clear")
  fault:tell("release")
  local r = h:wait()
  lu.assertEquals(r["end"], "complete")
  lu.assertEquals(r.read.operations, 256)
end

for _, kind in ipairs { "ext4", "xfs", "btrfs" } do
  suite["test_cold_and_direct_on_" .. kind] = function()
    local place <close> = disk.file_system(kind)
    local path = place.path .. "/data"
    layout(path)
    local r = read(path, { cold = "require" })
    lu.assertEquals(r["end"], "complete")
    lu.assertTrue(r.cache.cold)
    lu.assertEquals(r.verify.bad_sectors, 0)
    lu.assertNotNil(r.device.read_bytes, r.device.reason)
    lu.assertTrue(r.device.read_bytes >= 1 << 20)
    r = read(path)
    lu.assertFalse(r.cache.cold)
    lu.assertItemsEquals(r.notes, { "cached", "buffered_loop" })
    r = read(path, { direct = true })
    lu.assertTrue(r.target.direct)
    lu.assertTrue(r.target.offset_align >= 512)
    lu.assertEquals(r.target.filesystem, kind)
    lu.assertTrue(r.cache.cold)
    lu.assertEquals(r.verify.bad_sectors, 0)
    local _, e = workload.try_run { path = path, operation = "read", direct = true,
      record_bytes = 100 }
    lu.assertEquals(e.code, "EINVAL")
    lu.assertStrContains(e.message, "multiples of")
  end
end

function suite.test_full_disk()
  local place <close> = disk.file_system("ext4", { size = "16M" })
  local path = place.path .. "/data"
  local w = workload.run { path = path, operation = "write", size_bytes = "64M",
    record_bytes = "1M", stamp = true, flush = "end" }
  lu.assertEquals(w["end"], "no_space")
  lu.assertEquals(w.error.code, "ENOSPC")
  lu.assertEquals(w.target.size_bytes, w.write.bytes)
  local r = read(path)
  lu.assertEquals(r.read.bytes, w.write.bytes)
  lu.assertEquals(r.verify.bad_sectors, 0)
end

return suite
