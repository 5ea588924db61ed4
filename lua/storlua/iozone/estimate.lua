-- SPDX-License-Identifier: MIT
--- How long the cells that are left will take, by those that are done: cells
--- with the same column and record count most, then those with the same column,
--- then all.

local estimate = {}

---@class storlua.IozoneEstimate
---@field package seen table<string, {bytes: integer, ns: integer}>
local Estimate = {}
Estimate.__index = Estimate
Estimate.__name = "storlua.IozoneEstimate"

---@return storlua.IozoneEstimate
function estimate.new()
  return setmetatable({ seen = {} }, Estimate)
end

local function keys_of(cell)
  return { cell.column.id .. " " .. cell.record_bytes, cell.column.id, "" }
end

--- Takes over what one cell took, in all: filling and verifying are part of it.
---@param cell storlua.IozoneCell
---@param ns integer
function Estimate:add(cell, ns)
  for _, key in ipairs(keys_of(cell)) do
    local sum = self.seen[key] or { bytes = 0, ns = 0 }
    self.seen[key] = sum
    sum.bytes, sum.ns = sum.bytes + cell.bytes, sum.ns + ns
  end
end

--- Seconds for one cell; nil when nothing is known.
---@param cell storlua.IozoneCell
---@return number|nil
function Estimate:seconds(cell)
  for _, key in ipairs(keys_of(cell)) do
    local sum = self.seen[key]
    if sum then return cell.bytes * (sum.ns / 1e9) / sum.bytes end
  end
end

--- Seconds for a list of rows from one of their cells on; nil when nothing is
--- known.
---@param rows table[]
---@param row integer
---@param cell integer
---@return number|nil
function Estimate:left(rows, row, cell)
  if not self.seen[""] then return nil end
  local seconds = 0
  for i = row, #rows do
    for j = i == row and cell or 1, #rows[i].cells do
      seconds = seconds + self:seconds(rows[i].cells[j])
    end
  end
  return seconds
end

return estimate
