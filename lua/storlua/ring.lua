-- SPDX-License-Identifier: MIT
--- Every single I/O as a plain waiting call of a task, over io_uring: access
--- patterns, dependencies between operations and reactions to latency are
--- written in Lua. A queue depth of 64 is 64 tasks, each with its slot.

local core = require("storlua.core.ring")
local errors = require("storlua.errors")
local job = require("storlua.job")
local quantity = require("storlua.quantity")
local scheduler = require("storlua.scheduler")
local source_wait = require("storlua.source_wait")
local spec = require("storlua.workload.spec")
local task = require("storlua.task")

local ring = {}

local READ <const>, WRITE <const>, FSYNC <const> = 0, 1, 2
local FIELDS <const> = { path = true, slots = true, record_bytes = true, write = true,
                         direct = true, size_bytes = true, run_id = true, target_id = true }

---@class storlua.Ring
---@field path string
---@field slots integer
---@field record_bytes integer of a slot
---@field size_bytes integer of the file or device when it was opened
---@field read fun(self, slot: integer, offset: integer, bytes?: integer): integer reads into the
--- slot and waits for it: record_bytes unless told less. Returns the bytes moved: less at the end
--- of the file, 0 past it
---@field write fun(self, slot: integer, offset: integer, bytes?: integer): integer writes from the
--- slot and waits for it. Returns the bytes moved: less only where there is no more room
---@field fsync fun(self) waits until all that writes had moved before this call is on the medium,
--- as fsync(2). Writes still under way are not part of it. As many flushes as there are slots may
--- be under way
local Ring = {}
Ring.__index = Ring
Ring.__name = "storlua.Ring"

--- Fills the slot with stamped data that belongs to `offset`.
---@param slot integer
---@param offset integer where it will be written; a multiple of 512
---@param generation? integer 1 is the first, the default
---@param bytes? integer a multiple of 512; default: record_bytes
function Ring:fill(slot, offset, generation, bytes)
  self.core:fill(slot, offset, generation or 1, bytes or self.record_bytes, self.run_id,
    self.target_id)
end

--- Compares the slot, bit by bit, with what fill would have put there.
---@param slot integer
---@param offset integer
---@param generation? integer
---@param bytes? integer
---@return boolean ok
---@return table|nil damage the first bad sector: offset, damage ("stale", "zero", "flips", …),
--- generation (found in it, if it has a header), bits that differ
function Ring:verify(slot, offset, generation, bytes)
  return self.core:verify(slot, offset, generation or 1, bytes or self.record_bytes, self.run_id,
    self.target_id)
end

--- The slot as little-endian words of 8 bytes; index counts from 1.
---@param slot integer
---@param index integer
---@return integer
function Ring:get_u64(slot, index) return self.core:get_u64(slot, index) end

---@param slot integer
---@param index integer
---@param value integer
function Ring:put_u64(slot, index, value) self.core:put_u64(slot, index, value) end

--- Bytes of the slot as a string; `first` counts from 1.
---@param slot integer
---@param first integer
---@param count integer
---@return string
function Ring:get(slot, first, count) return self.core:get(slot, first, count) end

---@param slot integer
---@param first integer
---@param text string
function Ring:put(slot, first, text) self.core:put(slot, first, text) end

--- Latency of the operations that succeeded, from the system call that handed
--- them over until they were found done: the `latency` tables of events.
---@return {read: table, write: table, fsync: table}
function Ring:latency()
  return { read = self.core:latency(READ), write = self.core:latency(WRITE),
           fsync = self.core:latency(FSYNC) }
end

--- What a reader of the numbers must know: path, size_bytes, direct, ram,
--- block, registered (the kernel has the slots pinned), kernel_workers
--- (threads of the kernel that did what could not be done without waiting).
---@return table
function Ring:facts() return self.core:facts() end

-- Waits until nothing is under way and tasks that were woken have their
-- results.
local function drain(self)
  if self.core:in_flight() > 0 then
    scheduler.await(function(resume)
      self.on_idle = resume
      return function() self.on_idle = nil end
    end)
    self.on_idle = nil
  end
  scheduler.await(function(resume) scheduler.soon(resume) end)
end

