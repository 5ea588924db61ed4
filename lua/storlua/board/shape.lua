-- SPDX-License-Identifier: MIT
--- What a board file may contain; every error names the field.

local limit_names = require("storlua.board.limit_names")
local nearest = require("storlua.nearest")
local pattern = require("storlua.pattern")
local quantity = require("storlua.quantity")
local shape = require("storlua.shape")

local board_shape = {}

--- In the order in which a device is matched against them.
board_shape.ROLES = { "emmc", "sd", "nvme", "usb", "ram", "ddr", "net" }

-- A name beside these would make a limit that judges nothing and says nothing.
local METRICS = {
  "read.mb_s", "read.mib_s", "read.iops", "write.mb_s", "write.mib_s", "write.iops",
}
-- Of the role ddr: an operation of membw.lua.
local DDR_METRICS = {
  "read.mb_s", "write.mb_s", "write_nt.mb_s", "copy.mb_s", "copy_nt.mb_s", "scale.mb_s", "add.mb_s",
  "triad.mb_s", "fill.mb_s", "memcpy.mb_s", "zero.mb_s",
}
local ORDERS = { "sequential", "backward", "random", "strided" }
-- Also those that this build lacks: a board file goes from host to host.
local ENGINES = {
  "psync", "sync", "vsync", "stdio", "mmap", "io_uring", "libaio", "posixaio", "null",
}

local STATISTICS = { min = true, max = true, mean = true, last = true }

-- A size as number or text; becomes bytes in the field itself.
local function bytes(owner, field, where)
  local value = owner[field]
  if value == nil then return end
  local parsed, why = math.tointeger(value), "must be whole"
  if type(value) == "string" then parsed, why = quantity.parse("size", value) end
  if not parsed or parsed < 0 then
    shape.fail(where .. "." .. field, "'%s': %s", tostring(value), why or "must not be negative")
  end
  owner[field] = parsed
end

local function copy(value)
  if type(value) ~= "table" then return value end
  local result = {}
  for key, element in pairs(value) do result[key] = copy(element) end
  return result
end

local function text_or_list(value, where)
  if type(value) ~= "string" then shape.strings(value, where) end
end

local function one_of(value, known, where)
  for _, name in ipairs(known) do
    if name == value then return end
  end
  shape.fail(where, "'%s' is none of %s%s", value, table.concat(known, ", "),
    nearest.hint(value, known))
end

local function in_order(owner, low, high, where)
  if owner[low] and owner[high] and owner[low] > owner[high] then
    shape.fail(where .. "." .. low, "is above %s: nothing lies between", high)
  end
end

local function check_applies_to(applies_to, metric, where)
  shape.check(applies_to, where, {
    operation = "string", order = text_or_list, engine = text_or_list, direct = "boolean",
    record_bytes_min = "number|string", record_bytes_max = "number|string",
  })
  local operation = applies_to.operation
  if operation and operation ~= "read" and operation ~= "write" and operation ~= "mixed" then
    shape.fail(where .. ".operation", "must be read, write or mixed, not '%s'", operation)
  end
  if operation and operation ~= "mixed" and operation ~= metric:match("^%a+") then
    shape.fail(where .. ".operation", "'%s' has no %s", operation, metric)
  end
  local orders = applies_to.order
  for _, order in ipairs(type(orders) == "table" and orders or { orders }) do
    one_of(order, ORDERS, where .. ".order")
  end
  local engines = applies_to.engine
  for _, engine in ipairs(type(engines) == "table" and engines or { engines }) do
    one_of(engine, ENGINES, where .. ".engine")
  end
  bytes(applies_to, "record_bytes_min", where)
  bytes(applies_to, "record_bytes_max", where)
  in_order(applies_to, "record_bytes_min", "record_bytes_max", where)
end

local function check_limit(limit, metrics, where)
  shape.check(limit, where, {
    metric = "!string", statistic = "string", min = "number", max = "number", unit = "string",
    applies_to = "table", each = "string", note = "string",
  })
  one_of(limit.metric, metrics, where .. ".metric")
  limit.statistic = limit.statistic or "p50"
  if not STATISTICS[limit.statistic] and not limit.statistic:find("^p%d%d?$") then
    shape.fail(where .. ".statistic", "must be min, max, mean, last or p50, p99 …, not '%s'",
      limit.statistic)
  end
  if not limit.min and not limit.max then shape.fail(where, "needs min or max") end
  for _, bound in ipairs { "min", "max" } do
    local value = limit[bound]
    if value and not (value > 0 and value < math.huge) then
      shape.fail(where .. "." .. bound, "must be more than 0 and finite")
    end
  end
  if limit.min and limit.max and limit.min > limit.max then
    shape.fail(where .. ".min", "is above max")
  end
  if limit.each and limit.each ~= "size" then
    shape.fail(where .. ".each", "can only be \"size\"")
  end
  if metrics == DDR_METRICS and next(limit.applies_to or {}) ~= nil then
    shape.fail(where .. ".applies_to", "chooses among workloads: a limit of ddr has none")
  end
  limit.applies_to = limit.applies_to or {}
  check_applies_to(limit.applies_to, limit.metric, where .. ".applies_to")
end

local function check_sensor(sensor, where)
  shape.check(sensor, where, { metric = "!string", unit = "string", read = "!function" })
  if not sensor.metric:find("^[%w_.-]+$") or #sensor.metric > 200 then
    shape.fail(where .. ".metric", "'%s' is no name of a metric", sensor.metric)
  end
end

local function check_size(role, where)
  if not role.size then return end
  shape.check(role.size, where .. ".size", { min = "number|string", max = "number|string" })
  bytes(role.size, "min", where .. ".size")
  bytes(role.size, "max", where .. ".size")
  in_order(role.size, "min", "max", where .. ".size")
end

local function patterns(value, where)
  shape.strings(value, where)
  for i, text in ipairs(value) do
    local why = pattern.problem(text)
    if why then shape.fail(("%s[%d]"):format(where, i), "'%s' is no pattern: %s", text, why) end
  end
end

local function check_role(role, name, where)
  shape.check(role, where, {
    host = text_or_list, type = text_or_list, manufacturer = text_or_list, name = text_or_list,
    label = text_or_list, size = "table", scratch = "string", rated_write = "number|string",
    limits = "table", sensors = "table", kernel = "table",
  })
  check_size(role, where)
  bytes(role, "rated_write", where)
  role.limits, role.sensors = role.limits or {}, role.sensors or {}
  shape.list(role.limits, where .. ".limits", function(limit, at)
    check_limit(limit, name == "ddr" and DDR_METRICS or METRICS, at)
  end)
  limit_names.tell_apart(role.limits)
  shape.list(role.sensors, where .. ".sensors", check_sensor)
  role.kernel = role.kernel or {}
  shape.check(role.kernel, where .. ".kernel", {
    names = shape.strings, patterns = patterns, ignore = patterns,
  })
end

--- Checks what a board file returned and fills in what it left out.
---@param given any
---@return table a checked copy
function board_shape.check(given)
  local board = copy(given)
  shape.check(board, "", {
    name = "!string", summary = "string", compatible = shape.strings, roles = "table",
  })
  board.compatible, board.roles = board.compatible or {}, board.roles or {}
  local known = {}
  for _, name in ipairs(board_shape.ROLES) do known[name] = true end
  for name, role in pairs(board.roles) do
    if not known[name] then
      shape.fail("roles." .. tostring(name), "is no role%s", type(name) == "string"
        and nearest.hint(name, board_shape.ROLES) or "")
    end
    check_role(role, name, "roles." .. name)
  end
  return board
end

return board_shape
