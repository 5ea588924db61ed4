-- SPDX-License-Identifier: MIT
--- I/O by tasks over io_uring, on real files, devices and a file system that
--- fails on demand.

local disk = require("disk")
local errors = require("storlua.errors")
local gate = require("storlua.gate")
local job = require("storlua.job")
local loop = require("storlua.core.loop")
local lu = require("luaunit")
local ring = require("storlua.ring")
local scheduler = require("storlua.scheduler")
local shell = require("shell")
local task = require("storlua.task")
local workload = require("storlua.workload")

local RECORD <const> = 4096

-- Skips where the kernel has no io_uring for us.
local function open(options)
  local r, err = ring.try_open(options)
  lu.skipIf(not r and (err.code == "ENOSYS" or err.code == "EPERM"), tostring(err))
  if not r then error(err, 0) end
  return r
end

local function layout(path, size)
  local w = workload.run { path = path, operation = "write", size_bytes = size or "4M",
    record_bytes = "64k", stamp = true }
  lu.assertEquals(w["end"], "complete")
end

local function assert_fails(code, fn, ...)
  local ok, err = pcall(fn, ...)
  lu.assertFalse(ok)
  lu.assertTrue(errors.is(err), tostring(err))
  lu.assertEquals(err.code, code, err.message)
  return err
end

local function assert_misuse(text, fn, ...)
  local ok, err = pcall(fn, ...)
  lu.assertFalse(ok)
  lu.assertStrContains(tostring(err), text)
end

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
  assert_misuse("no option 'depth'", ring.open, { path = "x", record_bytes = RECORD, depth = 1 })
  assert_misuse("a NUL", ring.open, { path = "a\0b", record_bytes = RECORD })
  local co = coroutine.wrap(function() return r:read(1, 0) end)
  assert_fails("MISUSE", co)
  r:close()
  r:close()
  assert_misuse("the ring is closed", r.read, r, 1, 0)
end

-- A ring on a file whose reads do not answer, and the file system.
local function silent(fault, slots)
  local path = fault.path .. "/data"
  layout(path, "1M")
  local r = open { path = path, record_bytes = RECORD, slots = slots or 2, write = true }
  fault:tell("hang read")
  return r
end

-- Starts a task that runs fn and waits until its operation hangs.
local function hang(fault, scope, fn)
  local ended = {}
  ended.child = scope:spawn("reader", function()
    local ok, err = pcall(fn)
    ended.error = not ok and err
  end)
  disk.wait_until(5, "it hangs", function() return fault:count("hanging") == 1 end)
  return ended
end

local function answer(fault)
  fault:tell("clear")
  fault:tell("release")
end

function suite.test_a_cancel_raises_at_once_and_the_slot_stays_taken()
  local fault <close> = disk.fault()
  local r <close> = silent(fault)
  local scope <close> = task.scope()
  local reader = hang(fault, scope, function() r:read(1, 0) end)
  reader.child:cancel()
  task.yield()
  lu.assertEquals(reader.error and reader.error.code, "CANCELLED")
  assert_misuse("under way", r.get_u64, r, 1, 1)
  assert_misuse("under way", r.read, r, 1, 0)
  answer(fault)
  disk.wait_until(5, "the slot comes back", function() return pcall(r.get_u64, r, 1, 1) end)
  lu.assertEquals(r:read(1, 0), RECORD)
  lu.assertTrue(r:verify(1, 0))
  -- A task that is cancelled already begins nothing.
  local count = r:latency().read.count
  local late = scope:spawn("late", function() r:read(1, 0) end)
  late:cancel()
  pcall(late.join, late)
  lu.assertEquals(r:latency().read.count, count)
end

function suite.test_a_timeout_ends_a_wait_and_the_task_goes_on()
  local fault <close> = disk.fault()
  local r <close> = silent(fault)
  local err = assert_fails("TIMEOUT", task.timeout, 0.05, r.read, r, 1, 0)
  lu.assertStrContains(err.message, "0.05 s")
  task.sleep(0.01)
  answer(fault)
  lu.assertEquals(r:read(2, RECORD), RECORD)
  lu.assertTrue(r:verify(2, RECORD))
end

