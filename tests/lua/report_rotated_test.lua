-- SPDX-License-Identifier: MIT
--- Reports of runs whose log was rotated or that were resumed: no failure is
--- left out, and a table says which part of the run it covers.

local cli_run = require("cli_run")
local lu = require("luaunit")
local procedure_run = require("procedure_run")
local report = require("storlua.report")

local test = {}

local BODY = [[
  if os.getenv("CASE_REFUSE") then
    require("storlua.errors").raise("REFUSED", "the device is in use")
  end
  if not t.resume then
    t:check("early.bad", false, "it was <bad>")
    t:check("early.good", true)
    t:measure("early.slow", { engine = "null", operation = "read", size_bytes = "1M",
                              record_bytes = "64k", limit_latency_seconds = 1e-9 })
  end
  for n in t:rounds { count = 1200 } do
    t:measure("null.read", NULL, { labels = { round = n } })
    if n == 1100 and os.getenv("CASE_WAIT") then
      t:note("wait", 1)
      task.sleep(60)
    end
  end ]]

local function texts_of(run_dir)
  local texts = {}
  for _, format in ipairs { "text", "csv", "junit", "json", "fio_json" } do
    local result = cli_run.run { "report", run_dir, "--to", format }
    texts[format], texts[format .. "_code"] = result.stdout, result.code
    texts[format .. "_errors"] = result.stderr
  end
  return texts
end

-- Measures that a reader of the log sees, and how many there were.
local function covered(run_dir)
  local seen, first = 0, nil
  for _, one in ipairs(cli_run.events(run_dir)) do
    first = first or one
    if one.kind == "measure" then seen = seen + 1 end
  end
  return seen, first.carried.measures + seen
end

local function check_rotated(run_dir, code)
  local texts = texts_of(run_dir)
  local seen, all = covered(run_dir)
  lu.assertTrue(seen < all)
  local covers = ("covers %d of %d measures: the log was rotated"):format(seen, all)
  lu.assertStrContains(texts.text, "\n  " .. covers .. "\n  measure ")
  lu.assertStrContains(texts.text, "\n  FAIL  early.bad: it was <bad>\n")
  lu.assertStrContains(texts.text, "\n  FAIL  early.slow: ")
  lu.assertStrContains(texts.text, "\n  checks passed: 1\n")
  for _, name in ipairs { "early.bad", "early.good", "early.slow", "null.read" } do
    lu.assertStrContains(texts.junit, ('name="%s"'):format(name))
  end
  lu.assertStrContains(texts.junit, '<failure message="it was &lt;bad&gt;"')
  lu.assertStrContains(texts.junit, covers)
  lu.assertStrContains(texts.csv, (",missing,%d earlier measures are not in this table: "
    .. "the log was rotated,"):format(all - seen))
  lu.assertStrContains(texts.csv, ",early.bad,,,fail,it was <bad>,")
  local _, rows = texts.csv:gsub("\r\n", "")
  lu.assertEquals(rows, seen + 4) -- its head, what is missing, two failures
  lu.assertStrContains(texts.json, "early.bad")
  lu.assertStrContains(texts.fio_json_errors, covers)
  for _, format in ipairs { "text", "csv", "junit", "json" } do
    lu.assertEquals({ texts[format .. "_code"], texts[format .. "_errors"] }, { code, "" })
  end
  return texts, all
end

function test.test_reports_of_a_rotated_log_name_what_it_dropped()
  local place <close> = procedure_run.place(BODY)
  local result = procedure_run.run(place, { "--log-limit", "1M" })
  lu.assertEquals(result.code, 1, result.stderr)
  -- who saw all of it tells all of it
  lu.assertNotStrContains(result.stdout, "covers")
  lu.assertNotNil(result.stdout:find("\n  null.read +read  1200 "), result.stdout)
  local texts, all = check_rotated(place.run_dir, 0)
  lu.assertEquals(all, 1201)
  lu.assertStrContains(texts.text, "case: FAILED\n  because  early.bad: it was <bad>\n")
end

