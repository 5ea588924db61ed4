#!/usr/bin/env storlua
-- SPDX-License-Identifier: MIT
--- Jobs of fio, by its own command lines and job files:
--- storlua fio.lua --name=x --filename=FILE --rw=randread --bs=4k --size=1G

local arguments = require("storlua.fio.arguments")
local fio = require("storlua.fio")
local preflight = require("storlua.fio.preflight")
local storlua = require("storlua")

return storlua.procedure {
  summary = "Jobs of fio by its command lines and job files, told fio's way and ours.",
  description = [[
Command lines and job files of fio are taken as they stand; what is not taken is
named and refused before anything is touched. The figures come in fio's text or
JSON, and in full as events. A device is written only when --destroy names this
unit.]],
  usage = arguments.HELP,
  arguments = arguments.parse,
  target = preflight.check,
  reports = function(opt)
    local reports = {}
    for i, format in ipairs(opt.formats) do
      local file = opt.output and (i == 1 and opt.output or opt.output .. "." .. format) or nil
      if file or i == 1 then reports[#reports + 1] = { format = format, file = file } end
    end
    return reports
  end,
  cases = function(opt)
    local ids = {}
    for i, job in ipairs(opt.jobs) do ids[i] = job.case_id end
    return ids
  end,
  thresholds = { { metric = "kernel.errors", rule = "count == 0", abort = true } },
  run = fio.run,
}
