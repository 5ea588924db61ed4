-- SPDX-License-Identifier: MIT
--- Runs that differ for a known reason, compared as a user does it.

local cli_run = require("cli_run")
local disk = require("disk")
local dkjson = require("dkjson")
local lu = require("luaunit")
local process = require("storlua.process")
local throttle = require("throttle")

local suite = {}

local SCRIPT = [[
return require("storlua").procedure {
  summary = "Reads a device four times.",
  options = { { name = "path", type = "string" } },
  run = function(t, opt)
    -- a throttle lets a first burst through
    t:measure("burst", { path = opt.path, operation = "read", record_bytes = "64k",
                         direct = true })
    for round = 1, 4 do
      t:measure("read", { path = opt.path, operation = "read", record_bytes = "64k", direct = true,
                          limit_bytes = "2M" }, { labels = { round = round } })
    end
  end,
}
]]

function suite.test_a_slower_device()
  local loop <close> = disk.loop { size = "4M" }
  local place <close> = disk.directory()
  local script = place.path .. "/four.lua"
  do
    local file <close> = assert(io.open(script, "w"))
    file:write(SCRIPT)
  end
  for name, limit in pairs { a = 32 << 20, b = 4 << 20, c = 32 << 20 } do
    local group <close> = throttle.device(loop.device, limit)
    local argv = { cli_run.program, "--output", place.path .. "/" .. name, script, "--path",
                   loop.device }
    local result = process.try_run(group.wrap(argv))
    lu.assertEquals(result.code, 0, result.stdout .. result.stderr)
  end
  local function compare(...)
    return cli_run.run { "compare.lua", cwd = place.path, ... }
  end
  local slower = compare("a", "b")
  lu.assertEquals(slower.code, 0, slower.stderr)
  lu.assertStrContains(slower.stdout, "slower (p = 0.029)")
  lu.assertStrContains(slower.stdout, "Conditions: no difference is known")
  lu.assertEquals(compare("a", "b", "--fail-on", "slower").code, 1)
  lu.assertEquals(compare("b", "a", "--fail-on", "slower").code, 0)
  local three = compare("a", "b", "c", "--json")
  local result = assert(dkjson.decode(three.stdout), three.stdout)
  lu.assertEquals(result.cases[2].against_first[1].verdict, "slower")
  lu.assertEquals(#result.runs, 3)
end

function suite.test_usage()
  local place <close> = disk.directory()
  lu.assertEquals(cli_run.run({ "compare.lua", place.path }).code, 2)
  lu.assertEquals(cli_run.run({ "compare.lua", place.path, "/nonesuch" }).code, 2)
  lu.assertEquals(cli_run.run({ "compare.lua" }).code, 2)
  -- A damaged log is no error of the script.
  do
    local file <close> = assert(io.open(place.path .. "/events.jsonl", "w"))
    file:write('{"v":1,"seq\n{"v":1}\n')
  end
  local damaged = cli_run.run { "compare.lua", place.path, place.path }
  lu.assertEquals(damaged.code, 2, damaged.stderr)
  lu.assertStrContains(damaged.stderr, "events.jsonl, line 1: ")
  lu.assertNotStrContains(damaged.stderr, "traceback")
  lu.assertEquals(cli_run.run({ "compare.lua", "a", "b", "--metric", "speed" }).code, 2)
end

return suite
