-- SPDX-License-Identifier: MIT
--- Which level of the memory a size measures. Proved by plateaus of a curve,
--- never taken from a cache size: in machines without cache entries in sysfs,
--- and in virtual ones, that number is absent or wrong.
---
--- A plateau is a run of at least three sizes, each twice the one before, whose
--- rates stay within 15 percent of each other. The first, when it begins at the
--- smallest size, is L1; the last is DRAM, if it reaches the largest size and
--- something before it was at least 1.3 times faster; what lies between is L2
--- and LLC. All else is "unknown".
---
--- A curve that ends early, because there is no memory for more, may end in the
--- plateau of a cache. There, and only there, the cache size that the kernel shows
--- is asked, and only to refuse: the plateau must go far beyond it.

local quantity = require("storlua.quantity")

local levels = {
  SAME = 0.15,
  FASTER = 1.3,
  BEYOND = 4, -- times the largest cache
}

local function find_plateaus(points)
  local plateaus, at = {}, 1
  while at <= #points do
    local low, high, last = points[at].mb_s, points[at].mb_s, at
    while points[last + 1] do
      local value = points[last + 1].mb_s
      if math.max(high, value) > math.min(low, value) * (1 + levels.SAME) then break end
      low, high, last = math.min(low, value), math.max(high, value), last + 1
    end
    if last - at >= 2 then
      plateaus[#plateaus + 1] = { first = at, last = last, mb_s = (low + high) / 2 }
      at = last + 1
    else
      at = at + 1
    end
  end
  return plateaus
end

-- Neighbours that are the same level after all.
local function join(plateaus)
  local joined = {}
  for _, one in ipairs(plateaus) do
    local before = joined[#joined]
    if before and math.max(before.mb_s, one.mb_s)
      <= math.min(before.mb_s, one.mb_s) * (1 + levels.SAME) then
      before.last = one.last
    else
      joined[#joined + 1] = one
    end
  end
  return joined
end

local function fastest_before(points, index)
  local fastest = 0.0
  for i = 1, index - 1 do fastest = math.max(fastest, points[i].mb_s) end
  return fastest
end

-- Why the last plateau of a short curve may be that of a cache, or nil.
local function doubt(bytes, known)
  if not known.enough_bytes or bytes >= known.enough_bytes then return nil end
  local text = ("the curve ends at %s and not at %s"):format(quantity.size_text(bytes),
    quantity.size_text(known.enough_bytes))
  if not known.cache_bytes then
    return text .. ": its last plateau may be a cache, of which the kernel shows no size"
  elseif bytes < levels.BEYOND * known.cache_bytes then
    return ("%s: its last plateau may be the cache of %s"):format(text,
      quantity.size_text(known.cache_bytes))
  end
end

--- Names the level of each point of a curve.
---@param points {bytes: integer, mb_s: number}[] rising sizes; each gets `level`
---@param known? {enough_bytes?: integer, cache_bytes?: integer} how far a curve goes that needs no
--- other proof, and the largest cache that the kernel shows
---@return table<string, {from_bytes: integer, to_bytes: integer, mb_s: number}> plateaus by level
---@return string|nil why the last plateau is not called DRAM, though it looks like it
function levels.name(points, known)
  local why
  local plateaus = join(find_plateaus(points))
  for _, point in ipairs(points) do point.level = "unknown" end
  local last = plateaus[#plateaus]
  if last and last.last == #points
    and fastest_before(points, last.first) >= levels.FASTER * last.mb_s then
    why = doubt(points[#points].bytes, known or {})
    last.level = why and "unknown" or "DRAM"
  end
  local middle = {}
  for _, one in ipairs(plateaus) do
    if one.first == 1 and one.last < #points then
      one.level = "L1"
    elseif not one.level and one.last < #points then
      middle[#middle + 1] = one
    end
  end
  -- The nearest to memory is the last cache; one alone may be either, so it
  -- keeps the name that claims less.
  if #middle >= 1 then middle[1].level = "L2" end
  if #middle >= 2 then middle[#middle].level = "LLC" end
  local named = {}
  for _, one in ipairs(plateaus) do
    if one.level and one.level ~= "unknown" then
      for i = one.first, one.last do points[i].level = one.level end
      named[one.level] = { from_bytes = points[one.first].bytes,
                           to_bytes = points[one.last].bytes, mb_s = one.mb_s }
    end
  end
  return named, why
end

--- The level of a size, once the curve is known: DRAM from the second point of
--- its plateau on (the first may be half cache); else that of the nearest point
--- below, when the one above has it too.
---@param points table[] as levels.name left them
---@param bytes integer
---@return string
function levels.of(points, bytes)
  local below, above, before
  for i, point in ipairs(points) do
    if point.bytes <= bytes then below, before = point, points[i - 1] end
    if point.bytes >= bytes then
      above = point
      break
    end
  end
  if not below then return "unknown" end
  if below.level == "DRAM" then
    return before and before.level == "DRAM" and "DRAM" or "unknown"
  end
  return above and below.level == above.level and below.level or "unknown"
end

return levels
