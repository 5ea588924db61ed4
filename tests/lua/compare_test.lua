-- SPDX-License-Identifier: MIT
--- Comparisons of runs whose values are known.

local compare = require("storlua.compare")
local compare_run = require("storlua.compare.run")
local compare_table = require("storlua.compare.table")
local disk = require("disk")
local errors = require("storlua.errors")
local event = require("storlua.event")
local lu = require("luaunit")
local process = require("storlua.process")

local suite = {}

local OPTIONS = { metric = "rate", alpha = 0.05, min_percent = 2 }

local function latency(ns)
  return { count = 1, p50_ns = ns, p99_ns = ns, p999_ns = ns, max_ns = ns }
end

-- A measure of one MiB in one operation of so many milliseconds.
local function measure(id, ms, more)
  more = more or {}
  local tally = { operations = 1, bytes = 1 << 20, io_ns = ms * 1000000, latency = latency(ms) }
  local operation = more.operation or "read"
  return { kind = "measure", case_id = id, labels = more.labels, verdict = more.verdict or "pass",
           spec = { operation = operation, record_bytes = more.record_bytes or 4096,
                    seed = math.random(1 << 30), direct = true },
           result = { [operation] = tally, flush = more.flush or event.null } }
end

local function write_run(path, conditions, measures, continued)
  process.run { "mkdir", path }
  local events = { { kind = "start", script = "x", version = "1", wall = "2026", options = {},
                     conditions = conditions, continued = continued and true,
                     carried = continued } }
  table.move(measures, 1, #measures, 2, events)
  events[#events + 1] = { kind = "verdict", status = "passed" }
  local file = assert(io.open(path .. "/events.jsonl", "w"))
  for i, fields in ipairs(events) do
    fields.v, fields.seq = 1, i
    assert(file:write(event.encode(fields), "\n"))
  end
  file:close()
  return compare_run.read(path)
end

local function several(id, list, more)
  local measures = {}
  for i, ms in ipairs(list) do measures[i] = measure(id, ms, more) end
  return measures
end

local function verdicts(result)
  local found = {}
  for _, case in ipairs(result.cases) do found[case.case_id] = case.against_first[1].verdict end
  return found
end

local function joined(...)
  local all = {}
  for _, list in ipairs { ... } do table.move(list, 1, #list, #all + 1, all) end
  return all
end

function suite.test_verdicts()
  local place <close> = disk.directory()
  local a = write_run(place.path .. "/a", { kernel = "6.1", boot_id = "1" }, joined(
    several("fast", { 20, 21, 20.5, 20.2 }), several("slow", { 10, 10.1, 10.2, 10.3 }),
    several("same", { 10, 11, 12, 13 }), several("few", { 10, 11 }),
    several("other", { 10, 11, 12 }), several("gone", { 10, 10, 10 })))
  local b = write_run(place.path .. "/b", { kernel = "6.6", boot_id = "2" }, joined(
    several("fast", { 10, 10.1, 10.2, 10.3 }), several("slow", { 20, 21, 20.5, 20.2 }),
    several("same", { 10.5, 11.5, 12.5, 9.5 }), several("few", { 20, 21, 22 }),
    several("other", { 10, 11, 12 }, { record_bytes = 8192 })))
  local result = compare.runs({ a, b }, OPTIONS)
  lu.assertEquals(verdicts(result), {
    fast = "faster", slow = "slower", same = compare.SAME, few = "not judged",
    other = "another test", gone = "missing" })
  lu.assertAlmostEquals(result.cases[1].against_first[1].change_percent, 100.49, 0.1)
  lu.assertEquals(result.conditions, { { name = "kernel", values = { "6.1", "6.6" } } })
  local text = table.concat(compare_table.lines(result), "\n")
  for _, wanted in ipairs { "kernel  A: 6.1  B: 6.6", "2 and 3 values: at least 3 on each side",
    "1 faster, 1 slower, 1 no difference beyond noise, 1 not judged, 1 missing, 1 another test",
    "record_bytes 4096, 8192" } do
    lu.assertStrContains(text, wanted)
  end
  lu.assertEquals(compare.exit_code(result, {}), 0)
  lu.assertEquals(compare.exit_code(result, { "slower" }), 1)
  lu.assertEquals(compare.exit_code(result, { "missing" }), 1)
  -- The other way round, and for a latency, where less is better.
  lu.assertEquals(verdicts(compare.runs({ b, a }, OPTIONS)).fast, "slower")
  lu.assertEquals(verdicts(compare.runs({ a, b }, { metric = "p99", alpha = 0.05,
    min_percent = 2 })).fast, "faster")
  lu.assertEquals(event.decode(event.encode(result)).counts.faster, 1)
end

function suite.test_nothing_judged_does_not_pass()
  local place <close> = disk.directory()
  local a = write_run(place.path .. "/a", {}, several("x", { 10 }))
  local result = compare.runs({ a, a }, OPTIONS)
  local code, why = compare.exit_code(result, { "slower" })
  lu.assertEquals(code, 1)
  lu.assertStrContains(why, "no case could be judged")
end

function suite.test_a_drop_of_three_runs_against_four()
  local place <close> = disk.directory()
  local a = write_run(place.path .. "/a", {}, several("x", { 10, 10.1, 10.2 }))
  local b = write_run(place.path .. "/b", {}, several("x", { 100, 101, 102, 103 }))
  local result = compare.runs({ a, b }, OPTIONS)
  lu.assertEquals(verdicts(result), { x = "slower" })
  lu.assertEquals(compare.exit_code(result, { "slower" }), 1)
  lu.assertStrContains(table.concat(compare_table.lines(result), "\n"),
    "too few values for that: no overlap")
  local strict = compare.runs({ a, b }, { metric = "rate", alpha = 0.001, min_percent = 2 })
  lu.assertEquals(compare.exit_code(strict, { "slower" }), 1)
  lu.assertStrContains(table.concat(compare_table.lines(strict), "\n"), "both sides, at 0.001;")
end

-- What rotation has dropped is not missing from the run.
function suite.test_a_rotated_log_says_what_it_covers()
  local place <close> = disk.directory()
  local a = write_run(place.path .. "/a", {}, joined(several("x", { 10, 10, 10 }),
    several("early", { 10, 10, 10 })))
  local b = write_run(place.path .. "/b", {}, several("x", { 10, 10, 10 }),
    { measures = 7, kernel_errors = 2 })
  local result = compare.runs({ a, b }, OPTIONS)
  local covers = "covers 3 of 10 measures: the log was rotated"
  lu.assertEquals(result.runs[2].coverage, covers)
  lu.assertEquals(result.runs[2].wall, event.null)
  lu.assertEquals(result.runs[2].kernel_errors, 2)
  lu.assertEquals(result.cases[2].against_first[1].reason, "not in this run, which " .. covers)
  local text = table.concat(compare_table.lines(result), "\n")
  lu.assertStrContains(text, "\n  B " .. covers .. "\n")
  lu.assertNotStrContains(text, "\n  A covers")
  -- Of samples nobody counted how many there were.
  local c = write_run(place.path .. "/c", {}, { { kind = "sample", metric = "m", mean = 1 } },
    { measures = 0 })
  lu.assertStrContains(c.coverage, "the log was rotated")
end

-- A run in which a case has only failed must not pass --fail-on missing.
function suite.test_a_case_that_never_passed_is_missing()
  local place <close> = disk.directory()
  local a = write_run(place.path .. "/a", {}, joined(several("x", { 10, 10, 10 }),
    several("y", { 10, 10, 10 })))
  local b = write_run(place.path .. "/b", {}, joined(several("x", { 10, 10, 10 }),
    several("y", { 10 }, { verdict = "fail" })))
  for _, pair in ipairs { { a, b, "this" }, { b, a, "the first" } } do
    local result = compare.runs({ pair[1], pair[2] }, OPTIONS)
    lu.assertEquals(verdicts(result), { x = compare.SAME, y = "missing" })
    lu.assertEquals(result.cases[2].against_first[1].reason, "none of it passed in " .. pair[3]
      .. " run")
    lu.assertEquals(compare.exit_code(result, { "missing" }), 1)
  end
end

function suite.test_other_draws_are_another_test()
  local place <close> = disk.directory()
  local function run(name, field, value)
    local measures = several("x", { 10, 10, 10 })
    for _, one in ipairs(measures) do
      one.spec.distribution = "uniform"
      one.spec[field] = value
    end
    return write_run(place.path .. "/" .. name, {}, measures)
  end
  local base = run("a", "distribution", "uniform")
  local zipf = run("b", "distribution", "zipf")
  lu.assertEquals(verdicts(compare.runs({ base, zipf }, OPTIONS)), { x = "another test" })
  local none, zero = run("e", "think_seconds", 0), run("f", "think_seconds", 0.0)
  lu.assertEquals(verdicts(compare.runs({ none, zero }, OPTIONS)), { x = compare.SAME })
  local function mix(name, percent)
    return run(name, "size_mix", event.list { { record_bytes = 4096, percent = percent } })
  end
  local half, most = mix("c", 50), mix("d", 90)
  lu.assertEquals(verdicts(compare.runs({ half, most }, OPTIONS)), { x = "another test" })
  lu.assertEquals(verdicts(compare.runs({ half, half }, OPTIONS)), { x = compare.SAME })
end

-- Reads that a cache answered are faster for a reason.
function suite.test_notes_of_the_measures_are_conditions()
  local place <close> = disk.directory()
  local cold, cached = several("x", { 10, 10, 10 }), several("x", { 1, 1, 1 })
  cached[2].result.notes = { "cached" }
  local a, b = write_run(place.path .. "/a", {}, cold), write_run(place.path .. "/b", {}, cached)
  lu.assertEquals(compare.runs({ a, b }, OPTIONS).conditions,
    { { name = "notes", values = { "none", "cached" } } })
  lu.assertStrContains(table.concat(compare_table.lines(compare.runs({ a, b }, OPTIONS)), "\n"),
    "notes  A: none  B: cached")
end

function suite.test_memory()
  local place <close> = disk.directory()
  local function run(name, mb_s, ns)
    return write_run(place.path .. "/" .. name, {}, {
      { kind = "memory", case_id = "copy", verdict = "pass", spec = { threads = 1 },
        result = { mb_s = mb_s } },
      { kind = "memory", case_id = "ladder", verdict = "pass", spec = {}, result = { ns = ns } },
    })
  end
  local a, b = run("a", 1048.576, 1.75), run("b", 2097.152, 3.5)
  local result = compare.runs({ a, b }, OPTIONS)
  lu.assertEquals({ result.cases[1].sides[1].median, result.cases[1].sides[2].median },
    { 1000, 2000 })
  lu.assertEquals(result.cases[1].against_first[1].change_percent, 100)
  local text = table.concat(compare_table.lines(compare.runs({ a, b }, { metric = "p50",
    alpha = 0.05, min_percent = 2 })), "\n")
  lu.assertStrContains(text, "1.75 ns")
end

function suite.test_the_flush_counts()
  local place <close> = disk.directory()
  local flush = { ns = 30000000 }
  local a = write_run(place.path .. "/a", {}, several("w", { 10 },
    { operation = "write", flush = flush }))
  lu.assertAlmostEquals(a.cases[a.keys[1]].values.rate[1], 25, 1e-9)
end

function suite.test_three_runs_labels_and_failures()
  local place <close> = disk.directory()
  local function labelled(size, ms)
    return { measure("x", ms, { labels = { size = size, round = 1 } }),
             measure("x", ms, { labels = { size = size, round = 2 } }) }
  end
  local a = write_run(place.path .. "/a", { temperature_celsius = 40.0 },
    joined(labelled(1, 10), labelled(2, 20), { measure("x", 5, { verdict = "fail" }) }))
  local b = write_run(place.path .. "/b", { temperature_celsius = 43.0 }, labelled(1, 11))
  local c = write_run(place.path .. "/c", { temperature_celsius = 60.0 }, labelled(1, 12))
  local result = compare.runs({ a, b, c }, OPTIONS)
  lu.assertEquals(result.cases[1].sides[1].count, 2)
  lu.assertEquals(#result.cases[1].against_first, 2)
  lu.assertEquals(#compare.runs({ a, b }, OPTIONS).conditions, 0)
  lu.assertEquals(result.conditions[1].name, "temperature_celsius")
  local text = table.concat(compare_table.lines(result), "\n")
  lu.assertStrContains(text, "x size=1")
  lu.assertStrContains(text, "1 measures that did not pass are left out")
end

function suite.test_samples_are_shown_not_judged()
  local place <close> = disk.directory()
  local function sample(mean)
    return { kind = "sample", metric = "net.mbit_s", unit = "Mbit/s", mean = mean }
  end
  local a = write_run(place.path .. "/a", {}, { sample(10), sample(20), sample(30) })
  local result = compare.runs({ a, a }, OPTIONS)
  lu.assertEquals(result.samples[1].medians, { 20, 20 })
  lu.assertStrContains(table.concat(compare_table.lines(result), "\n"), "not independent")
end

function suite.test_what_is_no_run()
  local place <close> = disk.directory()
  for _, make in ipairs { function() end, function(path)
    assert(io.open(path .. "/events.jsonl", "w")):close()
  end } do
    make(place.path)
    local run, err = errors.try(compare_run.read, place.path)
    lu.assertNil(run)
    lu.assertEquals(err.code, "USAGE")
  end
end

return suite
