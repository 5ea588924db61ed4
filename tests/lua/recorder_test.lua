-- SPDX-License-Identifier: MIT
--- The sums that a rotated log begins with: with the events after them they
--- give what the run had established, each thing once.

local disk = require("disk")
local event = require("storlua.event")
local event_log = require("storlua.event_log")
local lu = require("luaunit")
local metrics = require("storlua.metrics")
local reader = require("storlua.report.reader")
local recorder = require("storlua.run.recorder")
local resume = require("storlua.run.resume")
local threshold = require("storlua.threshold")

local test = {}

local LIMIT = 1 << 20
local FILLER = ("x"):rep(3000)

local function open_log(directory)
  local log = event_log.open { directory = directory, limit_bytes = LIMIT, resume = false }
  local r = recorder.new(log)
  log.head = function() return { continued = true, carried = r:carried() } end
  log:write("start", {})
  return r, log
end

-- A recorder that went on from what is in the log.
local function read_back(directory)
  local first, state
  local later = recorder.new { limit_bytes = LIMIT }
  state = reader.read(directory, function(fields)
    if not first then
      first = fields
      later:adopt(fields.carried)
    else
      resume.replay(later, fields)
    end
  end)
  lu.assertEquals(state.lost_events, 0)
  return later, first
end

local function judge(r, text)
  local rule = threshold.parse(text)
  return threshold.judge(rule, r.metrics, 1).ok and r:lost_reason(rule) == nil
end

-- Any event may be the one that begins a new file.
local function fill(r, rounds)
  local interval_ns = recorder.sample_interval_ns
  recorder.sample_interval_ns = 1000000
  for n = 1, rounds do
    r:check("check" .. n, n % 100 ~= 7, FILLER)
    r:measure { case_id = "null", spec = {}, labels = { round = n, text = FILLER },
                result = { read = { operations = 1, bytes = 512, mib_s = n == 2 and 5.5 or 50 } },
                verdict = n % 100 == 9 and "fail" or "pass", reason = "bad" }
    r:count("counted", FILLER, 2)
    r:sample("sampled." .. FILLER:sub(1, 1000), n, "C")
    r:kernel { class = "error", text = FILLER }
  end
  recorder.sample_interval_ns = interval_ns
  r:flush_samples()
end

function test.test_after_rotation_nothing_is_forgotten_or_counted_twice()
  for _, rounds in ipairs { 150, 151, 152, 153, 154, 260 } do
    local place <close> = disk.directory()
    local r, log = open_log(place.path)
    fill(r, rounds)
    log:close()
    local later, first = read_back(place.path)
    lu.assertTrue(first.continued)
    lu.assertEquals(later.totals, r.totals)
    lu.assertEquals(later.totals.measures, rounds)
    lu.assertEquals(later.failures_total, r.failures_total)
    lu.assertEquals(later.metrics.counters.counted.total, 2 * rounds)
    for name, metric in pairs(r.metrics.samples) do
      local again = later.metrics.samples[name]
      lu.assertEquals({ again.count, again.min, again.max, again.last, again.unit },
        { metric.count, metric.min, metric.max, metric.last, metric.unit })
      lu.assertAlmostEquals(again.mean, metric.mean, 1e-6)
    end
    lu.assertEquals(later.metrics:value("null.mib_s", "p50"), 50)
    lu.assertFalse(judge(later, "null.mib_s min >= 20"))
    lu.assertTrue(judge(later, "null.mib_s min >= 5"))
    for i, case in ipairs(r.failed_cases) do
      lu.assertEquals({ later.failed_cases[i].case_id, later.failed_cases[i].measures_failed },
        { case.case_id, case.measures_failed })
    end
  end
end

local function carried_over(r)
  local later = recorder.new(r.log)
  later:adopt(event.decode(event.encode { carried = r:carried() }).carried)
  return later
end

function test.what_a_log_has_no_room_for_is_lost_and_passes_nothing()
  local r = recorder.new { limit_bytes = LIMIT }
  for i = 1, 100 do
    for value = 1, metrics.kept_values + 1 do
      r.metrics:sample("m" .. i, value * 1.01 ^ (value % 900))
    end
  end
  local later = carried_over(carried_over(r))
  lu.assertTrue(judge(later, "m1 min > 0"))
  lu.assertTrue(judge(later, "m1 count == " .. metrics.kept_values + 1))
  lu.assertFalse(judge(later, "m1 p50 > 0"))
  lu.assertNil(later.metrics:summary().m1.p50)
  lu.assertStrContains(later:lost_reason(threshold.parse("m1 p50 > 0")), "percentiles")
  -- many names: some of them are left out, and stay lost
  for i = 101, metrics.names_max do r.metrics:sample("m" .. i, 1) end
  later = carried_over(r)
  local left_out
  for name in pairs(r.metrics.samples) do
    if not later.metrics:has(name) then left_out = name end
  end
  later.metrics:sample(left_out, 1)
  later.metrics:sample("new", 1)
  later = carried_over(later)
  local lost, kept = 0, 0
  for name in pairs(r.metrics.samples) do
    if judge(later, name .. " count >= 1") then kept = kept + 1 else lost = lost + 1 end
  end
  lu.assertTrue(lost > 100 and kept > 100, lost)
  lu.assertFalse(judge(later, left_out .. " count >= 1"))
  lu.assertFalse(judge(later, "new count >= 1"))
  local line = event.encode { carried = r:carried() }
  lu.assertTrue(#line < LIMIT // 2 - 100000, #line)
end

function test.few_values_keep_exact_percentiles()
  local r = recorder.new { limit_bytes = LIMIT }
  for value = 1, 500 do r.metrics:sample("few", value) end
  for value = 1, 5000 do r.metrics:sample("many", 1000 + value % 100) end
  local later = carried_over(r)
  lu.assertEquals(later.metrics:value("few", "p90"), 450)
  lu.assertAlmostEquals(later.metrics:value("many", "p50") / 1050, 1, 0.01)
  later.metrics:sample("many", 7)
  lu.assertEquals(later.metrics:value("many", "min"), 7)
  r:carried()
  r.lost["few"] = "a sensor hung"
  lu.assertFalse(judge(carried_over(r), "few p90 == 450"))
end

-- Logs of a version that carried no metrics.
function test.a_log_without_metrics_passes_no_rule_about_them()
  local later = recorder.new { limit_bytes = LIMIT }
  later:adopt { counters = { ["kernel.errors"] = 0 }, checks = 1 }
  later.metrics:sample("x", 50)
  lu.assertFalse(judge(later, "x min >= 20"))
  lu.assertTrue(judge(later, "kernel.errors count == 0"))
end

return test