-- Leaves the ring to the kernel with what is under way.
local function abandon(self)
  local stuck, waiting = self.core:abandon()
  for _, co in ipairs(waiting) do scheduler.wake(co) end
  job.given_up = job.given_up + 1
  stuck.job, stuck.abandoned = job.others[self.core], true
  job.others[self.core] = nil
  job.on_stuck(stuck)
end

--- Begins nothing more, waits for what is under way, then closes. When the
--- task is cancelled meanwhile, or was before, the kernel is asked to end the
--- operations and given job.grace_seconds. What has not come back then, or
--- within the time of a clean-up, is left behind with its memory and reported
--- as a job that hangs is.
---@async
function Ring:close()
  local t = scheduler.current()
  if self.is_closed then return end
  self.is_closed = true
  self.core:shut()
  local ok, err = true, nil
  if not t.cancels[1] then
    ok, err = pcall(task.timeout, scheduler.cleanup_seconds, drain, self)
  end
  if not ok or t.cancels[1] then
    self.core:cancel()
    pcall(scheduler.shield_for, job.grace(), drain, self)
  end
  source_wait.remove(self.source)
  if self.core:in_flight() > 0 then
    abandon(self)
  else
    job.others[self.core] = nil
    scheduler.cleanup(function() errors.check(job.wait(self.core:close())) end)
  end
  if not ok then error(err, 0) end
end

function Ring:__close(unwinding)
  local ok, err = pcall(self.close, self)
  if ok then return end
  if unwinding == nil then error(err, 0) end
  -- A cancel is met at the next wait.
  if not scheduler.current().cancels[1] then scheduler.record(err) end
end

local function raise(...) error(errors.from_core(...), 0) end

local function refuse(format, ...) error("ring.open: " .. format:format(...), 3) end

local function size(value, name)
  local bytes = type(value) == "string" and quantity.size(value) or value
  if math.type(bytes) ~= "integer" or bytes < 0 then
    refuse("%s must be a size, not %s", name, tostring(value))
  end
  return bytes
end

--- Opens a file or device for I/O by tasks. Declare it with <close>. A block
--- device to be written must have been granted by storlua.gate; a file to be
--- written is created if it is not there. Fails where the kernel has no
--- io_uring, and names the engines of storlua.workload that it has.
---@async
---@param options {path: string, record_bytes: integer|string, slots?: integer, write?: boolean,
--- direct?: boolean, size_bytes?: integer|string, run_id?: integer, target_id?: integer}
---@return storlua.Ring
function ring.open(options)
  for key in pairs(options) do
    if not FIELDS[key] then refuse("there is no option '%s'", tostring(key)) end
  end
  local slots = options.slots or 64
  local record_bytes = size(options.record_bytes, "record_bytes")
  if math.type(slots) ~= "integer" or slots < 1 or slots > 4096 then
    refuse("slots must be 1 to 4096, not %s", tostring(slots))
  elseif record_bytes < 1 or record_bytes > 1 << 30 then
    refuse("record_bytes must be 1 to 1 GiB, not %d", record_bytes)
  elseif type(options.path) ~= "string" then
    refuse("path must be a text, not %s", type(options.path))
  end
  local opened = errors.check(job.wait(core.open(options.path, slots, record_bytes,
    options.write or false, options.direct or false, size(options.size_bytes or 0, "size_bytes"))))
  local self = setmetatable({
    path = options.path, slots = slots, record_bytes = record_bytes, core = opened,
    size_bytes = opened:facts().size_bytes, is_closed = false,
    run_id = options.run_id or spec.run.run_id, target_id = options.target_id or 0,
  }, Ring)
  for op, name in pairs { [READ] = "read", [WRITE] = "write", [FSYNC] = "fsync" } do
    self[name] = opened:operation(op, scheduler.checkpoint, source_wait.arm, raise)
  end
  self.source = {
    poll = opened:turner(scheduler.ended, function()
      if self.on_idle then self.on_idle() end
    end),
    interrupt = function(co) return opened:interrupt(co) end,
  }
  job.others[opened] = "ring " .. options.path
  source_wait.add(self.source)
  return self
end

--- ring.open that returns nil and the error when it fails.
---@return storlua.Ring|nil, storlua.Error|nil
function ring.try_open(options)
  return errors.try(ring.open, options)
end

return ring
