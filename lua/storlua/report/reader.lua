-- SPDX-License-Identifier: MIT
--- Reads the events of a run folder one by one, also of a run that goes on or
--- was cut off: a torn last line is not an error, any other bad line is.

local errors = require("storlua.errors")
local event = require("storlua.event")

local reader = {}

local ENOENT, ENOTDIR = 2, 20
local VERSION = 1 -- of events, their field `v`

---@class storlua.ReadState
---@field directory string
---@field events integer read
---@field torn_bytes integer of a last line that is not whole
---@field lost_events integer gaps in seq
---@field bytes integer of all files

-- The opened file; nil when there is none.
local function lines_of(path)
  local file, message, number = io.open(path, "rb")
  if not file and number ~= ENOENT then
    errors.raise("USAGE", "%s%s", message,
      number == ENOTDIR and " (a report is of the folder of a run)" or "")
  end
  return file
end

-- A line with its newline is whole; the last one without may be torn.
local function read_file(path, state, visit, is_last)
  local file = lines_of(path)
  if not file then return false end
  local number, bad = 0, nil
  for line in file:lines("L") do
    number = number + 1
    state.bytes = state.bytes + #line
    if bad then
      file:close()
      errors.raise("BADLOG", "%s, line %d: %s", path, bad.number, bad.message)
    end
    local fields, message = event.decode(line)
    if fields then
      visit(fields, line:gsub("\n$", ""))
    else
      bad = { number = number, message = message, bytes = #line }
    end
  end
  file:close()
  if bad and not is_last then
    errors.raise("BADLOG", "%s, line %d: %s", path, bad.number, bad.message)
  end
  state.torn_bytes = bad and bad.bytes or 0
  return true
end

--- Calls `visit(fields, line)` for each event in order.
---@param directory string folder of a run
---@param visit fun(fields: table, line: string)
---@return storlua.ReadState
function reader.read(directory, visit)
  local state = { directory = directory, events = 0, torn_bytes = 0, lost_events = 0, bytes = 0 }
  local seq = 0
  local function count(fields, line)
    if math.type(fields.v) == "integer" and fields.v > VERSION then
      errors.raise("BADLOG", "%s: events of version %d, of a newer storlua: this one reads %d",
        directory, fields.v, VERSION)
    end
    local this = math.tointeger(fields.seq)
    if this then
      if this <= seq then return end -- seen already: the log was rotated meanwhile
      -- what was dropped by rotation is not lost: the start event carries it
      if this > seq + 1 and not fields.continued then
        state.lost_events = state.lost_events + this - seq - 1
      end
      seq = this
    end
    state.events = state.events + 1
    visit(fields, line)
  end
  read_file(directory .. "/events.1.jsonl", state, count, false)
  if not read_file(directory .. "/events.jsonl", state, count, true) and state.events == 0 then
    errors.raise("USAGE", "%s holds no run: there is no events.jsonl", directory)
  end
  state.seq = seq
  return state
end

return reader
