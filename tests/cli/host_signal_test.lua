-- SPDX-License-Identifier: MIT
--- Ctrl-C, kill and the death of either process, as a user meets them.

local cli_run = require("cli_run")
local disk = require("disk")
local lu = require("luaunit")
local process = require("storlua.process")
local sanitizer = require("sanitizer")
local task = require("storlua.task")

local suite = {}

local helpers = assert(os.getenv("STORLUA_HELPERS"))

local READY = [[
  local task = require("storlua.task")
  local process = require("storlua.process")
  local function ready(...)
    print("ready " .. table.concat({ ... }, " "))
    io.stdout:flush()
  end
  local _ <close> = task.defer(function() task.sleep(0.05) io.stderr:write("closed\n") end)
]]

local function start(code, env)
  local run = cli_run.start { "-e", READY .. code, env = env }
  run:wait_line("^ready")
  return run
end

local function host_pid(run)
  local pid = process.run { "pgrep", "-P", run.child.pid }.stdout:match("%d+")
  return math.tointeger(pid)
end

local function is_alive(pid)
  return process.try_run { "kill", "-0", pid }.code == 0
end

local function check_gone(pid, what)
  disk.wait_until(5, what .. " ends", function()
    local file = io.open("/proc/" .. pid .. "/stat")
    if not file then return true end
    local text = file:read("a") -- nil when it ends between the two calls
    file:close()
    return not text or text:match("%) (%a)") == "Z" -- nobody may reap it here
  end)
end

function suite.test_one_signal_unwinds_whoever_gets_it()
  for signal, code in pairs { INT = 130, TERM = 143, HUP = 129 } do
    for _, to in ipairs { "group", "supervisor", "host" } do
      local run <close> = start([[ready() task.sleep(60)]])
      if to == "host" then
        process.run { "kill", "-s", signal, host_pid(run) }
      else
        run:signal(signal, to == "supervisor")
      end
      local result = run:finish(5)
      lu.assertEquals(result.code, code, signal .. " to " .. to)
      lu.assertStrContains(result.stderr, "closed")
      lu.assertStrContains(result.stderr, "stopping (SIG" .. signal .. "): 1 clean-up may run")
      lu.assertTrue(result.seconds < 1, result.seconds)
    end
  end
end

function suite.test_swallowing_script_still_ends_as_stopped()
  local run <close> = start([[ready() pcall(task.sleep, 60) return 0]])
  run:signal("INT")
  lu.assertEquals(run:finish(5).code, 130)
end

function suite.test_spinning_scripts_stop_and_clean_up()
  -- Its signals would come when the spinning is over.
  if sanitizer == "thread" then return end
  for _, code in ipairs {
    "while true do end",
    "coroutine.wrap(function() while true do end end)()",
    "while true do pcall(task.sleep, 60) end",
    "while true do pcall(function() while true do end end) end",
    "local s <close> = task.scope() s:spawn('kid', function() while true do end end) s:join()",
  } do
    local run <close> = start("ready() " .. code)
    run:signal("INT")
    local result = run:finish(10)
    lu.assertEquals(result.code, 130, code)
    lu.assertStrContains(result.stderr, "closed", code)
  end
end

function suite.test_second_signal_ends_at_once()
  for _, wait in ipairs {
    "task.sleep(60)", "while true do end", "('x'):rep(60):find(('.-'):rep(60) .. 'b')",
  } do
    local run <close> = start([[
      local child <close> = process.start { "sleep", "60" }
      local _ <close> = task.defer(function() task.sleep(60) end)
      ready(child.pid) ]] .. wait)
    local child = math.tointeger(run:wait_line("^ready"):match("%d+"))
    run:signal("INT")
    task.sleep(0.2)
    lu.assertTrue(is_alive(child))
    run:signal("INT")
    local result = run:finish(5)
    lu.assertEquals(result.code, 130)
    lu.assertTrue(result.seconds < 1, result.seconds)
    lu.assertStrContains(result.stderr, "second SIGINT")
    check_gone(child, "the child")
  end
end

-- timeout(1) and a lab's runner send one signal, and nobody is there to send
-- another. A clean-up that takes long has heard it.
function suite.test_one_signal_is_enough_for_a_script_that_hears_none()
  local deaf <close> = start([[ready() local _ = ('x'):rep(60):find(('.-'):rep(60) .. 'b')]])
  local slow <close> = start([[local _ <close> = task.defer(function() task.sleep(5) end)
    ready() task.sleep(90)]])
  deaf:signal("TERM")
  slow:signal("TERM")
  deaf:wait_line("no reaction to SIGTERM yet: the script sits in a system call or in C")
  local result = slow:finish(20)
  lu.assertEquals(result.code, 143)
  lu.assertNil(result.stderr:find("no reaction", 1, true))
  lu.assertStrContains(result.stderr, "closed")
  result = deaf:finish(70)
  lu.assertEquals(result.code, 143)
  lu.assertStrContains(result.stderr, "ended: SIGTERM was not heard; clean-ups are missing")
