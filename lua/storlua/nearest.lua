-- SPDX-License-Identifier: MIT
--- Finds the name somebody meant: the one at the smallest Damerau-Levenshtein
--- distance (insert, delete, replace, swap of neighbours).

local nearest = {}

--- The number of edits that turn `a` into `b`, a swap of neighbours being one.
---@param a string
---@param b string
---@return integer
function nearest.distance(a, b)
  local before, previous = {}, {}
  for j = 0, #b do previous[j] = j end
  for i = 1, #a do
    local current = { [0] = i }
    for j = 1, #b do
      local cost = a:byte(i) == b:byte(j) and 0 or 1
      local best = math.min(previous[j] + 1, current[j - 1] + 1, previous[j - 1] + cost)
      if i > 1 and j > 1 and a:byte(i) == b:byte(j - 1) and a:byte(i - 1) == b:byte(j) then
        best = math.min(best, before[j - 2] + 1)
      end
      current[j] = best
    end
    before, previous = previous, current
  end
  return previous[#b]
end

--- The candidate nearest to `name`, or nil when none is near: at most a third
--- of its letters may differ, one in a short one, or `name` begins it.
---@param name string
---@param candidates string[]
---@return string|nil
function nearest.find(name, candidates)
  local best, best_distance
  for _, candidate in ipairs(candidates) do
    local distance = nearest.distance(name:lower(), candidate)
    local allowed = math.max(1, (#candidate + 1) // 3)
    local near = distance <= allowed and distance < #candidate
    local begins = #name >= 2 and candidate:sub(1, #name) == name
    if begins then distance = distance - 0.5 end -- the likelier one of two as near
    if (near or begins) and (not best or distance < best_distance) then
      best, best_distance = candidate, distance
    end
  end
  return best
end

--- "; did you mean 'x'?" or "".
---@param name string
---@param candidates string[]
---@param prefix? string put before the candidate
---@return string
function nearest.hint(name, candidates, prefix)
  local found = nearest.find(name, candidates)
  return found and ("; did you mean '%s%s'?"):format(prefix or "", found) or ""
end

return nearest
