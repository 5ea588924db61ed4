-- SPDX-License-Identifier: MIT
--- What a ring adds to each operation of a task, script and all, counted in
--- instructions: see instructions_per_operation_test.lua.

local disk = require("disk")
local fs = require("storlua.fs")
local lu = require("luaunit")
local process = require("storlua.process")
local ring = require("storlua.ring")
local sanitizer = require("sanitizer")
local workload = require("storlua.workload")

local FEW <const>, MANY <const>, DEPTH <const> = 3200, 12800, 16

local SCRIPT <const> = [[
local ring = require("storlua.ring")
local task = require("storlua.task")
local path, operations, depth = arg[1], tonumber(arg[2]), tonumber(arg[3])
local r <close> = ring.open { path = path, record_bytes = 4096, slots = depth }
local scope <close> = task.scope()
for slot = 1, depth do
  scope:spawn("reader", function()
    local reader, last, offset = r, r.size_bytes - 1, slot << 12
    for _ = 1, operations // depth do
      offset = offset * 6364136223846793005 + (1442695040888963407 << 12) & last
      reader:read(slot, offset)
    end
  end)
end
scope:join()
assert(r:latency().read.count == operations)
]]

local suite = {}

-- Of the process that did the work: the other one is the supervisor.
local function instructions(place, operations)
  local run = process.run { "valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null",
    os.getenv("STORLUA"), place.path .. "/reads.lua", place.path .. "/data", operations, DEPTH }
  local most = 0
  for count in run.stderr:gmatch("Collected : (%d+)") do
    most = math.max(most, math.tointeger(count))
  end
  return most
end

function suite.test_a_read_of_a_task()
  lu.skipIf(not pcall(process.run, { "valgrind", "--version" }), "valgrind is not here")
  if sanitizer then
    print("left out: a sanitizer adds instructions of its own")
    return
  end
  local place <close> = disk.directory()
  workload.run { path = place.path .. "/data", operation = "write", size_bytes = "1M",
    record_bytes = "64k" }
  local r, err = ring.try_open { path = place.path .. "/data", record_bytes = 4096, slots = 1 }
  lu.skipIf(not r, tostring(err))
  r:close()
  fs.write_atomic(place.path .. "/reads.lua", SCRIPT)
  local few, many = instructions(place, FEW), instructions(place, MANY)
  local each = (many - few) / (MANY - FEW)
  print(("%.0f instructions per read"):format(each))
  lu.assertTrue(each > 500 and each <= 1250, each)
end

return suite
