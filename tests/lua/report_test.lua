-- SPDX-License-Identifier: MIT
--- Reports of runs: whole, crashed, torn, empty; strict formats.

local cli_run = require("cli_run")
local event = require("storlua.event")
local live = require("storlua.report.live")
local lu = require("luaunit")
local process = require("storlua.process")
local procedure_run = require("procedure_run")
local report = require("storlua.report")
local task = require("storlua.task")

local test = {}

local BODY = [==[
  t:note("place", "lab \xff & <co> \"x\" ]]>")
  for n in t:rounds { count = 3 } do
    t:measure("null.read", NULL, { labels = { round = n, phase = "a,b" } })
    t:check("fine", true)
  end
  t:check("bad.one", os.getenv("CASE_FAIL") == nil, "=1+1 <tag> & \"quote\"\n\1second, line")
  t:sample("disk.celsius", 41.5, "C")
  if os.getenv("CASE_WAIT") then t:note("wait", 1) task.sleep(60) end ]==]

local function has(command)
  return process.try_run({ "sh", "-c", "command -v " .. command }).code == 0
end

local function reports_of(run_dir)
  local texts = {}
  for _, format in ipairs(report.formats) do
    local result = cli_run.run { "report", run_dir, "--to", format }
    texts[format], texts[format .. "_code"] = result.stdout, result.code
    -- what a number that is none looks like; the words may stand in names
    for _, bad in ipairs { "[^%a]nan[^%a]", "[^%a]inf[^%a]", "18446744", "%d[eE]%+%d" } do
      lu.assertNil(result.stdout:find(bad), format .. " contains " .. bad)
    end
    lu.assertNotNil(utf8.len(result.stdout), format .. " is not UTF-8")
  end
  return texts
end

-- A format of a kind of run that this is not is refused: an empty report would
-- look as if nothing had been measured.
local function check_codes(texts, code)
  local of_every_run = { text = true, json = true, csv = true, junit = true }
  for _, format in ipairs(report.formats) do
    lu.assertEquals(texts[format .. "_code"], of_every_run[format] and code or 2, format)
    if not of_every_run[format] then lu.assertEquals(texts[format], "", format) end
  end
end

local function check_strict(texts)
  for line in texts.json:gmatch("[^\n]+") do
    lu.assertNotNil(event.decode(line), line)
  end
  if has("jq") then
    local found = process.run { "jq", "-c", ".seq", stdin = texts.json }
    local _, lines = texts.json:gsub("\n", "")
    local _, numbers = found.stdout:gsub("%d+\n", "")
    lu.assertEquals(numbers, lines)
  end
  if has("xmllint") then process.run { "xmllint", "--noout", "-", stdin = texts.junit } end
  for line in texts.csv:gmatch("[^\n]+") do lu.assertEquals(line:sub(-1), "\r") end
end

function test.test_reports_of_a_run_that_failed()
  local place <close> = procedure_run.place(BODY, 'thresholds = { "null.read.mib_s p50 > 0" },')
  local junit = place.path .. "/junit.xml"
  local result = procedure_run.run(place, {
    "--report", "junit=" .. junit, "--report", "csv=" .. place.path .. "/out.csv",
    env = { CASE_FAIL = "1" },
  })
  lu.assertEquals(result.code, 1, result.stderr)
  lu.assertStrContains(result.stdout, "case: FAILED")
  lu.assertNil(result.stdout:find("[%z\1-\9\11-\31\127]"))
  local texts = reports_of(place.run_dir)
  check_strict(texts)
  check_codes(texts, 0)
  local file <close> = assert(io.open(junit))
  lu.assertEquals(file:read("a"), texts.junit)
  lu.assertStrContains(texts.junit, 'tests="5" failures="2" errors="0" skipped="0"')
  lu.assertStrContains(texts.junit, 'classname="storlua.case" name="bad.one"')
  lu.assertStrContains(texts.junit, "&lt;tag&gt; &amp; &quot;quote&quot;&#10;?second")
  local _, rows = texts.csv:gsub("\r\n", "")
  lu.assertEquals(rows, 4)
  lu.assertStrContains(texts.csv, '"phase=a,b"')
  lu.assertStrContains(texts.text, "because  bad.one: =1+1")
  lu.assertStrContains(texts.text, "MB/s")
end