end

function suite.test_killed_host_is_reported_and_its_children_end()
  local run <close> = start([[local child <close> = process.start { "sleep", "60" }
    ready(child.pid) task.sleep(60)]])
  local child = math.tointeger(run:wait_line("^ready"):match("%d+"))
  process.run { "kill", "-KILL", host_pid(run) }
  local result = run:finish(5)
  lu.assertEquals(result.code, 137)
  lu.assertStrContains(result.stderr, "the host died (SIGKILL)")
  check_gone(child, "the child")
end

function suite.test_killed_supervisor_stops_the_host()
  local run <close> = start([[ready() task.sleep(60)]])
  local host = host_pid(run)
  run:signal("KILL", true)
  run:wait_line("closed", 5)
  check_gone(host, "the host")
end

function suite.test_terminal_ctrl_c_is_one_request()
  local child <close> = process.start { helpers .. "/pty", "run", cli_run.program, "-e",
    READY .. "ready() task.sleep(60)", stderr = process.NULL }
  repeat until child:read_line(10):find("^ready")
  child:write("\3")
  local text = {}
  for line in child:lines() do text[#text + 1] = line end
  lu.assertEquals(child:wait(), 130, table.concat(text, "\n"))
  lu.assertStrContains(table.concat(text, "\n"), "closed")
end

function suite.test_timeout_of_coreutils_is_one_request()
  local result = process.try_run { "timeout", "0.5", cli_run.program, "-e",
    READY .. "task.sleep(60)", timeout = 20 }
  lu.assertEquals(result.code, 124)
  lu.assertStrContains(result.stderr, "closed")
end

function suite.test_hang_up_stays_ignored_under_nohup()
  local run <close> = cli_run.start { "-e", [[print(1)]] }
  run:finish(5)
  local child <close> = process.start { "sh", "-c", [[trap "" HUP; exec "$0" -e "$1"]],
    cli_run.program, READY .. "ready() task.sleep(0.5) return 5", stderr = process.NULL }
  child:read_line(10)
  child:kill("HUP")
  lu.assertEquals(child:wait(), 5)
end

function suite.test_stall_is_reported_with_its_place()
  local result = cli_run.run { "-e", [[
    local loop, task = require("storlua.core.loop"), require("storlua.task")
    local scope <close> = task.scope()
    scope:spawn("temperature", function()
      local begin_ns = loop.monotonic_ns()
      while loop.monotonic_ns() - begin_ns < 1500000000 do end
    end)
    scope:join()]] }
  lu.assertEquals(result.code, 0)
  local _, count = result.stderr:gsub("the loop was busy for", "")
  lu.assertEquals(count, 1, result.stderr)
  lu.assertStrMatches(result.stderr,
    "storlua: the loop was busy for 1%.[5-9] s in %(command line%):5 %(task temperature%)\n")
end

function suite.test_host_leaves_although_a_job_hangs_in_the_kernel()
  cli_run.within(1, function()
    local place <close> = disk.fault()
    local file = assert(io.open(place.path .. "/file", "w"))
    file:close()
    place:tell("hang open")
    local run <close> = start([[ready() require("storlua.cache").residency(os.getenv("HANGS"))]],
      { HANGS = place.path .. "/file" })
    disk.wait_until(5, "the open hangs", function() return place:count("hanging") == 1 end)
    run:signal("INT")
    local result = run:finish(5)
    lu.assertEquals(result.code, 130)
    lu.assertStrContains(result.stderr, "gave up on")
    lu.assertStrContains(result.stderr, "closed")
    return result.seconds
  end)
end

-- By who waits for it, and not again by the handle that is closed.
function suite.test_a_job_that_hangs_is_given_up_once()
  local place <close> = disk.fault()
  do
    local file <close> = assert(io.open(place.path .. "/file", "w"))
    file:write(("x"):rep(8192))
  end
  place:tell("hang read")
  local run <close> = start([[
    local w <close> = require("storlua.workload").start { path = os.getenv("HANGS"),
      operation = "read", record_bytes = 4096 }
    ready() w:wait()]], { HANGS = place.path .. "/file" })
  disk.wait_until(5, "the read hangs", function() return place:count("hanging") == 1 end)
  run:signal("INT")
  local result = run:finish(5)
  lu.assertEquals(result.code, 130, result.stderr)
  local _, count = result.stderr:gsub("gave up on workload", "")
  lu.assertEquals(count, 1, result.stderr)
end

return suite
