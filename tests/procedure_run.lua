-- SPDX-License-Identifier: MIT
--- Runs small procedures as a user would, for tests of runs and reports.

local cli_run = require("cli_run")
local disk = require("disk")
local lu = require("luaunit")

local procedure_run = {}

local HEAD = [[
local storlua = require("storlua")
local task = require("storlua.task")
local NULL = { engine = "null", operation = "read", size_bytes = "1M", record_bytes = "64k" }
return storlua.procedure { summary = "A procedure of a test.", %s
  run = function(t, opt)
%s
  end,
}
]]

--- Writes a procedure whose run is `body`; NULL is a workload on nothing.
---@param path string
---@param body string
---@param fields? string more fields of the procedure
function procedure_run.write(path, body, fields)
  local file <close> = assert(io.open(path, "w"))
  assert(file:write(HEAD:format(fields or "", body)))
end

--- A place with a script in it, and how to run it. Declare it with <close>.
---@param body string
---@param fields? string
---@return table {path, script, run_dir}
function procedure_run.place(body, fields)
  local place = disk.directory()
  place.script = place.path .. "/case.lua"
  place.run_dir = place.path .. "/run"
  procedure_run.write(place.script, body, fields)
  return place
end

--- Runs the procedure of a place to its end.
---@async
---@param place table
---@param more? table further arguments; env, timeout, output
---@return table {code, signal, stdout, stderr}
function procedure_run.run(place, more)
  more = more or {}
  local argv = { "--output", more.output or place.run_dir, cwd = place.path,
                 env = more.env, timeout = more.timeout }
  if more.output == false then argv = { cwd = place.path, env = more.env } end
  table.move(more, 1, #more, #argv + 1, argv)
  argv[#argv + 1] = place.script
  return cli_run.run(argv)
end

--- Runs a body and checks how it ends; returns its verdict and what it said.
---@async
---@return table verdict
---@return table result
function procedure_run.expect(status, code, body, fields)
  local place <close> = procedure_run.place(body, fields)
  local result = procedure_run.run(place)
  local said = result.stdout .. result.stderr
  lu.assertEquals(result.code, code, said)
  local verdict = cli_run.verdict(place.run_dir)
  lu.assertEquals(verdict.status, status, said)
  lu.assertEquals(verdict.exit_code, code)
  result.events = cli_run.events(place.run_dir)
  for i, one in ipairs(result.events) do lu.assertEquals(one.seq, i) end
  local summary <close> = assert(io.open(place.run_dir .. "/summary.json"))
  lu.assertStrContains(summary:read("a"), ('"status":"%s"'):format(status))
  return verdict, result
end

return procedure_run
