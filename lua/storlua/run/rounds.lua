-- SPDX-License-Identifier: MIT
--- Rounds of a long run: until the time or the number is used up.

local event = require("storlua.event")
local loop = require("storlua.core.loop")
local task = require("storlua.task")

local rounds = {}

---@class storlua.Round
---@field number integer
---@field begin_ns integer on the clock of the run
---@field deadline_ns? integer of the whole run, on the same clock
---@field is_last? boolean
local Round = {}
Round.__index = Round
Round.__name = "storlua.Round"

--- Seconds until the time of the run is used up; nil when it has no end. A
--- round looks at it between its steps: at 0 it stops writing and verifies.
---@return number|nil
function Round:seconds_left()
  if not self.deadline_ns then return nil end
  return math.max(0, (self.deadline_ns - loop.now_ns()) / 1e9)
end

--- True when the time of the run is used up.
---@return boolean
function Round:is_over() return self:seconds_left() == 0 end

--- Makes this round the last one.
function Round:stop() self.is_last = true end

local function check_limit(name, value, integer)
  if value == nil then return end
  if type(value) ~= "number" or value ~= value or value < 0
    or (integer and not math.tointeger(value)) then
    error(("t:rounds: %s must be a number of 0 or more"):format(name), 4)
  end
end

local function check(limits)
  if type(limits) ~= "table" then error("t:rounds: takes a table {seconds, count, pause}", 3) end
  check_limit("seconds", limits.seconds)
  check_limit("count", limits.count, true)
  check_limit("pause", limits.pause)
end

local function write(recorder, round, phase)
  recorder.log:write("round", {
    round = round.number, phase = phase, elapsed_ns = loop.now_ns() - recorder.started_ns,
    deadline_ns = round.deadline_ns or event.null,
  })
end

--- The iterator behind t:rounds. Time that earlier parts of a resumed run have
--- soaked counts; the first round of a part runs unless nothing is left.
---@param recorder storlua.Recorder
---@param limits {seconds?: number, count?: integer, pause?: number}
---@param resume? {soaked_ns: integer, rounds: integer}
---@return fun(): integer|nil, storlua.Round|nil
function rounds.iterate(recorder, limits, resume)
  check(limits)
  local soaked_ns = resume and resume.soaked_ns or 0
  local number, current = resume and resume.rounds or 0, nil
  local ended = resume and recorder.totals.rounds or 0 -- those of earlier parts
  local deadline_ns
  if limits.seconds and limits.seconds < 9e9 then
    deadline_ns = recorder.started_ns + math.ceil(limits.seconds * 1e9) - soaked_ns
  end
  local function pause()
    local seconds = limits.pause or 0
    if deadline_ns then
      local left = (deadline_ns - loop.now_ns()) / 1e9
      if left <= seconds then return false end
    end
    if seconds > 0 then task.sleep(seconds) end
    return true
  end
  return function()
    if current then
      write(recorder, current, "end")
      recorder.totals.rounds = recorder.totals.rounds + 1
      ended = ended + 1
    end
    -- a round that a cut left unfinished does not count
    if limits.count and ended >= limits.count then return nil end
    if current and (current.is_last or not pause()) then return nil end
    if not current and resume and deadline_ns and loop.now_ns() >= deadline_ns then return nil end
    number = number + 1
    current = setmetatable({
      number = number, begin_ns = loop.now_ns(), deadline_ns = deadline_ns,
    }, Round)
    recorder.round = number
    write(recorder, current, "begin")
    return number, current
  end
end

return rounds
