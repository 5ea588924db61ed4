-- SPDX-License-Identifier: MIT
--- Where reports are written and what they are read from: nothing of a run is
--- destroyed, and what cannot be done is said before it begins.

local cli_run = require("cli_run")
local lu = require("luaunit")
local process = require("storlua.process")
local procedure_run = require("procedure_run")

local test = {}

function test.test_a_report_that_could_not_be_written_is_refused_at_the_start()
  local place <close> = procedure_run.place([[t:check("a", true)]])
  for _, file in ipairs { "/nonexistent/x.xml", ".", "case.lua/x.xml" } do
    local result = procedure_run.run(place, { "--report", "junit=" .. file })
    lu.assertEquals(result.code, 2, file)
    lu.assertStrContains(result.stderr, "a report cannot be written: ")
    lu.assertNil(io.open(place.run_dir))
  end
  local inside = place.run_dir .. "/x.xml" -- in a folder that only the run makes
  lu.assertEquals(procedure_run.run(place, { "--report", "junit=" .. inside }).code, 0)
  lu.assertNotNil(io.open(inside))
end

function test.test_a_report_destroys_neither_a_run_nor_another_report()
  local place <close> = procedure_run.place([[t:check("a", true)]])
  local log = place.run_dir .. "/events.jsonl"
  local result = procedure_run.run(place, { "--report", "csv=" .. log })
  lu.assertEquals(result.code, 2)
  lu.assertStrContains(result.stderr, "is a file of the run itself")
  result = procedure_run.run(place, { "--report", "csv=x", "--report", "junit=x" })
  lu.assertEquals(result.code, 2)
  lu.assertStrContains(result.stderr, "csv and junit both write to x")
  lu.assertEquals(procedure_run.run(place).code, 0)
  result = cli_run.run { "report", place.run_dir, "--to", "csv", "--output", log }
  lu.assertEquals(result.code, 2)
  lu.assertEquals(cli_run.run({ "report", place.run_dir }).code, 0)
end

function test.test_a_run_that_goes_on_is_told_as_such()
  local place <close> = procedure_run.place([[t:check("a", true) task.sleep(60)]])
  local run <close> = cli_run.start { "--output", place.run_dir, place.script }
  run:wait_line("events in")
  local text = cli_run.run({ "report", place.run_dir }).stdout
  lu.assertStrMatches(text, ".*incomplete: still running %(process %d+%)\n.*")
end

function test.test_logs_of_a_newer_version_and_what_is_no_folder_are_refused()
  local place <close> = procedure_run.place([[t:check("a", true)]])
  lu.assertEquals(procedure_run.run(place).code, 0)
  local log = place.run_dir .. "/events.jsonl"
  local result = cli_run.run { "report", log }
  lu.assertEquals(result.code, 2)
  lu.assertStrContains(result.stderr, "the folder of a run")
  process.run { "sed", "-i", 's/"v":1/"v":2/', log }
  result = cli_run.run { "report", place.run_dir }
  lu.assertEquals(result.code, 1)
  lu.assertEquals(result.stdout, "")
  lu.assertStrContains(result.stderr, "of a newer storlua")
end

return test
