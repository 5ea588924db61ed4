-- SPDX-License-Identifier: MIT
--- `storlua report RUN_DIR --to FORMATS`: reports of a run that goes on, has
--- ended or was cut off.

local command_line = require("storlua.cli.command_line")
local options = require("storlua.cli.options")

local report_command = {}

local DECLARED = options.declare({
  { name = "run", type = "string", path = true, metavar = "RUN_DIR", positional = true,
    required = true,
    help = "folder of the run" },
  { name = "to", type = "string", metavar = "FORMATS", default = "text",
    help = "joined by commas: text, json, csv, junit; of procedures with tables of their own "
      .. "iozone, matrix, rawblock, iperf, fio, fio_json, xlsx" },
  { name = "output", type = "string", path = true, metavar = "FILE",
    help = "write here, not to stdout" },
  { name = "help", short = "h", type = "flag", help = "print this and end" },
}, "report")

---@param argv string[] words after "report"
---@return integer exit code
function report_command.main(argv)
  if command_line.asks(DECLARED, argv, "--help", "h") then
    io.stdout:write(require("storlua.cli.help").command("report RUN_DIR [options]",
      "Writes reports about a run, also one that goes on or was cut off.", DECLARED))
    return 0
  end
  local opt = options.complete(DECLARED, command_line.parse(DECLARED, argv))
  local formats = {}
  for format in (opt.to .. ","):gmatch("([^,]*),") do
    if format == "" then options.usage("--to: '%s': a format is empty", opt.to) end
    formats[#formats + 1] = format
  end
  return require("storlua.report").main(opt.run, formats, opt)
end

return report_command
