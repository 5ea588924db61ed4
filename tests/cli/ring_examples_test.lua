-- SPDX-License-Identifier: MIT
--- The examples of storlua.ring as a user runs them.

local cli_run = require("cli_run")
local disk = require("disk")
local fs = require("storlua.fs")
local lu = require("luaunit")
local ring = require("storlua.ring")

local here = debug.getinfo(1, "S").source:match("^@(.*)/[^/]*$")
local examples = here .. "/../../scripts/examples/"

local suite = {}

local function run(place, script, ...)
  local r, err = ring.try_open { path = "/proc/self/exe", record_bytes = 4096, slots = 1 }
  lu.skipIf(not r, tostring(err))
  r:close()
  local result = cli_run.run { examples .. script, "--output", place.path .. "/run",
    "--file", place.path .. "/my file", cwd = place.path, ... }
  lu.assertEquals(result.code, 0, result.stdout .. result.stderr)
  return result.stdout
end

function suite.test_btree_lookup()
  local place <close> = disk.directory()
  local text = run(place, "btree_lookup.lua", "--runtime", "0.2", "--tasks", "8")
  lu.assertStrContains(text, "8 look-ups at once")
  lu.assertStrContains(text, "checks passed: 2")
end

function suite.test_commit_log()
  local place <close> = disk.directory()
  local text = run(place, "commit_log.lua", "--records", "100", "--clients", "8")
  lu.assertStrContains(text, "8 clients")
  lu.assertStrContains(text, "checks passed: 1")
  lu.assertTrue(tonumber(text:match("records_per_flush: ([%d.]+)")) > 1, text)
end

function suite.test_replay_trace()
  local place <close> = disk.directory()
  fs.write_atomic(place.path .. "/t",
    "# a comment\n0 write 4096 4096\n0.05 read 0 65536\n0.1 fsync\n")
  local text = run(place, "replay_trace.lua", "--late", "10s", place.path .. "/t")
  lu.assertStrContains(text, "3 operations, 0 late")
  fs.write_atomic(place.path .. "/bad", "0 erase 0 4096\n")
  local result = cli_run.run { examples .. "replay_trace.lua", place.path .. "/bad", "--output",
    place.path .. "/run2", cwd = place.path }
  lu.assertEquals(result.code, 2)
  lu.assertStrContains(result.stdout .. result.stderr, "bad:1:")
end

-- Less than the records of the layout, and no whole sectors.
function suite.test_a_short_trace()
  local place <close> = disk.directory()
  fs.write_atomic(place.path .. "/t", "0 write 100 1000\r\n0 read 100 1000\r\n0 fsync\r\n")
  local text = run(place, "replay_trace.lua", "--late", "10s", place.path .. "/t")
  lu.assertStrContains(text, "3 operations, 0 late")
end

function suite.test_bad_lines_and_options()
  local place <close> = disk.directory()
  local function refused(wanted, script, ...)
    local result = cli_run.run { examples .. script, "--output", place.path .. "/run",
      cwd = place.path, ... }
    lu.assertEquals(result.code, 2, result.stdout .. result.stderr)
    lu.assertStrContains(result.stdout .. result.stderr, wanted)
  end
  for line, wanted in pairs {
    ["0 read 99999999999999999999 4096"] = "t:1: not",
    ["0 read 9223372036854775807 4096"] = "t:1: not",
    ["0 read 0 9999999999"] = "t:1: not",
    ["0 write 1000000000000000 4096"] = "909.5 TiB and there is room for",
    [""] = "is empty",
  } do
    fs.write_atomic(place.path .. "/t", line .. "\n")
    refused(wanted, "replay_trace.lua", place.path .. "/t")
  end
  refused("EISDIR", "replay_trace.lua", place.path)
  refused("--slots", "replay_trace.lua", place.path .. "/t", "--slots", "0")
  refused("--tasks", "btree_lookup.lua", "--tasks", "0")
  refused("--clients", "commit_log.lua", "--clients", "0")
end

return suite
