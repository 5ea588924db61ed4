-- SPDX-License-Identifier: MIT
--- How a wait for a ring ends that the device does not end: cancelled, timed
--- out, closed or given up.

local disk = require("disk")
local job = require("storlua.job")
local loop = require("storlua.core.loop")
local lu = require("luaunit")
local rig = require("ring_rig")
local scheduler = require("storlua.scheduler")
local task = require("storlua.task")

local RECORD <const> = rig.RECORD
local open, layout = rig.open, rig.layout
local assert_fails, assert_misuse = rig.assert_fails, rig.assert_misuse

local suite = {}

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

return suite
