#!/usr/bin/env storlua
-- SPDX-License-Identifier: MIT
--- Replays a trace of I/O at its own times: one operation a line,
---   <seconds> <read|write|fsync> <offset> <bytes>
--- What comes late because all slots are in use is counted, not hidden: the
--- latency of an operation begins when the trace wanted it.

local histogram = require("storlua.histogram")
local clock = require("storlua.clock")
local fs = require("storlua.fs")
local quantity = require("storlua.quantity")
local ring = require("storlua.ring")
local room = require("storlua.room")
local storlua = require("storlua")
local task = require("storlua.task")

local LINE <const> = "^%s*(%d+%.?%d*)%s+(%a+)%s*(%d*)%s*(%d*)%s*$"

local OPERATION_MAX <const> = 1 << 30 -- bytes, of a slot

-- One line as an operation; nil when it is none.
local function read_line(line)
  local seconds, op, offset, bytes = line:match(LINE)
  seconds = tonumber(seconds)
  if not seconds or seconds > 1e9 then return nil end
  local entry = { at_ns = seconds * 1e9 // 1 | 0, op = op, offset = 0, bytes = 0 }
  if op == "fsync" then return entry end
  entry.offset, entry.bytes = math.tointeger(tonumber(offset)), math.tointeger(tonumber(bytes))
  local is_whole = (op == "read" or op == "write") and entry.offset and entry.bytes
    and entry.bytes > 0 and entry.bytes <= OPERATION_MAX
    and entry.offset <= math.maxinteger - OPERATION_MAX
  return is_whole and entry or nil
end

-- The operations of the trace, and the bytes that they reach and take at most.
local function parse(path)
  local text, err = fs.try_read(path)
  if not text then storlua.usage("cannot read the trace: " .. err.message) end
  local list, size_bytes, record_bytes, line_number = {}, 512, 512, 0
  for line in (text .. "\n"):gmatch("(.-)\n") do
    line_number = line_number + 1
    if line:match("^%s*[^#%s]") then
      local entry = read_line(line)
      if not entry then
        storlua.usage(("%s:%d: not '<seconds> <read|write|fsync> <offset> <bytes>', of at most "
          .. "%d bytes"):format(path, line_number, OPERATION_MAX))
      end
      list[#list + 1] = entry
      size_bytes = math.max(size_bytes, entry.offset + entry.bytes)
      record_bytes = math.max(record_bytes, entry.bytes)
    end
  end
  if #list == 0 then storlua.usage(path .. ": the trace is empty") end
  return list, (size_bytes + 511) // 512 * 512, record_bytes
end

-- All that the trace reaches is written first.
local function check_room(path, size_bytes)
  local has = room.directory(path:match("^.*/") or ".")
  if size_bytes <= has.bytes then return end
  storlua.usage(("the trace reaches up to %s and there is room for %s (%s)"):format(
    quantity.size_text(size_bytes), quantity.size_text(has.bytes), has.limit))
end

-- One operation; returns whether all of it was moved.
local function perform(r, slot, entry)
  if entry.op == "fsync" then
    r:fsync()
    return true
  end
  return r[entry.op](r, slot, entry.offset, entry.bytes) == entry.bytes
end

return storlua.procedure {
  summary = "Replay a trace of I/O at its own times and say what came late.",
  options = {
    { name = "trace", type = "string", path = true, required = true, positional = true,
      help = "the trace: seconds, read|write|fsync, offset, bytes" },
    { name = "file", type = "string", path = true, default = "storlua.replay",
      help = "what it runs on" },
    { name = "slots", type = "count", default = 32, min = 1, max = 1024,
      help = "operations at once" },
    { name = "late", type = "duration", default = "10ms", help = "begun so much later is late" },
  },
  cases = { "replay.complete", "replay.on_time" },
  run = function(t, opt)
    local list, size_bytes, record_bytes = parse(opt.trace)
    check_room(opt.file, size_bytes)
    local _ <close> = t:scratch_file(opt.file, { any_name = true })
    t:measure("layout", { path = opt.file, operation = "write", size_bytes = size_bytes,
      record_bytes = math.min(65536, size_bytes), flush = "end", stamp = true })
    local r <close> = ring.open { path = opt.file, record_bytes = record_bytes, write = true,
      slots = opt.slots }
    local latency, next_entry, short, late = histogram.new(), 1, 0, 0
    local start_ns, late_ns = clock.now_ns(), opt.late * 1e9 // 1 | 0
    local scope <close> = task.scope()
    for slot = 1, opt.slots do
      scope:spawn("player " .. slot, function()
        while list[next_entry] do
          local entry = list[next_entry]
          next_entry = next_entry + 1
          local due_ns = start_ns + entry.at_ns
          local wait_ns = due_ns - clock.now_ns()
          if wait_ns > 0 then task.sleep(wait_ns / 1e9) end
          if clock.now_ns() - due_ns > late_ns then late = late + 1 end
          if not perform(r, slot, entry) then short = short + 1 end
          latency:add(clock.now_ns() - due_ns)
        end
      end)
    end
    scope:join()
    local all = latency:summary()
    t:check("replay.complete", all.count == #list and short == 0, "%d of %d, %d short", all.count,
      #list, short)
    t:check("replay.on_time", late == 0, "%d of %d operations began late", late, #list)
    t:sample("replay.p50_ns", all.p50_ns, "ns")
    t:sample("replay.p99_ns", all.p99_ns, "ns")
    print(("%d operations, %d late; from the trace's time to the end: p50 %.2f ms, p99 %.2f ms")
      :format(#list, late, all.p50_ns / 1e6, all.p99_ns / 1e6))
  end,
}
