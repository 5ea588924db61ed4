-- SPDX-License-Identifier: MIT
--- Runs the real iperf3 and records what it moved: bytes, Mbit/s and MB/s
--- apart, each interval, retransmits and window, and how it ended.

local errors = require("storlua.errors")
local format = require("storlua.report.format")
local fs = require("storlua.fs")
local iperf_json = require("storlua.iperf.json")
local loop = require("storlua.core.loop")
local process = require("storlua.process")
local storlua = require("storlua")
local task = require("storlua.task")

local iperf = {
  slack_seconds = 30, -- beyond the asked time, until it is ended
  live_seconds = 1,
  last_words_seconds = 5, -- from an interrupt until it is ended
}

local INSTALL = "install it (Debian, Ubuntu: apt-get install iperf3; Buildroot: "
  .. "BR2_PACKAGE_IPERF3=y; Yocto: IMAGE_INSTALL += \"iperf3\") or name it with --iperf3 PATH"

-- Is it there, and can it tell intervals as JSON while it runs (3.17)?
local function look(opt)
  local result, err = process.try_run { opt.iperf3, "--help", timeout = 10 }
  if not result then
    storlua.usage(("iperf3 cannot be run (%s): %s"):format(err.message, INSTALL))
  end
  return { streams = (result.stdout .. result.stderr):find("json-stream", 1, true) ~= nil }
end

