#!/usr/bin/env storlua
-- SPDX-License-Identifier: MIT
--- Two or more runs side by side: what differs in their conditions, and which
--- cases became faster or slower beyond noise.

local compare = require("storlua.compare")
local compare_run = require("storlua.compare.run")
local compare_table = require("storlua.compare.table")
local event = require("storlua.event")
local storlua = require("storlua")

return storlua.procedure {
  summary = "Runs side by side: faster, slower, or no difference beyond noise.",
  description = [[
The first run is the base. Conditions that differ come first, because they
usually are the answer. A case is judged where both runs measured it at least
three times. Exit code 1 only with --fail-on: when a case is what it names, or
when nothing could be judged.]],
  options = {
    { name = "runs", type = "list", path = true, positional = true, metavar = "RUN_DIR",
      required = true,
      help = "folders of runs, the base first" },
    { name = "metric", type = "choice", default = "rate",
      choices = { "rate", "iops", "p50", "p99", "p999", "max" },
      help = "what is compared: MiB/s with the flush, or a latency" },
    { name = "min-change", type = "number", default = 2, min = 0, metavar = "PERCENT",
      help = "a smaller change is not called one" },
    { name = "alpha", type = "number", default = 0.05, max = 0.5,
      help = "level of the test" },
    { name = "fail-on", type = "list", choices = { "slower", "faster", "missing" },
      help = "exit with 1 when a case is" },
    { name = "json", type = "flag", help = "one line of JSON instead of tables" },
  },
  tool = true,
  run = function(_, opt)
    if #opt.runs < 2 then storlua.usage("a comparison needs two runs or more") end
    local runs = {}
    for i, path in ipairs(opt.runs) do runs[i] = compare_run.read(path) end
    local result = compare.runs(runs, {
      metric = opt.metric, alpha = opt.alpha, min_percent = opt.min_change,
    })
    if opt.json then
      print(event.encode(result))
    else
      for _, line in ipairs(compare_table.lines(result)) do print(line) end
    end
    local code, why = compare.exit_code(result, opt.fail_on)
    if why then io.stderr:write("storlua: --fail-on: ", why, "\n") end
    return code
  end,
}
