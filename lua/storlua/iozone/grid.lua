-- SPDX-License-Identifier: MIT
--- Which file sizes and record sizes a matrix has: iozone's rules, without its
--- loss of unsorted lists. Sizes are bytes.

local grid = {}

local KIB, MIB = 1024, 1 << 20

grid.defaults = {
  size = 512 * KIB, record = 4 * KIB, -- without auto mode
  min_size = 64 * KIB, max_size = 512 * MIB,
  min_record = 4 * KIB, max_record = 16 * MIB,
  multiplier = 2,
  crossover_above = 16 * MIB, -- files above that …
  crossover_record = 64 * KIB, -- … skip the records below that
}

-- Sorted, each once; what that changed is said.
local function in_order(list, what, say)
  local sorted, seen, changed = {}, {}, false
  for i, value in ipairs(list) do
    if not seen[value] then sorted[#sorted + 1] = value end
    changed = changed or seen[value] or i > 1 and value < list[i - 1]
    seen[value] = true
  end
  table.sort(sorted)
  if changed then
    say(("%s were sorted and repeated ones dropped (iozone would have lost some)"):format(what))
  end
  return sorted
end

local function steps(min, max, multiplier)
  local list, value = {}, min
  while value <= max do
    list[#list + 1] = value
    value = value * multiplier
  end
  return list
end

---@class storlua.IozoneRow
---@field size_bytes integer
---@field record_bytes integer

---@class storlua.IozoneGrid
---@field sizes integer[]
---@field records integer[]
---@field rows storlua.IozoneRow[] that are run
---@field skipped table[] {size_bytes, record_bytes, reason}
---@field said string[] what was done differently from what was typed

--- Builds the grid. Lists of sizes or records make auto mode by themselves when
--- they have more than one entry.
---@param o table sizes, records, auto, min_size, max_size, min_record, max_record, multiplier,
--- no_crossover
---@return storlua.IozoneGrid
function grid.build(o)
  local d, said = grid.defaults, {}
  local function say(text) said[#said + 1] = text end
  local sizes = in_order(o.sizes or {}, "file sizes", say)
  local records = in_order(o.records or {}, "record sizes", say)
  local auto = o.auto or #sizes > 1 or #records > 1
  local multiplier = o.multiplier or d.multiplier
  local named = #records > 0 or #sizes > 0 or o.min_record or o.max_record
  if #sizes == 0 then
    sizes = auto and steps(o.min_size or d.min_size, o.max_size or d.max_size, multiplier)
      or { d.size }
  end
  if #records == 0 then
    records = auto and steps(o.min_record or d.min_record, o.max_record or d.max_record, multiplier)
      or { d.record }
  end
  local rows, skipped = {}, {}
  for _, size in ipairs(sizes) do
    local lowest = 0
    if not named and not o.no_crossover and size > d.crossover_above then
      lowest = d.crossover_record
    end
    for _, record in ipairs(records) do
      local row = { size_bytes = size, record_bytes = record }
      if record > size then
        row.reason = "the record is larger than the file"
      elseif record < lowest then
        row.reason = "crossover: above 16 MiB files skip records below 64 KiB (-z runs them)"
      end
      local list = row.reason and skipped or rows
      list[#list + 1] = row
    end
  end
  return { sizes = sizes, records = records, rows = rows, skipped = skipped, said = said }
end

return grid