function test.test_a_killed_run_is_incomplete_everywhere()
  local place <close> = procedure_run.place(BODY)
  local run <close> = cli_run.start { "--output", place.run_dir, place.script,
                                      env = { CASE_WAIT = "1" } }
  run:wait_event(place.run_dir, function(one)
    return one.kind == "note" and one.key == "wait"
  end)
  local alive = reports_of(place.run_dir)
  lu.assertEquals(alive.text_code, 1)
  run:signal("KILL")
  run:finish(10)
  local texts = reports_of(place.run_dir)
  check_strict(texts)
  check_codes(texts, 1)
  lu.assertStrContains(texts.text, "incomplete: no verdict (crashed or still running)")
  lu.assertStrContains(texts.junit, 'errors="1"')
  lu.assertStrContains(texts.junit, "<error message=\"incomplete: no verdict")
end

local function write(path, text)
  local file <close> = assert(io.open(path, "wb"))
  file:write(text)
end

function test.test_torn_empty_damaged_and_missing_logs()
  local place <close> = procedure_run.place(BODY)
  lu.assertEquals(procedure_run.run(place).code, 0)
  local path = place.run_dir .. "/events.jsonl"
  local file = assert(io.open(path, "rb"))
  local whole = file:read("a")
  file:close()
  -- cut anywhere in the last two lines: never a crash, never a pass
  local last_two = #whole - #whole:match("[^\n]*\n[^\n]*\n$")
  for cut = last_two, #whole - 2, 97 do
    write(path, whole:sub(1, cut))
    for _, format in ipairs { "text", "junit" } do
      local result = cli_run.run { "report", place.run_dir, "--to", format }
      lu.assertEquals(result.code, 1, result.stderr)
      lu.assertStrContains(result.stdout, "incomplete")
      lu.assertNotStrContains(result.stderr, "traceback")
    end
  end
  write(path, "")
  local result = cli_run.run { "report", place.run_dir, "--to", "text" }
  lu.assertEquals(result.code, 1)
  lu.assertStrContains(result.stdout, "events.jsonl is empty")
  write(path, '{"a":1}\nrubbish\n{"b":1}\n')
  result = cli_run.run { "report", place.run_dir }
  lu.assertEquals(result.code, 1)
  lu.assertStrContains(result.stderr, "line 2")
  os.remove(path)
  result = cli_run.run { "report", place.run_dir }
  lu.assertEquals(result.code, 2)
  lu.assertStrContains(result.stderr, "holds no run")
end

function test.test_unknown_formats_are_refused_before_anything_is_touched()
  local place <close> = procedure_run.place(BODY)
  local result = procedure_run.run(place, { "--report", "junitt=x.xml" })
  lu.assertEquals(result.code, 2)
  lu.assertStrContains(result.stderr, "text, json, csv, junit")
  lu.assertNil(io.open(place.run_dir))
  result = cli_run.run { "report", place.path, "--to", "text,html" }
  lu.assertEquals(result.code, 2)
  lu.assertStrContains(result.stderr, "text, json, csv, junit")
end

function test.test_json_streams_and_quiet_says_one_line()
  local place <close> = procedure_run.place(BODY)
  local result = procedure_run.run(place, { "--report", "json" })
  lu.assertEquals(result.code, 0, result.stderr)
  local file <close> = assert(io.open(place.run_dir .. "/events.jsonl"))
  lu.assertEquals(result.stdout, file:read("a"))
  result = procedure_run.run(place, { "--quiet", output = place.path .. "/2" })
  lu.assertEquals(result.stdout, "case: PASSED\n")
  local bad <close> = procedure_run.place([[t:check("a", false, "it is broken")]])
  result = procedure_run.run(bad, { "--quiet" })
  lu.assertEquals(result.stdout, "case: FAILED\n  because  a: it is broken\n")
end

function test.test_a_report_that_cannot_be_written_is_a_failure_that_loses_nothing()
  local place <close> = procedure_run.place([[os.remove("gone") t:check("a", true)]])
  process.run { "mkdir", place.path .. "/gone" }
  local result = procedure_run.run(place, { "--report", "junit=gone/x.xml" })
  lu.assertEquals(result.code, 1)
  lu.assertStrContains(result.stderr, "gone/x.xml")
  lu.assertEquals(cli_run.verdict(place.run_dir).status, "passed")
end

