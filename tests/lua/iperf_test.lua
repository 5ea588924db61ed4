-- SPDX-License-Identifier: MIT
--- iperf3's command line, and what it prints when all is not well.

local arguments = require("storlua.iperf.arguments")
local disk = require("disk")
local errors = require("storlua.errors")
local iperf = require("storlua.iperf")
local iperf_json = require("storlua.iperf.json")
local lu = require("luaunit")
local process = require("storlua.process")

local suite = {}

local function parse(line)
  local argv = {}
  for word in line:gmatch("%S+") do argv[#argv + 1] = word end
  return errors.try(arguments.parse, argv)
end

function suite.test_the_line_of_the_article()
  local opt = parse("-c 192.168.0.2 -i 5 -t 60")
  lu.assertEquals({ opt.host, opt.seconds, opt.runs, opt.self_test },
    { "192.168.0.2", 60, 1, false })
  lu.assertEquals(opt.command, { "-i", "5", "-t", "60" })
  local more = parse("-c h -p5202 -RZ --udp -b 10M --parallel=4 -i0.5 -f m -J --min-mbit 900")
  lu.assertEquals({ more.port, more.min_mbit, more.reverse, more.udp }, { 5202, 900, true, true })
  lu.assertEquals(more.command, { "-i", "0.5", "-P", "4", "-R", "-u", "-b", "10M", "-Z" })
end

local function check_seconds(line, seconds) lu.assertEquals(parse(line).seconds, seconds) end

function suite.test_omitted_seconds_take_their_time_too()
  check_seconds("-c h -t 10 -O 40", 50)
  check_seconds("-c h -O 40", 50)
end

function suite.test_refusals()
  for line, text in pairs {
    [""] = "which host",
    ["-c"] = "-c needs a value",
    ["-c h -t x"] = "-t: 'x' is no count",
    -- iperf3 takes the whole seconds of it: 0 never ends
    ["-c h -t 0.5"] = "-t: '0.5' is no count",
    ["-c h -O 1.5"] = "-O: '1.5' is no count",
    ["-c h -t 0"] = "-t 0",
    ["-c h -P 0"] = "-P: '0' is no count",
    ["-c h -n 1M -t 5"] = "exclude",
    ["-c h --self-test"] = "exclude",
    ["-c h -u --max-retransmits 0"] = "exclude",
    ["-s"] = "--self-test",
    ["-c h --bidir"] = "-R",
    ["-c h --paralel 2"] = "--parallel",
    ["-c h -k 3"] = "-k is not taken", -- iperf3 has it
    ["-c h host"] = "unexpected argument",
    ["-c h --reverse=1"] = "takes no value",
  } do
    local opt, err = parse(line)
    lu.assertNil(opt, line)
    lu.assertEquals(err.code, "USAGE", line)
    lu.assertStrContains(err.message, text)
  end
end

function suite.test_nan_is_no_number()
  local r = iperf_json.read([[
{ "start": {}, "intervals": [
  { "streams": [ { "socket": 4, "bytes": 8250, "lost_percent": -nan } ],
    "sum": { "start": 0, "end": 1, "seconds": 1, "bytes": 0, "bits_per_second": nan,
             "jitter_ms": inf, "lost_packets": 0 } } ],
  "end": { "sum": { "bytes": 0, "seconds": 0, "bits_per_second": -nan } } }]])
  lu.assertNil(r.problem)
  lu.assertNil(r.intervals[1].bits_s)
  lu.assertNil(r.intervals[1].jitter_ms)
  lu.assertEquals({ r.intervals[1].bytes, r.received.bytes }, { 0, 0 })
  lu.assertNil(r.received.bits_s)
end

function suite.test_errors_and_text_around()
  local two = iperf_json.read('{ "intervals": [], "end": {}, "error": "SERVER ERROR - too long",'
    .. '"error": "too long" }')
  lu.assertEquals(two.errors, { "SERVER ERROR - too long", "too long" })
  local after = iperf_json.read('{ "end": { "cpu_utilization_percent": {} } }\n'
    .. "iperf3: error - unable to send control message: Broken pipe\n")
  lu.assertNil(after.problem)
  lu.assertStrContains(after.text, "Broken pipe")
  for text, problem in pairs { [""] = "no JSON", ["killed"] = "no JSON",
    ['{ "start": { "connected": ['] = "does not parse" } do
    lu.assertStrContains(iperf_json.read(text).problem, problem)
  end
end

function suite.test_sums_over_streams()
  local r = iperf_json.read([[
{ "intervals": [ { "streams": [ { "snd_cwnd": 100, "rtt": 7 }, { "snd_cwnd": 50 } ],
    "sum": { "start": 0, "end": 1.5, "seconds": 1.5, "bytes": 3000000000,
             "bits_per_second": 1.6e10, "retransmits": 3, "omitted": true } } ],
  "end": { "sum_sent": { "bytes": 3000000000, "seconds": 1.5, "bits_per_second": 1.6e10,
                         "retransmits": 3 },
           "sum_received": { "bytes": 2999999999, "seconds": 1.5, "bits_per_second": 1.6e10 },
           "cpu_utilization_percent": { "host_total": 97.5 } } }]])
  local one = r.intervals[1]
  lu.assertEquals({ one.window_bytes, one.rtt_us, one.retransmits, one.omitted },
    { 150, 7, 3, true })
  lu.assertEquals(math.type(r.received.bytes), "integer")
  lu.assertEquals({ r.sent.bytes, r.received.bytes, r.cpu_percent },
    { 3000000000, 2999999999, 97.5 })
end

-- As 3.12 does it when its server dies; after -O the seconds begin anew.
function suite.test_an_interval_that_is_told_twice()
  local omitted = '{"sum":{"start":0,"end":1,"bytes":5,"omitted":true}},'
  local r = iperf_json.read('{"intervals":[' .. omitted .. [[
    {"sum":{"start":0,"end":1,"bytes":6}}, {"sum":{"start":1,"end":2,"bytes":7}},
    {"sum":{"start":1,"end":2,"bytes":7}}], "end":{}, "error":"control socket has closed"}]])
  local bytes = {}
  for i, one in ipairs(r.intervals) do bytes[i] = one.bytes end
  lu.assertEquals(bytes, { 5, 6, 7 })
