-- SPDX-License-Identifier: MIT
--- `storlua SCRIPT …` for a script that returned a procedure: options first,
--- all checked before anything is touched, then the run.

local command_line = require("storlua.cli.command_line")
local help = require("storlua.cli.help")
local options = require("storlua.cli.options")
local procedure = require("storlua.procedure")
local run_options = require("storlua.cli.run_options")

local procedure_command = {}

-- Run options before the script, and after it when the procedure declares its
-- own; the later ones win.
local function parse(self, call)
  local host_given = call.host_given or {}
  if not self.options then
    if host_given.options then
      options.usage("--options: this script reads its own command line")
    end
    local run = options.complete(run_options.run, host_given)
    return nil, nil, run, host_given
  end
  local all = options.join(self.options, run_options.run)
  local given = command_line.parse(all, call.arguments)
  run_options.check_folders(given)
  for key, value in pairs(host_given) do
    if given[key] == nil then given[key] = value end
  end
  local lenient = given.resume ~= nil
  local values, all_given = options.complete(all, given, given.options, lenient)
  local opt, opt_given = {}, {}
  for _, option in ipairs(self.options.list) do
    opt[option.key] = values[option.key]
    opt_given[option.key] = all_given[option.key]
  end
  return opt, opt_given, values, all_given
end

local function asks_help(self, call)
  if self.options then
    return command_line.asks(self.options, call.arguments, "--help", "h")
  end
  return call.arguments[1] == "--help" or call.arguments[1] == "-h"
end

local function default_options(self)
  if not self.options then return {} end
  return (options.complete(self.options, {}, nil, true))
end

-- Thresholds that depend on options are shown for the defaults and this board.
local function threshold_texts(self, found)
  local ok, list = pcall(function()
    return self:thresholds_for(default_options(self),
      require("storlua.board").select("auto", found.dir))
  end)
  if not ok then return { "depend on the options and the board" } end
  local texts = {}
  for i, entry in ipairs(list) do texts[i] = procedure.threshold_text(entry) end
  return texts
end

-- Reports that the procedure brings along; --report has the last word on stdout.
local function add_reports(self, opt, settings)
  local on_stdout = false
  for _, asked in ipairs(settings.reports) do on_stdout = on_stdout or not asked.file end
  for _, brought in ipairs(self:reports_for(opt)) do
    if brought.file or not on_stdout then table.insert(settings.reports, brought) end
  end
end

--- Runs a procedure, or answers --help and --list-cases about it.
---@async
---@param self storlua.Procedure
---@param found storlua.Script
---@param call table argv, arguments, host_opt, host_given, exit_code (of what a tool returns)
---@return integer exit code
function procedure_command.main(self, found, call)
  if asks_help(self, call) then
    local name = found.dir and found.path or found.name .. ".lua"
    io.stdout:write(help.procedure(name, self, threshold_texts(self, found)))
    return 0
  end
  if not self.options and call.arguments[1] == "--list-cases" then
    table.remove(call.arguments, 1)
    call.list_cases = true
  end
  local opt, given, run, run_given = parse(self, call)
  if not opt then opt = self:options_of(call.arguments) end
  if run.list_cases or call.list_cases then
    for _, id in ipairs(self:cases_for(opt)) do print(id) end
    return 0
  end
  if self.tool then return call.exit_code(self.run(nil, opt)) end
  local settings = run_options.settings(run)
  local board = require("storlua.board").select(run.board, found.dir)
  settings.board, settings.board_name = board, board.name
  settings.script, settings.script_path = found.name, found.path
  settings.script_dir = found.dir
  settings.argv = table.move(call.argv, 0, #call.argv, 1, {})
  settings.given, settings.options_given = run_given, given or {}
  add_reports(self, opt, settings)
  return require("storlua.run").execute(self, opt, settings)
end

return procedure_command
