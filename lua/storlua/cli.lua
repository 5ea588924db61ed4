-- SPDX-License-Identifier: MIT
--- The command line of the host.

local cli = {}

---@param argv table
---@return integer exit code
function cli.main(argv)
  local script = argv[1]
  if not script then
    io.stderr:write("usage: storlua SCRIPT.lua\n")
    return 2
  end
  local chunk, message = loadfile(script, "t")
  if not chunk then
    io.stderr:write("storlua: ", message, "\n")
    return 2
  end
  _G.arg = {}
  for i = 1, #argv do _G.arg[i - 1] = argv[i] end
  local code = chunk(table.unpack(argv, 2))
  return math.tointeger(code) or 0
end

return cli
