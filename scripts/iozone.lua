#!/usr/bin/env storlua
-- SPDX-License-Identifier: MIT
--- The tests of iozone over file and record sizes, with iozone's own command
--- line: storlua iozone.lua -e -I -az -n 16m -g 2g -q 16m -f FILE -Rb OUT

local arguments = require("storlua.iozone.arguments")
local iozone = require("storlua.iozone")
local outputs = require("storlua.iozone.outputs")
local storlua = require("storlua")

return storlua.procedure {
  summary = "The tests of iozone over file and record sizes, with its command line.",
  description = [[
Takes the command lines of iozone as they stand, and readable long options.
Each result is on disk before the next test begins: an interrupted run keeps
them, and a killed one goes on with --resume RUN_DIR. Numbers of the page cache
are marked as cached. docs/iozone.md lists where a test does what its
description promises and iozone does not.]],
  usage = arguments.help(),
  arguments = arguments.parse,
  reports = outputs.reports,

  cases = function(opt)
    local ids = {}
    for _, row in ipairs(iozone.matrix(opt).rows) do
      for _, cell in ipairs(row.cells) do ids[#ids + 1] = cell.case_id end
    end
    return ids
  end,

  run = function(t, opt)
    local matrix = iozone.matrix(opt)
    outputs.check(t, opt)
    matrix:run(t)
  end,
}
