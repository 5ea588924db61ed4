-- SPDX-License-Identifier: MIT
--- Two days of a soak in a moment: under virtual time a workload on the null
--- engine takes as long as it declares.

local disk = require("disk")
local lu = require("luaunit")
local process = require("storlua.process")

local suite = {}

local function run_virtual(source)
  local place <close> = disk.directory()
  local path = place.path .. "/script.lua"
  do
    local file <close> = assert(io.open(path, "w"))
    file:write(source)
  end
  local run = process.run { os.getenv("STORLUA"), path, env = { STORLUA_VIRTUAL_TIME = "1" } }
  os.remove(path)
  lu.assertEquals(run.code, 0, run.stderr)
  return run.stdout
end

function suite.test_two_days()
  lu.assertEquals(run_virtual([[
    local loop = require("storlua.core.loop")
    local workload = require("storlua.workload")
    local begun, rounds = loop.now_ns(), 0
    while loop.now_ns() - begun < 48 * 3600 * 1000000000 do
      local r = workload.run { engine = "null", operation = "write", range_bytes = "1G",
        record_bytes = "1M", limit_seconds = 600, virtual_op_ns = 100000000 }
      assert(r.total_ns == 600 * 1000000000 and r.write.operations == 6000)
      assert(r.write.latency.max_ns == 100000000 and #r.series.bytes == 601)
      rounds = rounds + 1
    end
    print(rounds)
  ]]), "288\n")
end

function suite.test_the_ramp_passes_too()
  lu.assertEquals(run_virtual([[
    local loop = require("storlua.core.loop")
    local workload = require("storlua.workload")
    local begun = loop.now_ns()
    workload.run { engine = "null", operation = "read", range_bytes = "1M", ramp_seconds = 5,
      limit_seconds = 20, virtual_op_ns = 1000000 }
    print((loop.now_ns() - begun) // 1000000000)
  ]]), "25\n")
end

function suite.test_a_limit_in_time_needs_a_declaration()
  lu.assertStrContains(run_virtual([[
    local workload = require("storlua.workload")
    local _, e = workload.try_run { engine = "null", operation = "read", range_bytes = "1M",
      limit_seconds = 20 }
    print(e.code, e.message)
  ]]), "virtual_op_ns")
end

return suite
