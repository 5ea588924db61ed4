-- SPDX-License-Identifier: MIT
--- Where the words and the log go: a reader that leaves, a full or slow log,
--- a foreign locale, logs that a crash tore.

local cli_run = require("cli_run")
local disk = require("disk")
local lu = require("luaunit")
local process = require("storlua.process")
local soak_run = require("soak_run")

local suite = {}

function suite.test_reader_gone_after_one_line()
  local place <close> = disk.directory()
  local log <close> = soak_run.log()
  local result = process.try_run { "bash", "-c",
    "\"$@\" --rounds 3 --size 4M --pause 0.1 | head -n 1; echo ${PIPESTATUS[0]}", "bash",
    cli_run.program, "soak.lua", "--dir", place.path, "--output", log.run, timeout = 60 }
  lu.assertNotEquals(result.stdout:match("(%d+)\n$"), "0")
  lu.assertNotStrContains(result.stderr, "traceback")
  lu.assertEquals(soak_run.leftovers(place.path), {})
  cli_run.verdict(log.run)
end

function suite.test_not_a_terminal_gets_plain_lines()
  local place <close> = disk.directory()
  local log <close> = soak_run.log()
  local result = soak_run.run(place.path, log, { "--rounds", "1" })
  soak_run.verdict(log, result, "passed", 0)
  lu.assertNil((result.stdout .. result.stderr):find("[%z\1-\8\11-\31\127]"))
end

function suite.test_decimal_commas()
  local place <close> = disk.directory()
  local log <close> = soak_run.log()
  local locales <close> = disk.directory()
  process.run { "localedef", "-i", "de_DE", "-f", "UTF-8", locales.path .. "/de_DE.UTF-8" }
  local environment = { LOCPATH = locales.path, LC_ALL = "de_DE.UTF-8" }
  lu.assertEquals(process.run { "locale", "decimal_point", env = environment }.stdout, ",\n")
  local result = soak_run.run(place.path, log, { "--rounds", "1", env = environment })
  soak_run.verdict(log, result, "passed", 0)
  lu.assertNil(result.stdout:find("%d,%d"), result.stdout)
  process.run { "jq", "-e", ".", log.run .. "/events.jsonl", log.run .. "/summary.json" }
  -- Also when the script itself switches the locale.
  local script = locales.path .. "/locale.lua"
  local file <close> = assert(io.open(script, "w"))
  assert(file:write("os.setlocale('')\nprint(1.5, ('%.1f'):format(2.5))\n"))
  file:close()
  local printed = cli_run.run { script, env = environment }
  lu.assertEquals(printed.stdout, "1.5\t2.5\n", printed.stderr)
end

function suite.test_no_number_with_an_exponent()
  local place <close> = disk.directory()
  local log <close> = soak_run.log()
  soak_run.verdict(log, soak_run.run(place.path, log, { "--rounds", "1" }), "passed", 0)
  local file <close> = assert(io.open(log.run .. "/events.jsonl"))
  for line in file:lines() do
    lu.assertNil(line:find("[:,%[]%-?%d+%.?%d*[eE][+-]?%d"), line)
    for _, word in ipairs { "nan", "inf", "18446744", "922337203685" } do
      lu.assertNil(line:find("[:,%[]%-?" .. word), line)
    end
  end
end

function suite.test_log_on_a_full_file_system()
  local place <close> = disk.directory()
  local log <close> = disk.file_system("tmpfs", { size = "2M" })
  log.run = log.path .. "/run"
  local run <close> = soak_run.start(place.path, log, { "--time", "20", "--rate", "4M" })
  run:wait_event(log.run, soak_run.is("writing", 1), 10)
  process.try_run { "dd", "status=none", "if=/dev/zero", "of=" .. log.path .. "/other" }
  local result = run:finish(30)
  lu.assertEquals(result.code, 1, result.stdout .. result.stderr)
  lu.assertStrMatches(result.stderr, ".*ENOSPC.*")
  lu.assertEquals(soak_run.leftovers(place.path), {})
end

function suite.test_log_stays_below_its_cap()
  local log <close> = soak_run.log()
  local result = cli_run.run { "soak.lua", "--engine", "null", "--size", "64k", "--record", "64k",
    "--rounds", "400", "--output", log.run, "--log-limit", "1M", timeout = 200 }
  lu.assertEquals(result.code, 4, result.stderr)
  local bytes = 0
  for size in process.run { "sh", "-c", "stat -c %s \"$1\"/*", "sh", log.run }.stdout
    :gmatch("%d+") do
    bytes = bytes + math.tointeger(size)
  end
  lu.assertTrue(bytes <= 1100000, bytes)
  lu.assertEquals(cli_run.verdict(log.run).rounds, 400)
end

function suite.test_log_on_the_slow_medium()
  local place <close> = disk.fault()
  local log = { path = place.path, run = place.path .. "/run" }
  place:tell("slow fsync 100")
  local result = soak_run.run(place.path, log, { "--rounds", "1", timeout = 120 })
  soak_run.verdict(log, result, "passed", 0)
end

function suite.test_torn_and_empty_logs()
  local place <close> = disk.directory()
  local log <close> = soak_run.log()
  soak_run.verdict(log, soak_run.run(place.path, log, { "--rounds", "1" }), "passed", 0)
  local events = log.run .. "/events.jsonl"
  process.run { "truncate", "-s", "-20", events }
  local torn = cli_run.run { "report", log.run, "--to", "text" }
  lu.assertEquals(torn.code, 1, torn.stderr) -- its verdict is what was torn
  lu.assertStrContains(torn.stdout, "INCOMPLETE")
  process.run { "truncate", "-s", "0", events }
  process.run { "rm", "-f", log.run .. "/summary.json" }
  for _, argv in ipairs { { "report", log.run, "--to", "text" },
    { "soak.lua", "--resume", log.run } } do
    local result = cli_run.run(argv)
    lu.assertNotEquals(result.code, 0)
    lu.assertNotStrContains(result.stdout .. result.stderr, "traceback")
  end
end

return suite
