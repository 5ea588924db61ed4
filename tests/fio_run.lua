-- SPDX-License-Identifier: MIT
--- Runs storlua fio.lua as a user does, in a directory of the test.

local cli_run = require("cli_run")
local lu = require("luaunit")

local fio_run = {}

local number = 0
function fio_run.fio(place, words, first)
  number = number + 1
  local argv = { cwd = place.path, "--output", place.path .. "/run" .. number }
  table.move(first or {}, 1, #(first or {}), #argv + 1, argv)
  argv[#argv + 1] = "fio.lua"
  table.move(words, 1, #words, #argv + 1, argv)
  local result = cli_run.run(argv)
  result.run = place.path .. "/run" .. number
  return result
end

local function measures(result)
  local by_id = {}
  for _, event in ipairs(cli_run.events_of(result.run, "measure")) do
    by_id[event.case_id] = event
  end
  return by_id
end

function fio_run.assert_passed(result)
  lu.assertEquals(result.code, 0, result.stdout .. result.stderr)
  return measures(result)
end

return fio_run
