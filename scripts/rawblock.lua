#!/usr/bin/env storlua
-- SPDX-License-Identifier: MIT
--- Speed of a block device or file below the file system: sequential 1 MiB and
--- random 4 KiB, write and read, in two severities of syncing.

local rawblock = require("storlua.rawblock")
local storlua = require("storlua")
local target = require("storlua.target")

return storlua.procedure {
  summary = "Sequential and random speed of a raw device or file, synced two ways.",
  description = [[
Eight tests: sequential 1 MiB and random 4 KiB, write and read, each severe
(O_SYNC: every write is on the medium before the next) and less severe (one
flush at the end, counted). All past the page cache, which is dropped in
between; reads have other offsets than writes. Everything is done --runs times
and shown with its spread.

The content of the target is destroyed, unless --read-only is given. A device
is written only when --destroy names this very unit as devices.lua prints it,
and when nobody uses it: a refusal says who does, and ends with exit code 5.]],

  options = {
    { name = "target", type = "string", path = true, required = true, metavar = "PATH|ROLE",
      help = "block device, file, directory for a file, or a role: emmc, sd, usb, nvme" },
    { name = "runtime", type = "duration", default = "30", help = "of each test" },
    { name = "runs", type = "count", default = 3, min = 1,
      help = "repetitions; below 3 no difference is judged" },
    { name = "size", type = "size",
      help = "use so much of it from its start; of a file: its size (1 GiB)" },
    { name = "record", type = "size", default = "1M", min = 512,
      help = "record of the sequential tests" },
    { name = "random-record", type = "size", default = "4k", min = 512,
      help = "record of the random tests" },
    { name = "direct", type = "choice", choices = { "on", "off" }, default = "on",
      help = "past the page cache; off: where the file system cannot" },
    { name = "read-only", type = "flag", help = "only the reads; nothing is written" },
    { name = "fill", type = "flag",
      help = "write all of a device once before (a file always is)" },
    { name = "force-signature", type = "flag",
      help = "overwrite a file system or partition table that is recognised" },
    { name = "keep", type = "flag", help = "leave the file behind" },
  },

  target = function(opt, board)
    return target.resolve(opt.target, board, rawblock.FILE_NAME)
  end,
  cases = function(opt)
    local ids = {}
    for i, case in ipairs(rawblock.cases(opt)) do ids[i] = case.id end
    return ids
  end,
  thresholds = { { metric = "kernel.errors", rule = "count == 0", abort = true } },
  reports = function() return { { format = "rawblock" } } end,
  run = rawblock.run,
}
