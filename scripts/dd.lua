#!/usr/bin/env storlua
-- SPDX-License-Identifier: MIT
--- One sequential write or read with dd's own command line:
--- storlua dd.lua if=/dev/zero of=FILE bs=1M count=500 conv=fsync

local arguments = require("storlua.dd.arguments")
local dd = require("storlua.dd")
local storlua = require("storlua")

return storlua.procedure {
  summary = "One sequential write or read, with dd's command line, said plainly.",
  description = [[
Takes a line of dd as it stands and prints dd's closing lines on stderr. Below
them it says what the line measured: the medium, the device's cache or the page
cache. A device is written only when --destroy names this unit; a file that was
not written by storlua only with --overwrite.]],
  usage = arguments.HELP,
  arguments = arguments.parse,
  target = dd.check,
  cases = function(opt) return { opt.writes and "write" or "read" } end,
  run = dd.run,
}
