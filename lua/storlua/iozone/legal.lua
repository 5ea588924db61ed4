-- SPDX-License-Identifier: MIT
--- What the file under test holds while a matrix runs: how much of it was
--- written, and with stamps, which generation each part has.

local legal = {}

---@class storlua.IozoneContent
---@field size_bytes integer whole up to here; 0: nothing that a test may rely on
---@field generation integer the newest one that was written
---@field package first storlua.IozoneLegal record 0, which a test rewrites alone
---@field package rest storlua.IozoneLegal
---@field package record_bytes integer
local Content = {}
Content.__index = Content
Content.__name = "storlua.IozoneContent"

---@class storlua.IozoneLegal
---@field min integer
---@field max integer

-- Rounds do not share generations, so that what an earlier round left is not
-- taken for what this one wrote.
local ROUND_GENERATIONS = 1 << 26

---@param round? integer
---@return storlua.IozoneContent
function legal.new(round)
  return setmetatable({
    size_bytes = 0, generation = ((round or 1) - 1) % 63 * ROUND_GENERATIONS, record_bytes = 0,
  }, Content)
end

local function range(offset, length, generations)
  return { offset = offset, length = length, generation_min = generations.min,
           generation_max = generations.max }
end

local function ranges(self)
  local first, whole = self.record_bytes, self.size_bytes
  if first == 0 or first >= whole then
    return { range(0, whole, first == 0 and self.rest or self.first) }
  end
  return { range(0, first, self.first), range(first, whole - first, self.rest) }
end

--- The workload of a cell, with stamps when the matrix verifies.
---@param cell storlua.IozoneCell
---@param stamp boolean
---@return table spec
function Content:spec_of(cell, stamp)
  local spec = {}
  for key, value in pairs(cell.spec) do spec[key] = value end
  if not stamp then return spec end
  if spec.operation ~= "write" then
    spec.verify, spec.legal = true, ranges(self)
  end
  if spec.operation ~= "read" then
    spec.stamp, spec.generation = true, self.generation + 1
  end
  return spec
end

-- Some stream ended because another one was done.
local function was_cut(result)
  for _, one in ipairs(result and result.streams or {}) do
    if one["end"] == "stonewall" then return true end
  end
  return false
end

--- Takes over what a cell has done to the file.
---@param cell storlua.IozoneCell
---@param complete boolean it came to its end
---@param result? table
function Content:done(cell, complete, result)
  local operation = cell.spec.operation
  if operation == "read" then return end
  local cut = was_cut(result)
  if not complete or cut and cell.column.new_file then
    self.size_bytes = 0
    return
  end
  local before = self.generation
  self.generation = before + (cell.column.hot and cell.records or 1)
  local now = { min = self.generation, max = self.generation }
  if cell.column.hot then
    if cut then now.min = before + 1 end
    self.first, self.record_bytes = now, cell.record_bytes
  elseif operation == "mixed" or cut then
    -- which records it wrote is not asked: each holds the old or the new one
    local rest, first = self.rest, self.record_bytes > 0 and self.first or self.rest
    self.rest = { min = rest.min, max = now.max }
    self.first = { min = first.min, max = now.max }
  else
    self.rest, self.record_bytes, self.size_bytes = now, 0, cell.size_bytes
  end
end

return legal
