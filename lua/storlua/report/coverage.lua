-- SPDX-License-Identifier: MIT
--- How much of a run its reader has seen: rotation drops the oldest events, and
--- who sees a run only since its resume lacks those before.

local coverage = {}

---@class storlua.Coverage
---@field measures integer seen
---@field hidden integer measures that only the sums of a start event tell of
---@field reason string
local Coverage = {}
Coverage.__index = Coverage
Coverage.__name = "storlua.Coverage"

---@return storlua.Coverage
function coverage.new()
  return setmetatable({ measures = 0, hidden = 0, reason = "" }, Coverage)
end

--- Takes one event.
---@param fields table
---@return integer newly_hidden measures that are missing before this event
function Coverage:add(fields)
  if fields.kind == "measure" or fields.kind == "memory" then
    self.measures = self.measures + 1
  elseif fields.kind == "start" and type(fields.carried) == "table" then
    local missing = (fields.carried.measures or 0) - self.measures - self.hidden
    if missing <= 0 then return 0 end
    self.hidden = self.hidden + missing
    self.reason = fields.continued and "the log was rotated" or "the run was resumed"
    return missing
  end
  return 0
end

--- What is said above a table; nil when nothing is missing.
---@return string|nil
function Coverage:text()
  if self.hidden == 0 then return nil end
  return ("covers %d of %d measures: %s"):format(self.measures, self.measures + self.hidden,
    self.reason)
end

return coverage
