-- SPDX-License-Identifier: MIT
--- The fields of a workload spec (docs/events.md): defaults, units, and the
--- table the C side wants.

local errors = require("storlua.errors")
local nearest = require("storlua.nearest")
local quantity = require("storlua.quantity")
local tables = require("storlua.workload.tables")

local spec = {}

--- Seed and run id of specs that do not say. The host sets them when a run
--- begins; until then each process has its own.
spec.run = { seed = math.random(0, math.maxinteger), run_id = math.random(1, 0xffffffff) }

local orders = { "sequential", "backward", "random", "strided" }

-- name, type, default (a function is called); false: none
local fields = {
  { "path", "string", false },
  { "engine", "string", "psync" },
  { "engine_forced", "boolean", false },
  { "operation", { "read", "write", "mixed", "trim", "trim_write" }, false },
  { "read_percent", "count", 50 },
  { "record_bytes", "size", 65536 },
  { "size_mix", "table", false },
  { "size_bytes", "size", false },
  { "truncate", "boolean", false },
  { "range_offset", "size", 0 },
  { "range_bytes", "size", 0 },
  { "order", orders, "sequential" },
  { "stride_records", "count", 0 },
  { "distribution", { "uniform", "zipf", "pareto", "normal", "zoned" }, "uniform" },
  { "zipf_theta", "number", false },
  { "pareto_h", "number", false },
  { "normal_percent", "count", false },
  { "zones", "table", false },
  { "seed", "count", function() return spec.run.seed end },
  { "first_visit", "count", 0 },
  { "limit_records", "count", 0 },
  { "limit_bytes", "size", 0 },
  { "limit_seconds", "duration", 0 },
  { "ramp_seconds", "duration", 0 },
  { "direct", "boolean", false },
  { "open_sync", { "none", "data", "full" }, "none" },
  { "flush", { "none", "end", "every", "after" }, "none" },
  { "flush_every", "count", 0 },
  { "stamp", "boolean", false },
  { "verify", "boolean", false },
  { "run_id", "count", function() return spec.run.run_id end },
  { "target_id", "count", 0 },
  { "generation", "count", 1 },
  { "writer", "count", 0 },
  { "legal", "table", false },
  { "bad_kept", "count", 16 },
  { "rate_bytes_s", "rate", 0 },
  { "rate_operations_s", "count", 0 },
  { "limit_latency_seconds", "duration", 0 },
  { "think_seconds", "duration", 0 },
  { "think_spin_seconds", "duration", 0 },
  { "think_after_seconds", "duration", 0 },
  { "think_every", "count", 0 },
  { "cpus", "count", 0 },
  { "continue_on_error", "boolean", false },
  { "cold", { "drop", "require" }, false },
  { "interval_seconds", "duration", 1 },
  { "series_directions", "boolean", false },
  { "steady", "table", false },
  { "queue_depth", "count", 1 },
  { "vectors", "count", 0 },
  { "map_sync", { "none", "async", "record" }, "none" },
  { "streams", "count", 1 },
  { "paths", "table", false },
  { "one_after_other", "boolean", false },
  { "stonewall", "boolean", false },
  { "virtual_op_ns", "count", 0 },
}

local names, known = {}, {}
for i, field in ipairs(fields) do
  names[i], known[field[1]] = field[1], true
end

--- The names of all fields, in the order of the documents.
---@return string[]
function spec.names() return { table.unpack(names) } end

local function refuse(path, format, ...)
  error(errors.new { code = "EINVAL", op = "workload", path = path,
    message = "workload: " .. format:format(...) }, 0)
end

local function one_of(list, value)
  for _, candidate in ipairs(list) do
    if candidate == value then return true end
  end
  return false
end

