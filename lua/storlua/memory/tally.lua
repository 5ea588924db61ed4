-- SPDX-License-Identifier: MIT
--- What several passes of a memory test have verified together: time may cut
--- one of them, and what it did not come to another one may have seen.

local quantity = require("storlua.quantity")

local tally = {}

---@class storlua.MemoryTally
---@field verified_bytes integer of all patterns
---@field passes integer whole ones
---@field private wanted string[]
---@field private of_pattern table<string, integer> bytes
local Tally = {}
Tally.__index = Tally
Tally.__name = "storlua.MemoryTally"

---@param patterns string[] those that are wanted
---@return storlua.MemoryTally
function tally.new(patterns)
  return setmetatable({ verified_bytes = 0, passes = 0, wanted = patterns, of_pattern = {} }, Tally)
end

---@param result table of a memory test
function Tally:add(result)
  self.verified_bytes = self.verified_bytes + result.verified_bytes
  self.passes = self.passes + result.passes
  for name, one in pairs(result.patterns) do
    self.of_pattern[name] = (self.of_pattern[name] or 0) + one.verified_bytes
  end
end

--- The patterns of which no word was verified, in words; nil when there is none.
---@return string|nil
function Tally:untested()
  local names = {}
  for _, name in ipairs(self.wanted) do
    if (self.of_pattern[name] or 0) == 0 then names[#names + 1] = name end
  end
  return names[1] and table.concat(names, ", ")
end

--- "3.2 GiB verified, 4 whole passes"
---@return string
function Tally:text()
  return ("%s verified, %d whole passes"):format(quantity.size_text(self.verified_bytes),
    self.passes)
end

return tally
