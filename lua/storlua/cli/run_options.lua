-- SPDX-License-Identifier: MIT
--- The options of the host itself: those of every run, and those that stand
--- for a command of their own.

local options = require("storlua.cli.options")

local run_options = {}

--- Of a run; they may also follow the name of a script with declared options.
run_options.run = options.declare({
  { name = "output", type = "string", path = true, metavar = "DIR",
    help = "folder of the run (results/<script>-<n>)" },
  { name = "report", type = "list", metavar = "FORMAT[=FILE]",
    help = "also write a report when the run ends" },
  { name = "quiet", short = "q", type = "flag", help = "no progress, only the verdict" },
  { name = "resume", type = "string", path = true, metavar = "RUN_DIR",
    help = "go on with a run that was cut off" },
  { name = "board", type = "string", path = true, metavar = "NAME|FILE", default = "auto",
    help = "description of the board" },
  { name = "destroy", type = "list", metavar = "UNIT",
    help = "consent to overwrite this unit, named as devices.lua prints it" },
  { name = "seed", type = "count", metavar = "N", help = "repeats the random orders of a run" },
  { name = "log-limit", type = "size", default = "64M", min = "1M",
    help = "cap of the event log" },
  { name = "stuck", type = "duration", default = "30s",
    help = "one system call that takes longer fails the run" },
  { name = "cleanup-timeout", type = "duration", default = "60s",
    help = "how long clean-ups may take" },
  { name = "script-dir", type = "string", path = true, metavar = "DIR",
    help = "look here for scripts before the bundled ones" },
  { name = "lua-dir", type = "string", path = true, metavar = "DIR",
    help = "read the Lua library from here (development)" },
  { name = "options", type = "string", path = true, metavar = "FILE",
    help = "values for options: a Lua file that returns a table" },
  { name = "list-cases", type = "flag", help = "print the ids of the cases and end" },
  { name = "help", short = "h", type = "flag", help = "print this and end" },
}, "run")

--- Only before the name of a script.
run_options.host = options.join(run_options.run, options.declare({
  { name = "execute", short = "e", type = "string", metavar = "CODE", help = "run this Lua code" },
  { name = "interactive", short = "i", type = "flag", help = "a prompt where calls may wait" },
  { name = "version", type = "flag", help = "print versions and features" },
}, "host"))

--- Names a script cannot declare.
run_options.taken = {}
for _, option in ipairs(run_options.run.list) do
  run_options.taken[option.name] = "an option of every run"
end

--- Refuses folders that are not there: a script or a library from elsewhere
--- would run in place of what was meant.
---@param given table<string, any> checked run options
function run_options.check_folders(given)
  for key, name in pairs { script_dir = "--script-dir", lua_dir = "--lua-dir" } do
    local path = given[key]
    local stat, err
    if path then stat, err = require("storlua.fs").try_stat(path) end
    if path and not (stat and stat.is_directory) then
      options.usage("%s: %s", name, err and err.message or path .. " is not a folder")
    end
  end
end

local function split_report(text)
  local format, file = text:match("^([^=]*)=(.*)$")
  if file == "" then options.usage("--report: %s: the file name is empty", text) end
  return { format = format or text, file = file }
end

--- The settings that storlua.run gets, from the checked run options.
---@param opt table<string, any>
---@return table
function run_options.settings(opt)
  local reports = {}
  for i, text in ipairs(opt.report) do reports[i] = split_report(text) end
  return {
    output = opt.output, reports = reports, quiet = opt.quiet, resume = opt.resume,
    destroy = opt.destroy, seed = opt.seed, log_limit_bytes = opt.log_limit,
    cleanup_seconds = opt.cleanup_timeout, stuck_seconds = opt.stuck,
  }
end

return run_options
