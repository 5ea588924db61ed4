-- SPDX-License-Identifier: MIT
--- Names for limits of one metric that judge different workloads. Under one
--- name their samples would be judged together, and each by both rules.

local quantity = require("storlua.quantity")

local limit_names = {}

local function words(value)
  return type(value) == "table" and table.concat(value, "-") or value
end

local function size(bytes)
  return (quantity.text("size", bytes):gsub(" ", ""):gsub("%.", "_"))
end

-- "random_to_4KiB"; what the metric says already is left out.
local function name_of(limit)
  local rule, parts = limit.applies_to, {}
  if rule.operation == "mixed" then parts[1] = "mixed" end
  parts[#parts + 1] = words(rule.order)
  parts[#parts + 1] = words(rule.engine)
  if rule.direct ~= nil then parts[#parts + 1] = rule.direct and "direct" or "buffered" end
  if rule.record_bytes_min then parts[#parts + 1] = "from_" .. size(rule.record_bytes_min) end
  if rule.record_bytes_max then parts[#parts + 1] = "to_" .. size(rule.record_bytes_max) end
  return parts[1] and table.concat(parts, "_") or "all"
end

--- Gives `name` to the limits that need one: a limit that is alone with its
--- metric, or that shares what it applies to, keeps the short name.
---@param limits table[] checked
function limit_names.tell_apart(limits)
  local names = {}
  for i, limit in ipairs(limits) do names[i] = name_of(limit) end
  for i, limit in ipairs(limits) do
    for j, other in ipairs(limits) do
      if other.metric == limit.metric and names[j] ~= names[i] then limit.name = names[i] end
    end
  end
end

return limit_names
