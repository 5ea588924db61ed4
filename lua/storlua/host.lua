-- SPDX-License-Identifier: MIT
--- The host: runs the command line as the root task and turns its end into an
--- exit code.

local cli = require("storlua.cli")
local scheduler = require("storlua.scheduler")

local host = {}

--- Called by the C host.
---@param argv table arg[0] is the program
---@return integer exit code
function host.main(argv)
  local ok, result = scheduler.run(cli.main, argv)
  if ok then return math.tointeger(result) or 0 end
  if cli.is_usage(result) then
    io.stderr:write("storlua: ", result.message, "\n")
    return 2
  end
  io.stderr:write("storlua: ", tostring(result), "\n")
  local traceback = scheduler.traceback(result)
  if traceback then io.stderr:write(traceback, "\n") end
  return 3
end

return host
