-- SPDX-License-Identifier: MIT
--- Ctrl-C to a script whose ring waits for a device that does not answer: the
--- first one ends it, with a verdict that says what hung.

local cli_run = require("cli_run")
local disk = require("disk")
local fs = require("storlua.fs")
local lu = require("luaunit")
local ring = require("storlua.ring")
local workload = require("storlua.workload")

local suite = {}

local SCRIPT <const> = [[
local ring = require("storlua.ring")
local storlua = require("storlua")
local task = require("storlua.task")
return storlua.procedure {
  summary = "Reads what does not answer.",
  options = { { name = "file", type = "string" }, { name = "op", type = "string" } },
  run = function(t, opt)
    local r <close> = ring.open { path = opt.file, record_bytes = 4096, slots = 4, write = true }
    local scope <close> = task.scope()
    for slot = 1, 4 do
      scope:spawn("task " .. slot, function()
        local _ <close> = task.defer(function() t:note("left " .. slot, "yes") end)
        r[opt.op](r, slot, (slot - 1) * 4096)
      end)
    end
    scope:join()
  end,
}
]]

-- Runs fn(run, fault, path, run_dir) with a script that hangs in `op`.
local function hang(op, fn, ...)
  local fault <close> = disk.fault()
  local place <close> = disk.directory()
  local path, run_dir = fault.path .. "/data", place.path .. "/run"
  workload.run { path = path, operation = "write", size_bytes = "64k", record_bytes = "64k" }
  local r, err = ring.try_open { path = path, record_bytes = 4096, slots = 1 }
  lu.skipIf(not r, tostring(err))
  r:close()
  fs.write_atomic(place.path .. "/hangs.lua", SCRIPT)
  fault:tell("hang " .. op)
  local run <close> = cli_run.start { place.path .. "/hangs.lua", "--output", run_dir,
    "--file", path, "--op", op, ... }
  disk.wait_until(10, op .. " hangs", function() return fault:count("hanging") > 0 end)
  fn(run, fault, path, run_dir)
end

for _, op in ipairs { "read", "write", "fsync" } do
  suite["test_one_signal_ends_a_hanging_" .. op] = function()
    hang(op, function(run, _, path, run_dir)
      run:signal("INT")
      local result = run:finish(10)
      lu.assertTrue(result.seconds < 2, result.seconds .. "\n" .. result.stderr)
      lu.assertEquals(result.code, cli_run.verdict(run_dir).exit_code, result.stderr)
      lu.assertNotEquals(result.code, 0)
      lu.assertStrContains(result.stderr, "gave up on ring " .. path .. ": in " .. op)
      local stuck = cli_run.events_of(run_dir, "stuck")
      lu.assertEquals({ #stuck, stuck[1].what, stuck[1].abandoned }, { 1, op, true })
      -- Every task unwound, with its clean-up.
      lu.assertEquals(#cli_run.events_of(run_dir, "note"), 4)
    end)
  end
end

function suite.test_what_hangs_is_told_while_it_does()
  hang("read", function(run, fault, path, run_dir)
    local stuck = run:wait_event(run_dir, function(event) return event.kind == "stuck" end)
    lu.assertEquals({ stuck.job, stuck.what, stuck.abandoned }, { "ring " .. path, "read", false })
    lu.assertTrue(stuck.seconds >= 1 and stuck.offset % 4096 == 0)
    fault:tell("clear")
    fault:tell("release")
    lu.assertEquals(run:finish(10).code, 1)
    lu.assertStrContains(cli_run.verdict(run_dir).reasons[1], "is stuck in read")
  end, "--stuck", "1s")
end

return suite