-- A server for one test on a free port.
local function start_server(t, opt)
  local words = {}
  for _ = 1, 8 do
    local port = opt.port or math.random(20000, 60000)
    local child = process.start {
      opt.iperf3, "-s", "-1", "-B", "127.0.0.1", "-p", port, "--forceflush",
      "-i", "0", -- nobody reads what it says: a full pipe would stop the test
      env = { LC_ALL = "C" }, merge_stderr = true,
    }
    local ok, said = pcall(function()
      for line in function() return child:read_line(5) end do
        if line:find("listening") then return true end
        words[#words + 1] = line
      end
      return false
    end)
    if ok and said then return child, port end
    child:close()
    if opt.port then break end
  end
  t:abort("%s could not start a server on 127.0.0.1%s: %s", opt.iperf3,
    opt.port and ":" .. opt.port or "", format.line(table.concat(words, " ")))
end

-- All that the interfaces have moved so far; while iperf3 itself is silent.
local function wire_bytes()
  local text = fs.read("/proc/net/dev")
  local sum = 0
  for received, rest in text:gmatch(":%s*(%d+)([^\n]*)") do
    local fields = {}
    for field in rest:gmatch("%d+") do fields[#fields + 1] = math.tointeger(tonumber(field)) end
    sum = sum + math.tointeger(tonumber(received)) + (fields[8] or 0)
  end
  return sum
end

local function watch_wire(t, opt, run)
  local before, before_ns = wire_bytes(), loop.now_ns()
  local begin_ns = before_ns
  task.sleep(iperf.live_seconds)
  for _ in task.every(iperf.live_seconds) do
    local now, now_ns = wire_bytes(), loop.now_ns()
    -- Over loopback each byte is sent and received here.
    -- Less than before: an interface has gone, with its counts.
    local bytes = math.max(0, now - before) // (opt.self_test and 2 or 1)
    t:event("x_iperf_live", {
      run = run, elapsed_ns = now_ns - begin_ns, bytes = bytes,
      mbit_s = bytes * 8 / 1e6 / ((now_ns - before_ns) / 1e9),
    })
    before, before_ns = now, now_ns
  end
end

local function command_of(opt, host, port, streams)
  local argv = { opt.iperf3, "-c", host }
  if port then table.move({ "-p", tostring(port) }, 1, 2, #argv + 1, argv) end
  table.move(opt.command, 1, #opt.command, #argv + 1, argv)
  argv[#argv + 1] = streams and "--json-stream" or "-J"
  argv.env, argv.stderr = { LC_ALL = "C" }, process.PIPE
  return argv
end

local function put_interval(t, run, one)
  local fields = { run = run }
  for name, value in pairs(one) do fields[name] = value end
  fields.mbit_s = one.bits_s and one.bits_s / 1e6
  t:event("x_iperf_interval", fields)
  if one.omitted or not fields.mbit_s then return end
  t:sample("iperf.mbit_s", fields.mbit_s, "Mbit/s")
  if one.retransmits then t:sample("iperf.retransmits", one.retransmits) end
end

-- Runs the client to its end; intervals of a newer iperf3 come while it runs.
local function run_client(t, opt, argv, run, streams)
  local parts, err_parts, told = {}, {}, 0
  local child <close> = process.start(argv)
  local scope <close> = task.scope()
  local said = scope:spawn("iperf3 stderr", function()
    for line in child.stderr:lines() do err_parts[#err_parts + 1] = line end
  end)
  if not streams then scope:spawn("wire", watch_wire, t, opt, run) end
  local function follow()
    for line in child:lines() do
      parts[#parts + 1] = line
      local event = streams and line:find("^{\"event\":\"interval\"") and iperf_json.read(line)
      if event and event.intervals[1] then
        put_interval(t, run, event.intervals[1])
        told = told + 1
      end
    end
    child:wait()
    said:join()
  end
  local limit_seconds = opt.seconds + iperf.slack_seconds
  local ok, err = pcall(task.timeout, limit_seconds, follow)
  if not ok and not (errors.is(err) and err.code == "TIMEOUT") then error(err, 0) end
  -- Interrupted, it tells what it has measured until then.
  if not ok and child:kill("INT") then pcall(task.timeout, iperf.last_words_seconds, follow) end
  scope:cancel()
  local result = iperf_json.read(table.concat(parts, "\n"))
  if not ok then
    result.errors, result.text = {}, nil
    result.problem = ("it did not end within %d s"):format(math.floor(limit_seconds))
  else
    local code, signal = child:wait()
    if signal then result.problem = "it was ended by signal " .. signal end
    if code ~= 0 and not result.errors[1] and not result.problem then
      result.problem = "exit code " .. code
    end
  end
  result.said = table.concat(err_parts, " ")
  for i = told + 1, #result.intervals do put_interval(t, run, result.intervals[i]) end
  return result
end

local function failure_text(result)
  if result.errors[1] then return table.concat(result.errors, "; ") end
  if not result.problem then return nil end
  local said = result.said and result.said ~= "" and result.said or result.text
  return result.problem .. (said and ": " .. format.line(said):sub(1, 200) or "")
end

local function notes(t, opt, result, moved)
  local asked = opt.bytes and require("storlua.quantity").parse("size", opt.bytes)
  if asked and moved.bytes > asked * 1.1 then
    t:note("iperf.short", ("%d bytes were asked for and %d sent: a short transfer measures the "
      .. "buffers"):format(asked, moved.bytes))
  end
  if (result.cpu_percent or 0) > 95 then
    t:note("iperf.cpu", ("the CPU was %s %% busy: it may be the limit, not the network"):format(
      format.number(result.cpu_percent, 0)))
  end
  local retransmits = result.sent and result.sent.retransmits
  if retransmits and result.mss_bytes and result.sent.bytes > 0 then
    t:note("iperf.retransmitted", ("about %s %% of the segments (%d)"):format(
      format.number(retransmits / (result.sent.bytes / result.mss_bytes) * 100, 2), retransmits))
  end
end

-- Why there is no result in it; nil when there is one.
local function what_lacks(result, moved)
  local sent_bytes = result.sent and result.sent.bytes or 0
  if not moved and result.intervals[1] then return "it told intervals and no total" end
  if not moved or moved.bytes + sent_bytes == 0 then return "no data: nothing was moved" end
  if moved.bytes == 0 then return ("of %d bytes sent none arrived"):format(sent_bytes) end
  return not moved.bits_s and moved.bytes .. " bytes, and iperf3 gave no number as their rate"
    or nil
end

local function judge(t, opt, run, result)
  local problem = failure_text(result)
  local fields = { run = run, problem = problem, version = result.version,
                   cpu_percent = result.cpu_percent, congestion = result.congestion }
  for _, side in ipairs { "sent", "received" } do
    local total = result[side]
    if total then
      fields[side] = total
      total.mbit_s = total.bits_s and total.bits_s / 1e6
    end
  end
  t:event("x_iperf_end", fields)
  t:check("iperf.completed", not problem, "run %d: %s", run, problem or "complete")
  -- What has arrived counts, not what was handed to the kernel.
  local moved = result.received or result.sent
  local lacks = what_lacks(result, moved)
  if not t:check("iperf.moved", not lacks, "run %d: %s", run, lacks or moved.bytes .. " bytes") then
    return
  end
  if opt.min_mbit then
    t:check("iperf.rate", moved.bits_s / 1e6 >= opt.min_mbit,
      "run %d: %s Mbit/s were received, at least %s are asked for", run,
      format.number(moved.bits_s / 1e6), format.number(opt.min_mbit))
  end
  local retransmits = result.sent and result.sent.retransmits
  if opt.max_retransmits then
    t:check("iperf.few_retransmits", retransmits and retransmits <= opt.max_retransmits,
      "run %d: %s retransmits, at most %d are allowed", run, retransmits or "an unknown number of",
      opt.max_retransmits)
  end
  notes(t, opt, result, result.sent or moved)
end

local function server_of(t, opt)
  if opt.self_test then return start_server(t, opt) end
  return nil, opt.port
end

--- Runs the tests.
---@async
---@param t storlua.Run
---@param opt table of storlua.iperf.arguments
function iperf.run(t, opt)
  local features = look(opt)
  for run = 1, opt.runs do
    t:phase(("run %d of %d"):format(run, opt.runs))
    local server <close>, port = server_of(t, opt)
    local argv = command_of(opt, opt.host or "127.0.0.1", port, features.streams)
    judge(t, opt, run, run_client(t, opt, argv, run, features.streams))
    if server then server:close() end
  end
end

return iperf
