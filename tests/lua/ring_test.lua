-- SPDX-License-Identifier: MIT
--- I/O by tasks over io_uring, on real files, devices and a file system that
--- fails on demand.

local disk = require("disk")
local gate = require("storlua.gate")
local lu = require("luaunit")
local rig = require("ring_rig")
local ring = require("storlua.ring")
local shell = require("shell")
local task = require("storlua.task")

local RECORD <const> = rig.RECORD
local open, layout = rig.open, rig.layout
local assert_fails, assert_misuse = rig.assert_fails, rig.assert_misuse

local suite = {}

function suite.test_64_tasks_read_what_a_workload_wrote()
  local place <close> = disk.directory()
  layout(place.path .. "/f")
  local r <close> = open { path = place.path .. "/f", record_bytes = RECORD, slots = 64 }
  lu.assertEquals(r.size_bytes, 4 << 20)
  local records = r.size_bytes // RECORD
  local scope <close> = task.scope()
  local seen, next_record = 0, 0
  for slot = 1, 64 do
    scope:spawn("reader " .. slot, function()
      while next_record < records do
        local offset = next_record * RECORD
        next_record = next_record + 1
        lu.assertEquals(r:read(slot, offset), RECORD)
        local ok, bad = r:verify(slot, offset)
        lu.assertTrue(ok, bad and bad.damage)
        seen = seen + 1
      end
    end)
  end
  scope:join()
  lu.assertEquals(seen, records)
  local latency = r:latency()
  lu.assertEquals(latency.read.count, records)
  lu.assertTrue(latency.read.min_ns > 0 and latency.read.p99_ns >= latency.read.p50_ns)
  lu.assertEquals(latency.write, { count = 0, histogram = {} })
  -- Another place, another generation: said by name.
  r:read(1, RECORD)
  local ok, bad = r:verify(1, 0)
  lu.assertFalse(ok)
  lu.assertEquals(bad.damage, "address")
  ok, bad = r:verify(1, RECORD, 2)
  lu.assertFalse(ok)
  lu.assertEquals({ bad.damage, bad.generation, bad.offset }, { "stale", 1, RECORD })
end

function suite.test_write_flush_read_on_disk_and_in_memory()
  for _, parent in ipairs { "/var/tmp", "/dev/shm" } do
    local path = shell.run("mktemp -d %s/storlua_test.XXXXXX", parent)
    local _ <close> = task.defer(function() shell.run("rm -rf '%s'", path) end)
    local r <close> = open { path = path .. "/f", record_bytes = RECORD, slots = 4, write = true }
    for i = 1, 4 do
      r:fill(i, (i - 1) * RECORD, 7)
      lu.assertEquals(r:write(i, (i - 1) * RECORD), RECORD)
    end
    r:fsync()
    lu.assertEquals(r:latency().fsync.count, 1)
    r:put_u64(1, 1, -2)
    r:put(1, 9, "hello")
    lu.assertEquals(r:write(1, 4 * RECORD, 512), 512)
    -- Short at the end of the file, nothing past it.
    lu.assertEquals(r:read(2, 4 * RECORD), 512)
    lu.assertEquals(r:read(3, 5 * RECORD), 0)
    lu.assertEquals(r:get_u64(2, 1), -2)
    lu.assertEquals(r:get(2, 9, 5), "hello")
    for i = 1, 4 do
      r:read(4, (i - 1) * RECORD)
      lu.assertTrue(r:verify(4, (i - 1) * RECORD, 7))
    end
    lu.assertEquals(r:facts().ram, parent == "/dev/shm")
  end
end

function suite.test_errors_say_where()
  lu.assertEquals(assert_fails("ENOENT", ring.open, { path = "/nonexistent/f",
    record_bytes = RECORD }).path, "/nonexistent/f")
  local fault <close> = disk.fault()
  local path = fault.path .. "/data"
  layout(path, "1M")
  local r <close> = open { path = path, record_bytes = RECORD, slots = 2 }
  fault:tell("read EIO 40960 512")
  local err = assert_fails("EIO", r.read, r, 1, 40960)
  lu.assertEquals({ err.op, err.path, err.offset }, { "read", path, 40960 })
  lu.assertEquals(r:read(1, 0), RECORD)
  lu.assertTrue(r:verify(1, 0))
end

function suite.test_misuse()
  local place <close> = disk.directory()
  layout(place.path .. "/f")
  local r = open { path = place.path .. "/f", record_bytes = RECORD, slots = 2 }
  assert_misuse("opened for reading", r.write, r, 1, 0)
  assert_misuse("slots 1 to 2", r.read, r, 3, 0)
  assert_misuse("4096 bytes at most", r.read, r, 1, 0, RECORD + 1)
  assert_misuse("4096 bytes at most", r.read, r, 1, 0, 0)
  assert_misuse("4096 bytes at most", r.read, r, 1, -1)
  assert_misuse("no such slot", r.read, r, 0, 0)
  assert_misuse("no integer representation", r.read, r, 1, 0.5)
  assert_misuse("not within 1 to 512", r.get_u64, r, 1, 513)
  assert_misuse("past the end of the slot", r.put, r, 1, RECORD, "ab")
  assert_misuse("multiple of 512", r.fill, r, 1, 100)
  for wanted, options in pairs {
    ["slots must be 1 to 4096, not 0"] = { path = "x", record_bytes = RECORD, slots = 0 },
    ["not 2.5"] = { path = "x", record_bytes = RECORD, slots = 2.5 },
    ["record_bytes must be 1 to 1 GiB, not 0"] = { path = "x", record_bytes = 0 },
    ["path must be a text, not nil"] = { record_bytes = RECORD },
  } do
    assert_misuse(wanted, ring.open, options)
  end
  assert_misuse("no option 'depth'", ring.open, { path = "x", record_bytes = RECORD, depth = 1 })
  assert_misuse("a NUL", ring.open, { path = "a\0b", record_bytes = RECORD })
  local co = coroutine.wrap(function() return r:read(1, 0) end)
  assert_fails("MISUSE", co)
  r:close()
  r:close()
  assert_misuse("the ring is closed", r.read, r, 1, 0)
end

function suite.test_devices_go_through_the_gate()
  shell.need_root()
  local place <close> = shell.place()
  local node, file = place:loop("img", "8M")
  local options = { path = node, record_bytes = RECORD, slots = 2, write = true, direct = true }
  lu.assertEquals(assert_fails("REFUSED", ring.open, options).path, node)
  local grant <close> = gate.open(node, { consents = { "loop:" .. file } })
  lu.assertEquals(grant.id, "loop:" .. file)
  local r <close> = open(options)
  lu.assertTrue(r:facts().direct and r:facts().block)
  r:fill(1, RECORD)
  lu.assertEquals(r:write(1, RECORD), RECORD)
  r:fsync()
  r:read(2, RECORD)
  lu.assertTrue(r:verify(2, RECORD))
  lu.assertStrContains(assert_fails("EINVAL", r.read, r, 1, 100).hint, "multiples")
  lu.assertEquals(r:read(1, 8 << 20), 0)
end

function suite.test_timers_run_beside_a_busy_ring()
  local place <close> = disk.directory()
  layout(place.path .. "/f")
  local r <close> = open { path = place.path .. "/f", record_bytes = RECORD, slots = 1 }
  local scope <close> = task.scope()
  local reader = scope:spawn("reader", function()
    while true do r:read(1, 0) end
  end)
  task.sleep(0.02)
  reader:cancel()
  pcall(reader.join, reader)
  lu.assertTrue(r:latency().read.count > 0)
end

return suite
