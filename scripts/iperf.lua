#!/usr/bin/env storlua
-- SPDX-License-Identifier: MIT
--- Network throughput by the real iperf3, with its own command line:
--- storlua iperf.lua -c 192.168.0.2 -i 5 -t 60

local arguments = require("storlua.iperf.arguments")
local iperf = require("storlua.iperf")
local storlua = require("storlua")

return storlua.procedure {
  summary = "Network throughput by iperf3, with bits, bytes and rates kept apart.",
  description = [[
Runs iperf3 as it is installed, takes its JSON and records each interval, the
retransmits and the window. The verdict asks for a complete test that moved
data, and for what --min-mbit and --max-retransmits say.]],
  usage = arguments.HELP,
  arguments = arguments.parse,
  target = false,
  reports = function() return { { format = "iperf" } } end,
  cases = function(opt)
    local ids = { "iperf.completed", "iperf.moved" }
    if opt.min_mbit then ids[#ids + 1] = "iperf.rate" end
    if opt.max_retransmits then ids[#ids + 1] = "iperf.few_retransmits" end
    return ids
  end,
  run = iperf.run,
}
