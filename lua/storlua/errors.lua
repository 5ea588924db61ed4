-- SPDX-License-Identifier: MIT
--- The one kind of error the library raises: a table that says what failed,
--- where, and what to do.

local errors = {}

---@class storlua.Error
---@field code string errno name ("EIO") or one of ours ("TIMEOUT", "CANCELLED", …)
---@field message string complete sentence for a person
---@field op? string system call or step
---@field path? string
---@field offset? integer bytes
---@field hint? string what to do
---@field package is_found? boolean ends a run, which knows why

local Error = {}
Error.__index = Error
Error.__name = "storlua.Error"
function Error:__tostring() return self.message end

--- Makes an error value without raising it.
---@param fields storlua.Error at least code and message
---@return storlua.Error
function errors.new(fields)
  return setmetatable(fields, Error)
end

--- Tells whether a value is an error of the library.
---@param value any
---@return boolean
function errors.is(value)
  return getmetatable(value) == Error
end

--- Raises an error of the library.
---@param code string
---@param format string message, with the arguments of string.format
function errors.raise(code, format, ...)
  error(errors.new { code = code, message = format:format(...) }, 0)
end

--- Turns the results of a binding into an error value.
---@param message string
---@param code string
---@param fields? table op, path, offset, hint
---@return storlua.Error
function errors.from_core(message, code, fields)
  local e = fields or {}
  e.code, e.message = code, message
  return errors.new(e)
end

--- Passes the results of a binding on, or raises what it reports.
--- Bindings return nil, message, code, fields when they fail.
function errors.check(...)
  if (...) == nil and select("#", ...) >= 3 then
    error(errors.from_core(select(2, ...)), 0)
  end
  return ...
end

-- Not results of an operation: they say that the task is to end.
local ENDS = { CANCELLED = true, SIGNAL = true, EXIT = true }

--- Calls `f` and returns its results; a library error comes back as nil, error
--- (what every try_… function is made of), anything else is raised again.
function errors.try(f, ...)
  local function finish(ok, ...)
    if ok then return ... end
    local e = ...
    if errors.is(e) and not ENDS[e.code] then return nil, e end
    error(e, 0)
  end
  return finish(pcall(f, ...))
end

return errors