local function number(path, name, kind, value)
  if type(value) == "string" and kind ~= "number" then
    local parsed, why = quantity.parse(kind, value)
    if not parsed then refuse(path, "%s '%s': %s", name, value, why) end
    return parsed
  end
  if type(value) ~= "number" then
    refuse(path, "%s must be a number or a text like '1M', not %s", name, type(value))
  end
  if kind == "duration" then
    if value ~= value or value < 0 or value > 9e9 then
      refuse(path, "%s is %s: a number of seconds from 0 to 9e9 is wanted", name, tostring(value))
    end
    return value
  end
  if kind == "number" then return value end
  local whole = math.tointeger(value)
  if not whole or whole < 0 then
    refuse(path, "%s is %s: a whole number from 0 on is wanted", name, tostring(value))
  end
  return whole
end

local function convert(path, name, kind, value)
  if type(kind) == "table" then
    if one_of(kind, value) then return value end
    local hint = type(value) == "string" and nearest.hint(value, kind) or ""
    refuse(path, "%s is '%s': it can be %s%s", name, tostring(value),
      table.concat(kind, ", "), hint)
  elseif tables.has(name) then
    return tables.complete(name, value, function(...) refuse(path, ...) end,
      function(...) return number(path, ...) end)
  elseif kind == "string" or kind == "boolean" or kind == "table" then
    if type(value) == kind then return value end
    refuse(path, "%s must be a %s, not %s", name, kind, type(value))
  end
  return number(path, name, kind, value)
end

--- Fills in every default and turns texts like "1M" into numbers. Raises what
--- is unknown or of the wrong kind; whether the values go together is for the
--- C side to say.
---@param given table
---@return table
function spec.complete(given)
  local full, path = {}, type(given.path) == "string" and given.path or nil
  for key in pairs(given) do
    if not known[key] then
      refuse(path, "'%s' is not a field of a spec%s", tostring(key),
        type(key) == "string" and nearest.hint(key, names) or "")
    end
  end
  for _, field in ipairs(fields) do
    local name, kind, default = field[1], field[2], field[3]
    local value = given[name]
    if value == nil or (value == false and not default) then
      if type(default) == "function" then default = default() end
      if default ~= false or kind == "boolean" then full[name] = default end
    else
      full[name] = convert(path, name, kind, value)
    end
  end
  if not full.operation then
    refuse(path, "operation is missing: read, write, mixed, trim or trim_write")
  end
  tables.infer(full, given, function(...) refuse(path, ...) end)
  if full.steady and full.streams > 1 then
    refuse(path, "steady is for one stream: %d would each end by itself", full.streams)
  end
  if full.streams < 1 or full.streams > 1024 then
    refuse(path, "streams is %d: 1 to 1024 are possible", full.streams)
  end
  if full.paths then full.path = full.path or full.paths[1] end
  return full
end

local function ns(seconds)
  local whole = math.tointeger(seconds)
  return whole and whole * 1000000000 or math.ceil(seconds * 1e9)
end

--- The table for storlua.core.workload: base units, what is created, and how
--- far the range goes.
---@param full table from spec.complete
---@return table
function spec.to_core(full)
  local core = {}
  for name, value in pairs(full) do core[name] = value end
  for _, name in ipairs { "limit", "ramp", "limit_latency", "interval", "think", "think_spin",
                          "think_after" } do
    core[name .. "_ns"] = ns(full[name .. "_seconds"])
  end
  if full.steady then
    core.steady_window_ns = ns(full.steady.window_seconds)
    core.steady_percent = full.steady.percent
  end
  if full.streams == 1 and full.paths and full.paths[2] then
    core.more_paths = { table.unpack(full.paths, 2) }
  end
  core.drop_cache = full.cold ~= nil
  core.require_cold = full.cold == "require"
  local size = full.size_bytes
  local fixed = full.operation == "read" or full.operation:find("^trim") ~= nil
  core.create = not fixed and (size or full.range_bytes > 0) and true or false
  -- A file that is written from end to end grows by itself; one that is only
  -- touched in places gets its size first.
  local whole = full.range_bytes == 0 and full.range_offset == 0
  if size and whole then core.range_bytes = size end
  if fixed or (whole and full.operation == "write") then
    core.size_bytes = nil
  end
  return core
end

return spec