end

function suite.test_a_stream_of_events()
  local r = iperf_json.read([[
{"event":"start","data":{"version":"iperf 3.17","tcp_mss_default":1448}}
{"event":"interval","data":{"sum":{"start":0,"end":1,"bytes":10,"bits_per_second":80}}}
{"event":"error","data":"control socket has closed unexpectedly"}
{"event":"end","data":{}}]])
  lu.assertEquals({ r.version, r.mss_bytes, r.intervals[1].bytes }, { "iperf 3.17", 1448, 10 })
  lu.assertEquals(r.errors, { "control socket has closed unexpectedly" })
end

local HANGS = [[
#!/bin/sh
test "$1" = --help && exit 0
trap 'echo "{\"intervals\":[{\"sum\":{\"start\":0,\"end\":1,\"bytes\":9,\"bits_per_second\":72}}],"
      echo "\"end\":{},\"error\":\"interrupt - the client has terminated\"}"; exit 1' INT
while :; do sleep 0.05; done
]]

-- Before 3.17 iperf3 tells its intervals when it ends: a server that hangs must
-- not take them along.
function suite.test_what_was_measured_before_a_hang_is_kept()
  local place <close> = disk.directory()
  local path = place.path .. "/iperf3"
  do
    local file <close> = assert(io.open(path, "w"))
    file:write(HANGS)
  end
  process.run { "chmod", "+x", path }
  local opt, slack_seconds = parse("-c h -t 1 --iperf3 " .. path), iperf.slack_seconds
  local events, checks = {}, {}
  opt.seconds, iperf.slack_seconds = 0, 0.5
  iperf.run({
    phase = function() end, note = function() end, sample = function() end,
    event = function(_, kind, fields) events[kind] = fields end,
    check = function(_, id, ok, format, ...) checks[id] = not ok and format:format(...) end,
  }, opt)
  iperf.slack_seconds = slack_seconds
  lu.assertEquals(events.x_iperf_interval.bytes, 9)
  lu.assertEquals(checks["iperf.completed"], "run 1: it did not end within 0 s")
end

return suite
