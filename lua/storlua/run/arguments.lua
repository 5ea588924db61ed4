-- SPDX-License-Identifier: MIT
--- Checks of what a script gives to the methods of the run object.

local nearest = require("storlua.nearest")

local arguments = {
  -- errors of a start that are not about the target
  not_ours = { REFUSED = true, USAGE = true, EVENT_LOG = true, CANCELLED = true, SIGNAL = true,
               EXIT = true, TIMEOUT = true },
}

--- Refuses what is no case id, in the name of the caller of the method.
---@param method string
---@param case_id any
function arguments.check_case_id(method, case_id)
  local ok = type(case_id) == "string" and #case_id <= 100
  if ok then
    for segment in (case_id .. "."):gmatch("([^.]*)%.") do
      ok = ok and segment:find("^[%w_-]+$") ~= nil
    end
  end
  if not ok then
    error(("t:%s: '%s' is not a case id (at most 100 letters, digits, _ and -, in segments "
      .. "joined by dots)"):format(method, tostring(case_id)), 3)
  end
end

--- What a check found; nil is false. Nothing else is a judgement: 0 is true in
--- Lua, and so are an exit code and a message in the wrong place.
---@param method string
---@param ok any
---@return boolean
function arguments.judged(method, ok)
  if ok == nil or type(ok) == "boolean" then return ok or false end
  error(("t:%s: true or false says whether it is right, not %s: compare it, as in x == 0"):format(
    method, type(ok) == "number" and tostring(ok) or "a " .. type(ok)), 3)
end

local FIELDS = {
  measure = { "expect_errors", "expect_end", "labels", "no_limits", "on_result" },
  memory = { "spec", "result", "reason", "labels" },
  rounds = { "seconds", "count", "pause" },
  scratch_file = { "any_name" },
}

local function check_labels(method, labels)
  local ok = type(labels) == "table"
  for name, value in pairs(ok and labels or {}) do
    local kind = type(value)
    ok = ok and type(name) == "string"
      and (kind == "string" or kind == "number" or kind == "boolean")
  end
  if not ok then
    error(("t:%s: labels are a table of texts and numbers by name"):format(method), 4)
  end
end

--- Refuses a table with fields that the method does not know.
---@param method string
---@param given? table
---@return table given, {} for nil
function arguments.fields(method, given)
  if given ~= nil and type(given) ~= "table" then
    error(("t:%s: takes a table {%s}, not a %s"):format(method,
      table.concat(FIELDS[method], ", "), type(given)), 3)
  end
  for name in pairs(given or {}) do
    local known = false
    for _, field in ipairs(FIELDS[method]) do known = known or name == field end
    if not known then
      error(("t:%s: '%s' is not a field%s"):format(method, tostring(name),
        nearest.hint(tostring(name), FIELDS[method])), 3)
    end
  end
  if given and given.labels ~= nil then check_labels(method, given.labels) end
  return given or {}
end

--- Refuses what is no name of a metric.
---@param method string
---@param name any
function arguments.check_metric(method, name)
  if type(name) ~= "string" or not name:find("^[%w_.-]+$") or #name > 200 then
    error(("t:%s: '%s' is not the name of a metric"):format(method, tostring(name)), 3)
  end
end

--- The message of a format and its arguments; "" without one.
---@param method string
---@param format? string
---@return string
function arguments.text_of(method, format, ...)
  if format == nil then return "" end
  if type(format) ~= "string" then
    error(("t:%s: the message is a format, not a %s"):format(method, type(format)), 3)
  end
  if select("#", ...) == 0 then return format end
  local ok, text = pcall(string.format, format, ...)
  if not ok then error(("t:%s: %s"):format(method, text), 3) end
  return text
end

-- Kinds of the library that a script may write itself; true: wait for the disk.
local KINDS = { kernel = false, stuck = false, stall = false, writing = true, flushed = true,
                removed = false, sensors = false, device_change = true }

-- Every event has them, and ours would win without a word.
local OURS = { "v", "seq", "boot_id", "t_boot_ns", "wall", "kind" }

--- An event that a script may write.
---@param kind any
---@param fields any
---@return boolean durable whether it must be on disk before the script goes on
function arguments.check_event(kind, fields)
  local durable = KINDS[kind]
  if durable == nil and not (type(kind) == "string" and kind:find("^x_[%w_]+$")) then
    error(("t:event: '%s' is not a kind that a script writes; its own begin with x_"):format(
      tostring(kind)), 3)
  end
  if type(fields) ~= "table" then error("t:event: the fields are a table", 3) end
  for _, name in ipairs(OURS) do
    if fields[name] ~= nil then
      error(("t:event: the field '%s' is written by the host: use another name"):format(name), 3)
    end
  end
  return durable or false
end

return arguments
