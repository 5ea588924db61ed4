-- SPDX-License-Identifier: MIT
--- How much the files of a soak may still write, all together: their passes run
--- beside each other, so each one takes its share before it begins.

local budget = {}

---@class storlua.SoakBudget
---@field limit_bytes? integer over all files and parts of the run, nil for none
---@field taken_bytes integer written, or reserved by a pass that goes on
local Budget = {}
Budget.__index = Budget
Budget.__name = "storlua.SoakBudget"

--- Takes a share, when there is so much left.
---@param bytes integer
---@return boolean
function Budget:reserve(bytes)
  if self.limit_bytes and self.taken_bytes + bytes > self.limit_bytes then return false end
  self.taken_bytes = self.taken_bytes + bytes
  return true
end

--- What a pass has reserved and not written.
---@param bytes integer
function Budget:give_back(bytes) self.taken_bytes = self.taken_bytes - bytes end

---@param limit_bytes? integer
---@param written_bytes integer by earlier parts of the run
---@return storlua.SoakBudget
function budget.new(limit_bytes, written_bytes)
  return setmetatable({ limit_bytes = limit_bytes, taken_bytes = written_bytes }, Budget)
end

return budget
