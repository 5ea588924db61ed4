-- SPDX-License-Identifier: MIT
--- The command line of the host. What a command needs is loaded when it is
--- used: a plain script starts without the code for options and runs.

local errors = require("storlua.errors")

local cli = {}

-- The exit code of a value that a plain script returned.
local function exit_code(value)
  if value == nil or value == true then return 0 end
  if value == false then return 1 end
  local code = math.tointeger(value)
  if code and code >= 0 and code <= 255 then return code end
  errors.raise("RESULT", "the script returned %s: it must be storlua.procedure{…}, "
    .. "an exit code from 0 to 255, or nothing", tostring(value))
end

-- `arg` as lua.c sets it: the script is 0, what stands before it is negative.
local function set_arg(argv, script_index)
  local arg = {}
  for i = 0, #argv do arg[i - script_index] = argv[i] end
  _G.arg = arg
end

local function run_script(argv, index, host_opt, host_given)
  local script = require("storlua.script")
  local found = script.find(argv[index], host_opt and host_opt.script_dir)
  local chunk = script.compile(found)
  script.enter(found)
  set_arg(argv, index)
  local arguments = table.move(argv, index + 1, #argv, 1, {})
  local result = chunk(table.unpack(arguments))
  local procedure = package.loaded["storlua.procedure"]
  if procedure and procedure.is(result) then
    return require("storlua.cli.procedure").main(result, found, {
      argv = argv, arguments = arguments, host_opt = host_opt, host_given = host_given,
      exit_code = exit_code,
    })
  end
  return exit_code(result)
end

local function run_code(argv, code, first)
  local chunk, message = load(code, "=(command line)", "t")
  if not chunk then errors.raise("USAGE", "%s", message) end
  require("storlua.script").enter { path = "(command line)", dir = "." }
  set_arg(argv, 0)
  return exit_code(chunk(table.unpack(argv, first)))
end

local function print_version()
  local version = require("storlua.core.version")
  io.stdout:write(version.text())
  return 0
end

local function split_host(argv)
  local command_line = require("storlua.cli.command_line")
  local run_options = require("storlua.cli.run_options")
  local first = command_line.skip_options(run_options.host, argv,
    "; options of the script follow its name")
  local head = table.move(argv, 1, first - 1, 1, {})
  local given = command_line.parse(run_options.host, head)
  local opt = require("storlua.cli.options").complete(run_options.host, given)
  run_options.check_folders(given)
  return first, opt, given
end

local COMMANDS = {
  list = function(...) return require("storlua.cli.catalog").main(...) end,
  report = function(...) return require("storlua.cli.report").main(...) end,
}

--- Runs the command line; called in the root task.
---@async
---@param argv table argv[0] is the program
---@return integer exit code
function cli.main(argv)
  local first, opt, given = 1, nil, nil
  if argv[1] and argv[1]:find("^%-.") then
    first, opt, given = split_host(argv)
    if opt.help then
      io.stdout:write(require("storlua.cli.help").host())
      return 0
    end
    if opt.version then return print_version() end
    if opt.execute then return run_code(argv, opt.execute, first) end
    if opt.interactive then return exit_code(require("storlua.cli.prompt").run()) end
  end
  local word = argv[first]
  if not word then
    errors.raise("USAGE", "the name of a script is missing: `storlua list` shows those that are "
      .. "bundled, `storlua --help` tells more")
  end
  if COMMANDS[word] then
    return COMMANDS[word](table.move(argv, first + 1, #argv, 1, {}), opt)
  end
  return run_script(argv, first, opt, given)
end

local USAGE = { USAGE = true, DECLARATION = true, BADLOG = true }

--- Tells whether an error is a mistake of the caller, found before anything
--- ran, or a log that cannot be read: one line, exit code 2.
---@param err any
---@return boolean
function cli.is_usage(err) return errors.is(err) and USAGE[err.code] or false end

return cli
