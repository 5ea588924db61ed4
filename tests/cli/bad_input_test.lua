-- SPDX-License-Identifier: MIT
--- Bad input that a script finds only while it runs: exit code 2, a message,
--- and nothing is left, neither of the run nor of its results.

local cli_run = require("cli_run")
local disk = require("disk")
local fs = require("storlua.fs")
local lu = require("luaunit")
local procedure_run = require("procedure_run")
local task = require("storlua.task")

local suite = {}

-- Everything below a folder.
local function tree(path)
  local found = {}
  for _, name in ipairs(fs.list(path)) do
    local at = path .. "/" .. name
    found[#found + 1] = at
    local below = fs.lstat(at).is_directory and tree(at) or {}
    table.move(below, 1, #below, #found + 1, found)
  end
  return found
end

local function refused(place, argv, text)
  argv.cwd = place.path
  local before = tree(place.path)
  local result = cli_run.run(argv)
  local said = result.stdout .. result.stderr
  lu.assertEquals(result.code, 2, table.concat(argv, " ") .. "\n" .. said)
  lu.assertStrContains(said, text)
  lu.assertNotStrContains(said, "stack traceback")
  lu.assertNotStrContains(result.stdout, "  events: ")
  lu.assertEquals(tree(place.path), before, table.concat(argv, " "))
end

local CASES = {
  { "is smaller than one record", "soak.lua", "--size", "64k", "--record", "1M" },
  { "has room for", "soak.lua", "--size", "1E" },
  { "--memory: 1 PiB are asked for", "soak.lua", "--size", "1M", "--memory", "1P" },
  { "more than one of --hours", "soak.lua", "--minutes", "1", "--hours", "1" },
  { "not even one pass", "soak.lua", "--size", "1M", "--write-limit", "4k" },
  { "--dir: . and . are one directory", "soak.lua", "--size", "1M", "--dir", ".", "--dir", "." },
  { "--dir: '' must not be empty", "soak.lua", "--size", "1M", "--dir", "" },
  { "--output: '': must not be empty", "soak.lua", "--size", "1M", "--output", "" },
  { "--resume: '': must not be empty", "soak.lua", "--resume", "" },
  { "--board: '': must not be empty", "soak.lua", "--board", "" },
  { "--options: '': must not be empty", "soak.lua", "--options", "" },
  { "--output: '': must not be empty", "--output", "", "dd.lua", "if=/dev/zero", "of=x" },
  { "--script-dir: '': must not be empty", "list", "--script-dir", "" },
  { "run: '': must not be empty", "report", "" },
  { "--target: '': must not be empty", "rawblock.lua", "--target", "" },
  { "less than one record", "rawblock.lua", "--target", "f", "--size", "1M", "--record", "3M" },
  { "nothing to read", "rawblock.lua", "--target", "none", "--read-only" },
  { "no such file or directory", "iozone.lua", "-a", "-f", "none/x" },
  { "--size: read has", "membw.lua", "--size", "1P" },
  { "--threads: 4000", "membw.lua", "--threads", "4000" },
  { "--memory: 1 PiB are asked for", "memtest.lua", "--memory", "1P" },
  { "must be at least 1M", "ramfs.lua", "--size", "1k" },
  { "nowhere", "fio.lua", "--name=a", "--rw=read", "--size=1m", "--filename=nowhere/x" },
  { "nofile", "dd.lua", "if=nofile", "of=/dev/null" },
}

function suite.test_nothing_is_left()
  for _, case in ipairs(CASES) do
    local place <close> = disk.directory()
    refused(place, { table.unpack(case, 2) }, case[1])
  end
end

-- Folders that were there stay, and so do the results of others.
function suite.test_only_what_was_made_is_removed()
  local place <close> = disk.directory()
  local bad = { "soak.lua", "--size", "64k", "--record", "1M" }
  fs.mkdirs(place.path .. "/there")
  refused(place, { "--output", "there", table.unpack(bad) }, "smaller than one record")
  refused(place, { "--output", "there/a/b/", table.unpack(bad) }, "smaller than one record")
  fs.mkdirs(place.path .. "/results/soak-1")
  fs.write_atomic(place.path .. "/results/soak-1/precious", "x")
  refused(place, bad, "smaller than one record")
  fs.write_atomic(place.path .. "/there/precious", "x")
  refused(place, { "--output", "there", table.unpack(bad) }, "not empty")
  refused(place, { "--report", "junit=r.xml", table.unpack(bad) }, "smaller than one record")
end

-- Beside each other in one folder: one that comes to nothing takes away what
-- it made, and the others find their place all the same.
function suite.test_runs_that_come_and_go_beside_others()
  local place <close> = procedure_run.place 't:check("a", true)'
  local scope <close> = task.scope()
  local codes = {}
  for i = 1, 8 do
    scope:spawn("run", function()
      local argv = i % 2 == 0 and { place.script }
        or { "soak.lua", "--size", "64k", "--record", "1M" }
      argv.cwd = place.path
      codes[i] = cli_run.run(argv).code
    end)
  end
  scope:join()
  lu.assertEquals(codes, { 2, 0, 2, 0, 2, 0, 2, 0 })
  lu.assertEquals(#fs.list(place.path .. "/results"), 4)
end

-- What was found out before is kept: it is a run that failed to go on.
function suite.test_results_stay()
  local place <close> = procedure_run.place 't:check("a", true) storlua.usage("too late")'
  local result = procedure_run.run(place)
  lu.assertEquals(result.code, 2, result.stderr)
  lu.assertStrContains(result.stdout, "  events: ")
  lu.assertEquals(cli_run.verdict(place.run_dir).status, "usage")
end

return suite
