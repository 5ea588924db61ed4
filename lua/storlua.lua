-- SPDX-License-Identifier: MIT
--- The entry module of scripts: `local storlua = require("storlua")`.

local errors = require("storlua.errors")

local storlua = {}

--- Declares the procedure that a script returns; see docs/procedure.md.
---@param fields table
---@return storlua.Procedure
function storlua.procedure(fields)
  return require("storlua.procedure").new(fields)
end

--- Ends with one line on stderr and exit code 2: for wrong arguments.
---@param message string
function storlua.usage(message)
  error(errors.new { code = "USAGE", message = tostring(message) }, 0)
end

-- Loaded on first use, so that a script pays for what it touches.
local function load_on_use(_, name)
  if name == "board" then return require("storlua.board") end
  if name == "version" then return require("storlua.core.version") end
  return nil
end

return setmetatable(storlua, { __index = load_on_use })