local function kill_waiting(place, ...)
  local argv = { "--output", place.run_dir, ... }
  argv[#argv + 1], argv.env = place.script, { CASE_WAIT = "1" }
  local run <close> = cli_run.start(argv)
  run:wait_event(place.run_dir, function(one) return one.kind == "note" end, 60)
  run:signal("KILL")
  run:finish(10)
end

function test.test_a_rotated_run_that_was_killed_names_its_failures_and_goes_on()
  local place <close> = procedure_run.place(BODY)
  kill_waiting(place, "--log-limit", "1M")
  local texts, all = check_rotated(place.run_dir, 1)
  lu.assertEquals(all, 1101)
  lu.assertStrContains(texts.text, "case: INCOMPLETE")
  local seen = covered(place.run_dir)
  -- the table of the part that goes on: of what the log held, and its own
  local result = cli_run.run { "--resume", place.run_dir, "--log-limit", "1M",
                               "--report", "junit=" .. place.path .. "/junit.xml", place.script }
  lu.assertEquals(result.code, 1, result.stderr)
  lu.assertStrContains(result.stdout, ("covers %d of 1202 measures: the log was rotated"):format(
    seen + 101))
  lu.assertStrContains(result.stdout, "FAIL  early.bad: it was <bad>")
  check_rotated(place.run_dir, 0)
  lu.assertEquals(cli_run.verdict(place.run_dir).measures, 1202)
end

function test.test_a_resumed_run_shows_all_that_the_log_holds()
  local place <close> = procedure_run.place(BODY)
  kill_waiting(place)
  -- a resume that was refused tells of itself only
  local refused = cli_run.run { "--resume", place.run_dir, place.script,
                                env = { CASE_REFUSE = "1" } }
  lu.assertEquals(refused.code, 5)
  lu.assertStrContains(refused.stdout, "REFUSED\n  because  the device is in use\n")
  lu.assertNotStrContains(refused.stdout, "null.read")
  lu.assertNotStrContains(refused.stdout, "FAIL")
  local result = cli_run.run { "--resume", place.run_dir, place.script }
  lu.assertEquals(result.code, 1, result.stderr)
  lu.assertNotNil(result.stdout:find("\n  null.read +read  1201 "), result.stdout)
  lu.assertNotStrContains(result.stdout, "covers")
  local text = cli_run.run({ "report", place.run_dir }).stdout
  lu.assertStrContains(result.stdout, text:match("\n  measure.*"))
end

-- Formats that stream have only what they saw.
function test.test_rows_of_a_resume_say_what_is_missing()
  local place <close> = procedure_run.place(BODY)
  kill_waiting(place)
  local result = cli_run.run { "--resume", place.run_dir, "--report", "csv", place.script }
  lu.assertStrContains(result.stdout,
    ",missing,1101 earlier measures are not in this table: the run was resumed,")
  lu.assertStrContains(result.stdout, ",early.bad,,,fail,it was <bad>,")
  local _, rows = result.stdout:gsub("\r\n", "")
  lu.assertEquals(rows, 101 + 3 + 1)
end

-- The events of a log that a version without cases wrote, and one whose
-- failures were more than it kept.
function test.failures_are_named_as_far_as_the_log_does()
  local function text_of(carried)
    local out = {}
    local reporter = report.new("text", function(text) out[#out + 1] = text end, { run_dir = "r" })
    reporter:event { kind = "start", script = "s", continued = true, carried = carried,
                     t_boot_ns = 1, seq = 9 }
    reporter:event { kind = "check", case_id = "bad", ok = false, message = "again",
                     t_boot_ns = 2, seq = 10 }
    reporter:finish { bytes = 1 }
    return table.concat(out)
  end
  local failure = { kind = "check", case_id = "bad", message = "first" }
  local text = text_of { failures = { failure, failure }, failures_total = 5, measures = 7 }
  lu.assertStrContains(text, "covers 0 of 7 measures: the log was rotated\n")
  lu.assertStrContains(text, "FAIL  bad: first (3 times)\n")
  lu.assertStrContains(text, "FAIL  … and 3 failures that the log does not name any more\n")
  text = text_of { failures_total = 5, failed_cases = {
    { case_id = "bad", checks_failed = 4, measures_failed = 0, message = "first" },
    { case_id = "slow", checks_failed = 0, measures_failed = 1, message = "late" } } }
  lu.assertStrContains(text, "FAIL  bad: first (5 times)\n")
  lu.assertStrContains(text, "FAIL  slow: late\n")
  lu.assertNotStrContains(text, "does not name")
end

return test
