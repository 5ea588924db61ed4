-- SPDX-License-Identifier: MIT
--- Several --dir in one soak: what they share is shared out, and what belongs
--- to one of them stays apart.

local cli_run = require("cli_run")
local disk = require("disk")
local fs = require("storlua.fs")
local lu = require("luaunit")
local soak_run = require("soak_run")

local suite = {}

-- A soak of folders below a place, which are made where they are not there.
local function soak(place, log, dirs, ...)
  local argv = { "soak.lua", "--output", log.run, "--record", "256k", cwd = place }
  for _, dir in ipairs(dirs) do
    fs.mkdirs(dir:sub(1, 1) == "/" and dir or place .. "/" .. dir)
    argv[#argv + 1] = "--dir=" .. dir
  end
  return cli_run.run(table.move({ ... }, 1, select("#", ...), #argv + 1, argv))
end

-- Passes that run beside each other count before they are done.
function suite.test_write_limit_holds_for_all_together()
  local place <close> = disk.directory()
  local log <close> = soak_run.log()
  local result = soak(place.path, log, { "a", "b", "c", "d" }, "--rounds", "5", "--size", "4M",
    "--rewrite", "50", "--write-limit", "21M")
  local verdict = soak_run.verdict(log, result, "passed", 0)
  lu.assertEquals(verdict.bytes_written, 20 << 20)
end

-- What a pass read in place of writing is left to the next one.
function suite.test_write_limit_counts_what_was_written()
  local place <close> = disk.directory()
  local log <close> = soak_run.log()
  local result = soak(place.path, log, { "a", "b" }, "--rounds", "9", "--size", "2M",
    "--rewrite", "100", "--reads", "90", "--write-limit", "12M")
  local verdict = soak_run.verdict(log, result, "passed", 0)
  lu.assertTrue(verdict.bytes_written <= 12 << 20, verdict.bytes_written)
  lu.assertTrue(verdict.bytes_written > 8 << 20, verdict.bytes_written)
end

function suite.test_write_limit_below_one_pass_over_all()
  local place <close> = disk.directory()
  local log <close> = soak_run.log()
  local result = soak(place.path, log, { "a", "b" }, "--rounds", "1", "--size", "4M",
    "--write-limit", "7M")
  lu.assertEquals(result.code, 2, result.stdout .. result.stderr)
  lu.assertStrContains(result.stdout .. result.stderr,
    "--write-limit allows not even one pass over the files, 8 MiB in all")
end

return suite