function suite.test_a_clean_up_has_its_deadline()
  local fault <close> = disk.fault()
  local r <close> = silent(fault)
  local before, noted = scheduler.cleanup_seconds, #scheduler.cleanup_failures
  scheduler.cleanup_seconds = 0.05
  do
    local _ <close> = task.defer(function() r:read(1, 0) end)
  end
  scheduler.cleanup_seconds = before
  lu.assertEquals(#scheduler.cleanup_failures, noted + 1)
  lu.assertEquals(table.remove(scheduler.cleanup_failures).error.code, "TIMEOUT")
  answer(fault)
end

-- Runs fn(told), `told` being filled with what is said of jobs that hang.
local function listen(fn)
  local on_stuck, given_up, seconds = job.on_stuck, job.given_up, scheduler.cleanup_seconds
  local told = {}
  job.on_stuck = function(info) told[#told + 1] = info end
  local ok, err = pcall(fn, told)
  job.on_stuck, job.given_up, scheduler.cleanup_seconds = on_stuck, given_up, seconds
  if not ok then error(err, 0) end
end

function suite.test_a_ring_that_does_not_answer_is_left_behind()
  listen(function(told)
    local fault <close> = disk.fault()
    local handles, busy = loop.handles()
    local reader, lost
    local scope <close> = task.scope()
    local closer = scope:spawn("closer", function()
      local r <close> = silent(fault)
      reader = hang(fault, scope, function() r:read(2, 3 * RECORD) end)
      lost = r
      task.sleep(60)
    end)
    disk.wait_until(5, "the read hangs", function() return lost end)
    closer:cancel()
    pcall(closer.join, closer)
    lu.assertEquals({ told[1].what, told[1].offset, told[1].abandoned },
      { "read", 3 * RECORD, true })
    lu.assertStrContains(told[1].job, "ring " .. fault.path)
    lu.assertTrue(told[1].seconds > 0.4 and told[1].seconds < 30, told[1].seconds)
    lu.assertEquals(#told, 1)
    -- The task that waited for it hears of it; so does who comes late.
    pcall(reader.child.join, reader.child)
    lu.assertEquals(reader.error.code, "ECANCELED")
    assert_misuse("the ring is closed", lost.read, lost, 1, 0)
    lost:close()
    lu.assertEquals({ loop.handles() }, { handles, busy })
    answer(fault)
  end)
end

function suite.test_close_gives_up_after_the_time_of_a_clean_up()
  listen(function(told)
    local fault <close> = disk.fault()
    local scope <close> = task.scope()
    local r = silent(fault)
    local reader = hang(fault, scope, function() r:read(1, 0) end)
    scheduler.cleanup_seconds = 0.1
    assert_fails("TIMEOUT", r.close, r)
    scheduler.cleanup_seconds = 60
    lu.assertTrue(told[1].abandoned)
    pcall(reader.child.join, reader.child)
    lu.assertEquals(reader.error.code, "ECANCELED")
    answer(fault)
  end)
end

function suite.test_a_cancelled_flush_keeps_its_place()
  local fault <close> = disk.fault()
  local path = fault.path .. "/data"
  layout(path, "1M")
  local r <close> = open { path = path, record_bytes = RECORD, slots = 1, write = true }
  fault:tell("hang fsync")
  local scope <close> = task.scope()
  local flusher = hang(fault, scope, function() r:fsync() end)
  flusher.child:cancel()
  pcall(flusher.child.join, flusher.child)
  lu.assertEquals(flusher.error.code, "CANCELLED")
  assert_misuse("more flushes under way than slots", r.fsync, r)
  answer(fault)
  disk.wait_until(5, "a flush has a place", function() return pcall(r.fsync, r) end)
end

function suite.test_a_ring_that_is_closed_takes_no_more()
  local place <close> = disk.directory()
  layout(place.path .. "/f")
  local r = open { path = place.path .. "/f", record_bytes = RECORD, slots = 4 }
  local scope <close> = task.scope()
  local refused = 0
  for slot = 1, 4 do
    scope:spawn("reader", function()
      local ok, err
      repeat ok, err = pcall(r.read, r, slot, 0) until not ok
      lu.assertStrContains(tostring(err), "the ring is closed")
      refused = refused + 1
    end)
  end
  task.sleep(0.01)
  r:close()
  scope:join()
  lu.assertEquals(refused, 4)
end

function suite.test_close_waits_for_what_is_under_way()
  local fault <close> = disk.fault()
  local path = fault.path .. "/data"
  layout(path, "1M")
  local handles = loop.handles()
  local moved
  do
    local scope <close> = task.scope()
    local r <close> = open { path = path, record_bytes = RECORD, slots = 2 }
    fault:tell("slow read 200")
    scope:spawn("reader", function() moved = r:read(1, 0) end)
    task.sleep(0.05)
    r:close()
    task.yield()
    lu.assertEquals(moved, RECORD)
  end
  lu.assertEquals(loop.handles(), handles)
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
