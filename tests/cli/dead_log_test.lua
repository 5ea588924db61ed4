-- SPDX-License-Identifier: MIT
--- The disk for the results does not answer: timers go on, the path is named,
--- Ctrl-C ends it.

local cli_run = require("cli_run")
local disk = require("disk")
local lu = require("luaunit")
local procedure_run = require("procedure_run")

local suite = {}

-- A script beside which another task ticks until its run has ended, so that a
-- loop that stands still shows.
local SCRIPT = [[
local task = require("storlua.task")
require("storlua.job").answer_seconds = 0.3
local scope = task.scope()
local ticks = scope:spawn("ticks", function()
  for n in task.every(0.05) do io.stderr:write("tick ", n, "\n") end
end)
return require("storlua").procedure { summary = "x",
  run = function(t)
    t:check("a", true)
    io.stderr:write("checked\n")
    ticks:cancel()
    scope:join()
  end }
]]

local function hangs(command, argv, path, more_lines)
  local fault <close> = disk.fault()
  local place <close> = disk.directory()
  local file <close> = assert(io.open(place.path .. "/case.lua", "w"))
  file:write(SCRIPT)
  file:close()
  fault:tell(command)
  for i, word in ipairs(argv) do argv[i] = word:gsub("FAULT", fault.path) end
  argv[#argv + 1] = place.path .. "/case.lua"
  local run <close> = cli_run.start(argv)
  disk.wait_until(10, "it hangs", function() return fault:count("hanging") > 0 end)
  run:wait_line("waiting for .* " .. fault.path:gsub("%-", "%%-") .. path
    .. ".*, which does not answer", 10)
  local lines = #run.err
  disk.wait_until(5, "timers go on", function() return #run.err >= lines + more_lines end)
  run:signal("INT")
  local result = run:finish(10)
  lu.assertStrContains(result.stderr, "gave up on")
  return result
end

for name, case in pairs {
  the_folder = { "hang mkdir", "/new" },
  the_lock = { "only lock\nhang open", "/new" },
  the_log = { "only events.jsonl\nhang open", "/new" },
  the_reserve = { "only reserve\nhang write", "/new" },
  the_name_of_the_folder = { "hang fsyncdir", "/new" },
} do
  suite["test_hang_of_" .. name] = function()
    local result = hangs(case[1], { "--output", "FAULT/new/run" }, case[2], 4)
    lu.assertEquals(result.code, 130, result.stderr)
    lu.assertTrue(result.seconds < 3, result.seconds)
    lu.assertNotStrContains(result.stderr, "checked")
  end
end

-- The results are on disk, the report is for another one.
function suite.test_hang_of_a_report()
  local place <close> = disk.directory()
  local result = hangs("hang open", { "--output", place.path .. "/run", "--report",
    "junit=FAULT/report.xml" }, "/report.xml", 1)
  lu.assertEquals(result.code, 1, result.stderr)
  lu.assertStrContains(result.stderr, "the reporter junit=")
  lu.assertEquals(cli_run.verdict(place.path .. "/run").status, "passed")
end

-- One that answers late is waited for.
function suite.test_a_slow_disk_is_waited_for()
  local fault <close> = disk.fault()
  local place <close> = procedure_run.place 't:check("a", true)'
  fault:tell("slow mkdir 700\nslow open 300")
  local result = procedure_run.run(place, { output = fault.path .. "/run" })
  lu.assertEquals(result.code, 0, result.stderr)
end

return suite
