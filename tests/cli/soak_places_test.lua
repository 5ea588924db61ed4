-- SPDX-License-Identifier: MIT
--- The main job on every kind of place, with a true verdict in each.

local cli_run = require("cli_run")
local disk = require("disk")
local lu = require("luaunit")
local process = require("storlua.process")
local soak_run = require("soak_run")

local suite = {}

local function passes_on(place, log)
  local result = soak_run.run(place, log, { "--rounds", "2" })
  local verdict = soak_run.verdict(log, result, "passed", 0)
  lu.assertEquals(verdict.rounds, 2)
  lu.assertEquals(verdict.bad_sectors, 0)
  lu.assertTrue(verdict.verified_bytes >= 8 << 20, verdict.verified_bytes)
  lu.assertTrue(verdict.bytes_written >= 8 << 20, verdict.bytes_written)
  lu.assertEquals(soak_run.leftovers(place), {})
  return result, verdict
end

for _, kind in ipairs { "ext4", "xfs", "btrfs" } do
  suite["test_" .. kind] = function()
    local place <close> = disk.file_system(kind)
    local log <close> = soak_run.log()
    passes_on(place.path, log)
    for _, event in ipairs(cli_run.events_of(log.run, "measure")) do
      local result = event.result
      if result.read then
        lu.assertTrue(result.target.direct or result.cache.cold, event.case_id)
        lu.assertEquals(result.verify.bad_sectors, 0)
        lu.assertEquals(result.verify.sectors, (4 << 20) // 512)
      end
    end
  end
end

function suite.test_loop_with_4096_byte_sectors()
  local place <close> = disk.file_system("ext4", { sector = "4096" })
  local log <close> = soak_run.log()
  passes_on(place.path, log)
end

-- What its reads prove is said to people too.
function suite.test_a_cached_loop_device_is_said()
  local place <close> = disk.file_system("ext4")
  local log <close> = soak_run.log()
  local result = passes_on(place.path, log)
  lu.assertStrContains(result.stdout, "measures: a loop device whose file is cached")
end

function suite.test_tmpfs_says_that_nothing_was_cold()
  local place <close> = disk.file_system("tmpfs")
  local log <close> = soak_run.log()
  local result = passes_on(place.path, log)
  lu.assertStrMatches(result.stdout, ".*no cold read.*")
  for _, event in ipairs(cli_run.events_of(log.run, "measure")) do
    lu.assertTrue(event.result.target.ram_backed)
  end
end

-- Bytes that are not UTF-8 must survive, and the log must stay UTF-8.
for name, folder in pairs { blanks = "with two  blanks", utf8 = "mit Ümläut 🙂",
  latin1 = "caf\xe9", minus = "-dash" } do
  suite["test_path_" .. name] = function()
    local parent <close> = disk.directory()
    local log <close> = soak_run.log()
    local place = parent.path .. "/" .. folder
    process.run { "mkdir", place }
    passes_on(place, log)
    process.run { "iconv", "-f", "UTF-8", "-t", "UTF-16", log.run .. "/events.jsonl",
      "-o", "/dev/null" }
  end
end

function suite.test_a_foreign_file_with_a_similar_name_survives()
  local place <close> = disk.directory()
  local log <close> = soak_run.log()
  local name = place.path .. "/storlua.soak.notes"
  process.run { "sh", "-c", "echo mine >\"$1\"", "sh", name }
  local result = soak_run.run(place.path, log, { "--rounds", "1" })
  soak_run.verdict(log, result, "passed", 0)
  lu.assertEquals(process.run { "cat", name }.stdout, "mine\n")
end

return suite
