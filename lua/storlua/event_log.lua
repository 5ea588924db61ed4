-- SPDX-License-Identifier: MIT
--- The event log of a run: numbers the events, writes them through the writer
--- thread and waits for the disk where a result must not be lost.

local core = require("storlua.core.event_log")
local errors = require("storlua.errors")
local event = require("storlua.event")
local job = require("storlua.job")
local loop = require("storlua.core.loop")
local scheduler = require("storlua.scheduler")
local timer = require("storlua.core.timer")

local event_log = {
  stuck_seconds = 10, -- silence of the writer that is reported
  last_word_seconds = 30, -- silence at the end after which it is given up
}

---@class storlua.EventLog
---@field directory string
---@field seq integer of the last event
---@field limit_bytes integer
---@field torn_bytes integer
---@field on_event? fun(fields: table, line: string) sees each event as it is written
---@field head? fun(): table fields of the start event that begins a new file
local Log = {}
Log.__index = Log
Log.__name = "storlua.EventLog"

local function wake(self)
  local waiting = self.waiting
  self.waiting = {}
  for resume in pairs(waiting) do resume() end
end

-- Waits until the state of the writer has changed, or `seconds` have passed.
local function await_change(self, seconds)
  local limit
  scheduler.await(function(resume)
    self.waiting[resume] = true
    limit = seconds and timer.start(math.ceil(seconds * 1e9), resume)
    return function() self.waiting[resume] = nil end
  end)
  if limit then limit:cancel() end
end

---@async
--- Opens the log of a run folder.
---@param options table directory, limit_bytes, resume, seq (of the last event there)
---@return storlua.EventLog
function event_log.open(options)
  local ok, handle = pcall(job.wait_on, options.directory, core.open {
    directory = options.directory, limit_bytes = options.limit_bytes, resume = options.resume,
    stuck_ns = math.ceil(event_log.stuck_seconds * 1e9),
  })
  if not ok then
    local err = handle
    -- nothing has begun: whoever called can choose another place
    if errors.is(err) and err.op then err.code = "USAGE" end
    error(err, 0)
  end
  local state = handle:state()
  local self = setmetatable({
    handle = handle, directory = options.directory, seq = options.seq or 0, waiting = {},
    limit_bytes = state.limit_bytes, torn_bytes = state.torn_bytes, boot_id = loop.boot_id(),
  }, Log)
  handle:on_changed(function()
    self:watch()
    wake(self)
  end)
  return self
end

-- Says on stderr what nobody could read in the log.
---@package
function Log:watch()
  local _, _, failed = self.handle:progress()
  if failed and not self.failure then
    self.failure = errors.from_core(self.handle:state().failure.message, "EVENT_LOG")
    self.failure.message = "the event log cannot be written: " .. self.failure.message
    io.stderr:write("storlua: ", self.failure.message, "\n")
  end
  local state = self.handle:state()
  local stuck = (state.stuck_seconds or 0) >= event_log.stuck_seconds
  if stuck and not self.is_stuck then
    io.stderr:write(("storlua: the event log has not answered for %.0f s: %s in %s\n"):format(
      state.stuck_seconds, state.stuck_what, self.directory))
    self.was_stuck = math.max(self.was_stuck or 0, state.stuck_seconds)
  end
  self.is_stuck = stuck
end

-- The common fields, then those of the kind; the caller's table is not changed.
local function complete(self, kind, fields)
  local all = {}
  for key, value in pairs(fields) do all[key] = value end
  self.seq = self.seq + 1
  all.v, all.seq, all.kind = 1, self.seq, kind
  all.boot_id, all.t_boot_ns, all.wall = self.boot_id, loop.now_ns(), loop.wall()
  return all
end

-- A full queue: wait, also when the task is being cancelled.
local function await_room(self)
  scheduler.shield(function()
    while not select(2, self.handle:progress()) do await_change(self) end
  end)
end

local function encode(self, kind, fields)
  local all = complete(self, kind, fields)
  local ok, line = pcall(event.encode, all)
  if ok then return all, line end
  self.seq = self.seq - 1
  error(line, 0)
