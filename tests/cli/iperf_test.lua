-- SPDX-License-Identifier: MIT
--- The real iperf3 over loopback, and iperf3 in trouble.

local cli_run = require("cli_run")
local disk = require("disk")
local lu = require("luaunit")
local process = require("storlua.process")

local suite = {}

local function need_iperf3()
  if not process.try_run { "iperf3", "--version" } then lu.skip("needs iperf3") end
end

local function iperf(place, argv)
  local all = { "--output", place.path .. "/run", "iperf.lua", cwd = place.path }
  table.move(argv, 1, #argv, #all + 1, all)
  return cli_run.run(all)
end

local function ends(place) return cli_run.events_of(place.path .. "/run", "x_iperf_end") end

function suite.test_self_test()
  need_iperf3()
  local place <close> = disk.directory()
  local result = iperf(place, { "--self-test", "-t", "1", "-i", "0.5", "-b", "80M", "--runs", "2",
    "--min-mbit", "40" })
  lu.assertEquals(result.code, 0, result.stdout .. result.stderr)
  lu.assertEquals(#ends(place), 2)
  for _, fields in ipairs(ends(place)) do
    local received = fields.received
    lu.assertTrue(received.bytes > 5000000 and received.bytes < 20000000, received.bytes)
    lu.assertAlmostEquals(received.mbit_s * 1e6 / 8 * received.seconds, received.bytes,
      received.bytes * 0.02)
    lu.assertStrContains(result.stdout, ("(%d bytes)"):format(received.bytes))
  end
  local intervals = cli_run.events_of(place.path .. "/run", "x_iperf_interval")
  lu.assertTrue(#intervals >= 4, #intervals)
  for _, word in ipairs { "Mbit/s", "MB/s", "retransmits", "window", "received " } do
    lu.assertStrContains(result.stdout, word)
  end
  lu.assertStrContains(cli_run.run({ "report", place.path .. "/run", "--to", "iperf" }).stdout,
    "received ")
end

function suite.test_limits_and_udp()
  need_iperf3()
  local place <close> = disk.directory()
  local result = iperf(place, { "--self-test", "-u", "-b", "8M", "-t", "1", "--min-mbit", "5000" })
  lu.assertEquals(result.code, 1, result.stdout)
  lu.assertStrContains(result.stdout, "Mbit/s were received, at least 5000.0 are asked for")
  lu.assertStrContains(result.stdout, "packets lost")
end

function suite.test_nobody_there()
  need_iperf3()
  local place <close> = disk.directory()
  local result = iperf(place, { "-c", "127.0.0.1", "-p", "9", "-t", "1" })
  lu.assertEquals(result.code, 1, result.stdout)
  lu.assertStrContains(result.stdout, "Connection refused")
  lu.assertNil(result.stdout:find("nan", 1, true))
end

-- A server of the test on a free port.
local function start_server()
  for _ = 1, 10 do
    local port = math.random(20000, 60000)
    local child = process.start { "iperf3", "-s", "-B", "127.0.0.1", "-p", port, "--forceflush",
                                  merge_stderr = true }
    for line in function() return child:read_line(5) end do
      if line:find("listening") then return child, port end
    end
    child:close()
  end
end

function suite.test_a_server_that_dies()
  need_iperf3()
  local place <close> = disk.directory()
  local server <close>, port = start_server()
  local run <close> = cli_run.start { "--output", place.path .. "/run", "iperf.lua", "-c",
    "127.0.0.1", "-p", tostring(port), "-t", "20", "-b", "10M", "-i", "0.3" }
  run:wait_line("on the wire", 20)
  server:kill("KILL")
  local result = run:finish(25)
  lu.assertEquals(result.code, 1, result.stdout)
  lu.assertStrContains(result.stdout, "iperf3 failed: ")
  lu.assertEquals(#ends(place), 1)
  lu.assertNotStrContains(result.stdout, "nothing was moved")
end

function suite.test_a_client_that_is_killed()
  need_iperf3()
  local place <close> = disk.directory()
  local server <close>, port = start_server()
  local run <close> = cli_run.start { "--output", place.path .. "/run", "iperf.lua", "-c",
    "127.0.0.1", "-p", tostring(port), "-t", "20", "-b", "10M" }
  run:wait_line("on the wire", 20)
  local pattern = ("^iperf3 -c 127.0.0.1 -p %d"):format(port)
  local pid = process.run { "pgrep", "-f", pattern }.stdout:match("%d+")
  process.run { "kill", "-s", "KILL", pid }
  local result = run:finish(25)
  lu.assertEquals(result.code, 1, result.stdout)
  lu.assertStrContains(result.stdout, "it was ended by signal 9")
  server:kill("TERM")
end

-- What other versions have printed, from a program that stands in for them.
local function stand_in(place, text, code)
  local path = place.path .. "/iperf3"
  do
    local file <close> = assert(io.open(path, "w"))
    file:write(("#!/bin/sh\ncat <<'END'\n%s\nEND\nexit %d\n"):format(text, code))
  end
  process.run { "chmod", "+x", path }
  return path
end

-- What nobody reads must not fill the pipe of a long test with many streams.
function suite.test_the_own_server_is_silent_and_says_why_it_cannot_start()
  need_iperf3()
  local place <close> = disk.directory()
  local path = stand_in(place, "", 0)
  do
    local file <close> = assert(io.open(path, "w"))
    file:write(("#!/bin/sh\necho \"$*\" >>%s/words\nexec iperf3 \"$@\"\n"):format(place.path))
  end
  local argv = { "--self-test", "-t", "1", "-b", "1M", "--iperf3", path }
  local result = iperf(place, argv)
  lu.assertEquals(result.code, 0, result.stdout .. result.stderr)
  lu.assertNil(result.stderr:find("device under test", 1, true), "no disk is")
  lu.assertStrContains(process.run { "cat", place.path .. "/words" }.stdout, " -i 0\n")
  local server <close>, port = start_server()
  process.run { "rm", "-r", place.path .. "/run" }
  table.move({ "-p", tostring(port) }, 1, 2, #argv + 1, argv)
  result = iperf(place, argv)
  lu.assertEquals(result.code, 1, result.stdout .. result.stderr)
  lu.assertStrContains(result.stdout, "Address already in use")
  server:kill("TERM")
end

function suite.test_bad_output()
  for text, code in pairs {
    ['{"end": {"sum": {"bytes": 0, "seconds": 0, "bits_per_second": -nan}}}'] = 0,
    ["Segmentation fault"] = 139,
    ['{"start": {'] = 1,
    ["{}"] = 0,
  } do
    local place <close> = disk.directory()
    local result = iperf(place, { "-c", "h", "--iperf3", stand_in(place, text, code) })
    lu.assertEquals(result.code, 1, text .. result.stdout .. result.stderr)
    lu.assertStrContains(result.stdout, "no data: nothing was moved")
    for _, line in ipairs { result.stdout, process.run { "cat",
      place.path .. "/run/events.jsonl" }.stdout } do
      lu.assertNil(line:gsub(text, ""):find("[^%a]nan[^%a]"), line)
    end
  end
end

-- What was moved is not denied for want of a rate.
function suite.test_bytes_without_a_rate()
  local place <close> = disk.directory()
  local result = iperf(place, { "-c", "h", "--iperf3", stand_in(place,
    '{"end": {"sum": {"bytes": 4000, "seconds": 0, "bits_per_second": -nan}}}', 0) })
  lu.assertEquals(result.code, 1, result.stdout .. result.stderr)
  lu.assertStrContains(result.stdout, "4000 bytes, and iperf3 gave no number as their rate")
  lu.assertNotStrContains(result.stdout, "nothing was moved")
end

-- The counts of an interface go with it.
function suite.test_an_interface_that_vanishes()
  disk.need_root()
  local place <close> = disk.directory()
  local path = stand_in(place, "", 0)
  do
    local file <close> = assert(io.open(path, "w"))
    file:write([[
#!/bin/sh
test "$1" = --help && exit 0
ip link add v0 type veth peer name v1 && ip link set v0 up && ip link set v1 up
sleep 1.7
ip link del v0
sleep 1.8
]])
  end
  local result = process.try_run { "unshare", "-n", cli_run.program, "--output",
    place.path .. "/run", "iperf.lua", "-c", "h", "--iperf3", path }
  lu.assertEquals(result.code, 1, result.stdout .. result.stderr)
  local live = cli_run.events_of(place.path .. "/run", "x_iperf_live")
  lu.assertTrue(#live > 0, result.stdout)
  for _, fields in ipairs(live) do lu.assertTrue(fields.bytes >= 0, result.stdout) end
end

function suite.test_missing()
  local place <close> = disk.directory()
  local result = iperf(place, { "--self-test", "--iperf3", place.path .. "/none" })
  lu.assertEquals(result.code, 2)
  lu.assertStrContains(result.stdout, "apt-get install iperf3")
end

return suite