function test.test_stdout_closed_early_ends_quietly_with_a_verdict()
  local place <close> = procedure_run.place [[
    for n in t:rounds { seconds = 60 } do
      t:check("c" .. n, false, ("x"):rep(4000))
    end ]]
  local command = ("'%s' --output '%s' '%s' | head -1; echo \"${PIPESTATUS[0]}\""):format(
    cli_run.program, place.run_dir, place.script)
  local result = process.run { "bash", "-c", command, timeout = 30, merge_stderr = true }
  lu.assertEquals(result.stdout:match("\n(%d+)\n$"), "1", result.stdout)
  lu.assertNotStrContains(result.stdout, "traceback")
  lu.assertEquals(cli_run.verdict(place.run_dir).status, "failed")
end

-- A script that sets a locale with decimal commas changes no output.
function test.test_decimal_commas_do_not_get_into_the_outputs()
  local place <close> = procedure_run.place([[
    os.setlocale("de_DE.UTF-8")
    t:check("set", true)
    t:sample("x.y", 2.5)
    t:note("float", 1.25)
    t:measure("null", NULL) ]], 'thresholds = { "x.y max < 3.5", "null.mib_s p50 > 0.5" },')
  local built = process.try_run {
    "localedef", "-i", "de_DE", "-f", "UTF-8", place.path .. "/de_DE.UTF-8",
  }
  lu.skipIf(not built or built.code ~= 0, "localedef cannot make a German locale here")
  local result = procedure_run.run(place, {
    env = { LOCPATH = place.path, LC_ALL = "de_DE.UTF-8" },
  })
  lu.assertEquals(result.code, 0, result.stdout .. result.stderr)
  lu.assertNil(result.stdout:find("%d,%d"), result.stdout)
  local events = cli_run.events_of(place.run_dir, "note")
  lu.assertEquals(events[1].value, 1.25)
  check_strict(reports_of(place.run_dir))
  local summary <close> = assert(io.open(place.run_dir .. "/summary.json"))
  lu.assertStrContains(summary:read("a"), '"text":"x.y max < 3.5: 2.5"')
end

function test.test_a_round_is_a_line_and_a_flood_is_counted()
  local out = {}
  local saved = live.round_interval_ns
  live.round_interval_ns = 1 << 50
  local _ <close> = task.defer(function() live.round_interval_ns = saved end)
  local log = live.new { run_dir = "r", terminal = false,
                         write = function(text) out[#out + 1] = text end }
  local function round(n)
    log:event { kind = "round", phase = "begin", round = n, t_boot_ns = 1 }
    log:event { kind = "measure", case_id = "write", verdict = "pass", labels = { round = n },
                t_boot_ns = 1, result = { write = { mib_s = 10.0 } } }
    log:event { kind = "round", phase = "end", round = n, t_boot_ns = 2 }
  end
  for n = 1, live.rounds_at_once + 7 do round(n) end
  lu.assertEquals(#out, live.rounds_at_once)
  lu.assertStrContains(out[1], "round 1, ")
  lu.assertStrContains(out[#out], ("round %d, "):format(live.rounds_at_once))
  live.round_interval_ns = 0
  log.rounds_due_ns = 0
  round(100)
  lu.assertStrContains(out[#out], "round 100 (7 not told), ")
end

function test.test_the_live_line_is_for_terminals_only()
  local out = {}
  local function reporter(terminal)
    out = {}
    return live.new { run_dir = "r", terminal = terminal,
                      write = function(text) out[#out + 1] = text end }
  end
  local events = {
    { kind = "start", script = "s", summary = "x\27[31m", t_boot_ns = 1 },
    { kind = "round", phase = "begin", round = 3, deadline_ns = event.null, t_boot_ns = 1 },
    { kind = "verdict", status = "failed", reasons = { "why" }, t_boot_ns = 2 },
  }
  local plain = reporter(false)
  for _, one in ipairs(events) do plain:event(one) end
  plain:finish {}
  lu.assertNil(table.concat(out):find("[\r\27]"))
  local color = reporter(true)
  for _, one in ipairs(events) do color:event(one) end
  local scope <close> = task.scope()
  scope:spawn("display", color:display { phase = "write", done_bytes = 50, total_bytes = 100 })
  task.sleep(0.05)
  scope:cancel()
  scope:join()
  lu.assertStrContains(table.concat(out), "\rround 3  write  50 %")
  lu.assertNil(table.concat(out):find("left")) -- a null is no deadline
  color:finish {}
  lu.assertStrContains(out[#out], "FAILED")
  lu.assertEquals(out[#out]:find("\27[1;31m", 1, true) ~= nil,
    (os.getenv("NO_COLOR") or "") == "")
end

return test
