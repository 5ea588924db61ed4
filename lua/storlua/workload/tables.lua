-- SPDX-License-Identifier: MIT
--- The fields of a workload spec that are tables of their own: zones, size_mix
--- and steady. Texts become numbers, and what is unknown is refused.

local tables = {}

-- name, type, default
local shapes = {
  zones = { list = true,
    { "visit_percent", "count" }, { "range_percent", "count", 0 }, { "range_bytes", "size", 0 } },
  size_mix = { list = true,
    { "record_bytes", "size" }, { "percent", "count" } },
  steady = {
    { "window_seconds", "duration", 10 }, { "percent", "count", 10 } },
}

local function entry(where, shape, given, refuse, number)
  if type(given) ~= "table" then refuse("%s must be a table, not %s", where, type(given)) end
  local full, known, names = {}, {}, {}
  for i, field in ipairs(shape) do
    local name, kind, default = field[1], field[2], field[3]
    known[name], names[i] = true, name
    local value = given[name]
    if value == nil then value = default end
    if value == nil then refuse("%s has no %s", where, name) end
    full[name] = number(where .. "." .. name, kind, value)
  end
  for key in pairs(given) do
    if not known[key] then
      refuse("%s has no field '%s': it has %s", where, tostring(key), table.concat(names, ", "))
    end
  end
  return full
end

--- True when the field is described here.
---@param name string
---@return boolean
function tables.has(name) return shapes[name] ~= nil end

--- Fills in defaults and turns texts into numbers.
---@param name string
---@param given any
---@param refuse fun(format: string, ...) raises
---@param number fun(name: string, kind: string, value: any): number
---@return table
function tables.complete(name, given, refuse, number)
  local shape = shapes[name]
  if not shape.list then return entry(name, shape, given, refuse, number) end
  if type(given) ~= "table" or #given == 0 then
    refuse("%s must be a list of tables", name)
  end
  local full = {}
  for i, one in ipairs(given) do
    full[i] = entry(("%s[%d]"):format(name, i), shape, one, refuse, number)
  end
  return full
end

-- What each distribution is told, and with what when nothing is said.
local parameters = {
  zipf = { "zipf_theta", 1.2 }, pareto = { "pareto_h", 0.2 },
  normal = { "normal_percent", 10 }, zoned = { "zones" },
}

local function parameter(full, refuse)
  for kind, of in pairs(parameters) do
    local name, default = of[1], of[2]
    if full.distribution == kind then
      full[name] = full[name] or default
      if not full[name] then refuse("distribution %s needs %s", kind, name) end
    elseif full[name] then
      refuse("%s is for distribution %s, not %s", name, kind, full.distribution)
    end
  end
end

--- Fills in what follows from these fields.
---@param full table a complete spec
---@param given table as it was written
---@param refuse fun(format: string, ...) raises
function tables.infer(full, given, refuse)
  parameter(full, refuse)
  local draws = full.distribution ~= "uniform"
  if given.order == nil and (draws or full.size_mix) then full.order = "random" end
  if full.size_mix and given.record_bytes == nil then
    full.record_bytes = 0
    for _, one in ipairs(full.size_mix) do
      full.record_bytes = math.max(full.record_bytes, one.record_bytes)
    end
  end
end

return tables