end

local function append(self, all, line, flags)
  local ticket = errors.check(self.handle:append(line, flags))
  if self.on_event then self.on_event(all, line) end
  return ticket
end

-- The head of a new file. It may be long: the queue can be full after it.
local function rotate(self)
  local all, line = encode(self, "start", self.head())
  append(self, all, line, "r")
  if not select(2, self.handle:progress()) then await_room(self) end
end

-- `counted` adds the event to the sums that a new file begins with. So it is
-- called when that file has begun: its sums are of what stands before it. With
-- false it says that the event is not to be written after all.
local function put(self, kind, fields, flags, counted)
  local all, line = encode(self, kind, fields)
  local is_plain = flags == "" or flags == "d"
  if is_plain and self.head and kind ~= "start" and self.handle:wants_rotation(#line) then
    self.seq = self.seq - 1
    rotate(self)
    all, line = encode(self, kind, fields)
  end
  if counted then
    local ok, result = pcall(counted)
    if not ok or result == false then self.seq = self.seq - 1 end
    if not ok then error(result, 0) end
    if result == false then return 0 end
  end
  return append(self, all, line, flags)
end

--- Queues an event. Nothing is waited for unless the queue is full.
---@async
---@param kind string
---@param fields table
---@param counted? fun(): boolean|nil adds it to the sums of `head`; false: it is not to be written
---@return integer ticket
function Log:write(kind, fields, counted)
  if not select(2, self.handle:progress()) then await_room(self) end
  return put(self, kind, fields, "", counted)
end

--- Writes an event and returns when it is on disk; raises when it cannot be.
--- A cancel ends the wait: the event is queued and will be written.
---@async
---@param kind string
---@param fields table
---@param counted? fun(): boolean|nil as in write
function Log:write_durable(kind, fields, counted)
  if not select(2, self.handle:progress()) then await_room(self) end
  self:await(put(self, kind, fields, "d", counted))
end

---@async
---@package
function Log:await(ticket)
  while true do
    local done, _, failed = self.handle:progress()
    if failed then
      self:watch()
      error(self.failure, 0)
    end
    if done >= ticket then return end
    await_change(self)
  end
end

-- Waits for a ticket as long as the writer moves; false when it is stuck.
local function await_moving(self, is_done)
  local last, since_ns = -1, loop.monotonic_ns()
  while not is_done() do
    local done = self.handle:progress()
    if done ~= last then last, since_ns = done, loop.monotonic_ns() end
    local left = event_log.last_word_seconds - (loop.monotonic_ns() - since_ns) / 1e9
    if left <= 0 then return false end
    await_change(self, left)
  end
  return true
end

--- Writes a last word (the verdict), also on a full disk and after a failure.
--- Call it under scheduler.shield.
---@async
---@param kind string
---@param fields table
---@return boolean on_disk
---@return string|nil message
function Log:write_last(kind, fields)
  local ticket = put(self, kind, fields, "f")
  if not await_moving(self, function() return self.handle:progress() >= ticket end) then
    return false, "the event log does not answer"
  end
  local failure = self.handle:state().last_word
  return failure == nil, failure and failure.message
end

--- Replaces a small file through the writer thread.
---@async
---@param path string
---@param content string
---@return boolean on_disk
---@return string|nil message
function Log:replace_file(path, content)
  local ticket = errors.check(self.handle:replace(path, content))
  if not await_moving(self, function() return self.handle:progress() >= ticket end) then
    return false, path .. ": the disk does not answer"
  end
  local failure = self.handle:state().replaced
  return failure == nil, failure and failure.message
end

--- Waits for everything that is queued and closes the log; gives up a writer
--- that does not move any more.
---@async
---@return boolean closed
function Log:close()
  self.handle:finish()
  local closed = await_moving(self, function() return (select(4, self.handle:progress())) end)
  self.handle:on_changed(nil)
  self.handle:release()
  return closed
end

return event_log
