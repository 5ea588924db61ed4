-- SPDX-License-Identifier: MIT
--- What an error value says to a person: where it was raised, by which way,
--- and what it holds. Error values keep their identity; tracebacks are kept
--- beside them.

local errors = require("storlua.errors")

local failure = {}

local tracebacks = setmetatable({}, { __mode = "k" })

local function is_library(line)
  return line:match("^%s*storlua/") or line:match("^%s*storlua%.lua:")
    or line:match("^%s*%[C%]") or line:match("^%s*%(%.%.%.tail calls%.%.%.%)")
end

--- Cuts a traceback down to the part that is the script's: the library's own
--- frames above and below it go. A defect of the library keeps all of them.
---@param text string lines of debug.traceback without its heading
---@return string
function failure.trim(text)
  local lines, first, last = {}, nil, nil
  for line in text:gmatch("[^\n]+") do
    if not line:match("^stack traceback:") then
      lines[#lines + 1] = line
      if not is_library(line) then
        first = first or #lines
        last = #lines
      end
    end
  end
  return table.concat(lines, "\n", first or 1, last or #lines)
end

--- Message handler of every task: remembers the traceback, and turns values
--- that say nothing, such as error(nil), into errors.
---@param err any
---@return table|userdata
function failure.capture(err)
  if err == nil then
    err = errors.new { code = "ERROR", message = "the script raised nil: error(nil)" }
  elseif type(err) ~= "table" and type(err) ~= "userdata" then
    err = errors.new { code = "ERROR", message = tostring(err), value = err }
  end
  if not tracebacks[err] then
    tracebacks[err] = failure.trim(debug.traceback("", 2))
  end
  return err
end

--- Attaches a traceback that was taken elsewhere.
function failure.remember(err, traceback)
  tracebacks[err] = tracebacks[err] or failure.trim(traceback)
end

--- The traceback of an error as it was when it was raised, or nil.
---@return string|nil
function failure.traceback(err)
  local kind = type(err)
  return (kind == "table" or kind == "userdata") and tracebacks[err] or nil
end

--- One text for any error value; a table without __tostring is shown.
---@param err any
---@return string
function failure.text(err) return require("storlua.failure_text").text(err) end

--- The text with the place in the script in front, and the traceback under it.
---@param err any
---@return string
function failure.report(err) return require("storlua.failure_text").report(err) end

return failure
