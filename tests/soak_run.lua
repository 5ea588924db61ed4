-- SPDX-License-Identifier: MIT
--- What the tests of soak.lua share: a small soak on a place, its log in
--- another.

local cli_run = require("cli_run")
local disk = require("disk")
local lu = require("luaunit")
local process = require("storlua.process")

local soak_run = {}

local function argv(place, log, extra)
  local list = { "soak.lua", "--dir", place, "--output", log.path .. "/run",
    "--size", "4M", "--record", "256k", "--rewrite", "100" }
  for name, value in pairs(extra) do
    if type(name) == "string" then list[name] = value end
  end
  return table.move(extra, 1, #extra, #list + 1, list)
end

--- A folder for the log of a run; the run itself is `log.path .. "/run"`.
function soak_run.log()
  local log = disk.directory()
  log.run = log.path .. "/run"
  return log
end

--- Runs a soak to its end.
---@async
---@param place string directory to soak
---@param log table from soak_run.log
---@param extra table more arguments; also env, cwd, timeout
---@return table result of cli_run.run
function soak_run.run(place, log, extra)
  return cli_run.run(argv(place, log, extra))
end

--- Starts a soak.
---@return cli_run.Run
function soak_run.start(place, log, extra)
  return cli_run.start(argv(place, log, extra))
end

--- Everything that soak left in a place.
---@param place string
---@return string[]
function soak_run.leftovers(place)
  local names = {}
  for name in process.run { "ls", "-A", place }.stdout:gmatch("[^\n]+") do
    if name:find("storlua") then names[#names + 1] = name end
  end
  return names
end

--- The verdict, its status and exit code checked.
---@param log table
---@param result table of the program
---@param status string
---@param code integer
---@return table verdict event
function soak_run.verdict(log, result, status, code)
  local text = result.stdout .. "\n" .. result.stderr
  lu.assertEquals({ result.code, result.signal }, { code }, text)
  local verdict = cli_run.verdict(log.run)
  lu.assertEquals({ verdict.status, verdict.exit_code }, { status, code }, text)
  return verdict
end

--- Whether an event says that a pass has begun or was flushed.
---@param kind string
---@param generation integer
function soak_run.is(kind, generation)
  return function(event) return event.kind == kind and event.generation == generation end
end

return soak_run
