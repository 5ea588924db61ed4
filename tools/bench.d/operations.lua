-- SPDX-License-Identifier: MIT
--- operations.lua PATH N: N random 4 KiB reads as scripts do them. Two runs of
--- different length under callgrind tell what one operation costs.
local workload = require("storlua.workload")

local path, count = arg[1], math.tointeger(tonumber(arg[2]))
local result = workload.run {
  path = path, operation = "read", record_bytes = 4096, order = "random", seed = 1,
  limit_records = count,
}
assert(result.read.operations == count, result["end"])
