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

local function refused(result, text)
  local said = result.stdout .. result.stderr
  lu.assertEquals(result.code, 2, said)
  lu.assertStrContains(said, text)
  lu.assertNotStrContains(said, "stack traceback")
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
  refused(result, "--write-limit allows not even one pass over the files, 8 MiB in all")
end

-- The texts of the judged rules, without their figures.
local function rules_judged(log)
  local texts = {}
  for _, event in ipairs(cli_run.events_of(log.run, "threshold")) do
    lu.assertTrue(event.ok, event.text)
    texts[#texts + 1] = event.text:match("^(.-):")
  end
  return texts
end

function suite.test_a_limit_holds_for_each_directory()
  local place <close> = disk.directory()
  local log <close> = soak_run.log()
  local result = soak(place.path, log, { "a", "b" }, "--rounds", "1", "--size", "1M", "--limit",
    "write.mib_s p50 > 0", "--limit", "b.read.iops min > 0", "--limit", "kernel.errors rate < 9")
  soak_run.verdict(log, result, "passed", 0)
  local expected = { "kernel.errors count == 0", "a.write.mib_s p50 > 0", "b.write.mib_s p50 > 0",
                     "b.read.iops min > 0", "kernel.errors rate < 9" }
  lu.assertEquals(rules_judged(log), expected)
end

-- Seen from another folder the directories keep their names.
function suite.test_a_limit_of_a_run_that_goes_on()
  local place <close> = disk.directory()
  local log <close> = soak_run.log()
  fs.mkdirs(place.path .. "/b")
  local run <close> = cli_run.start { "soak.lua", "--output", log.run, "--size", "1M", "--dir=.",
    "--dir=b", "--limit", "b.write.mib_s p50 > 0", "--limit", "read.iops p50 > 0",
    cwd = place.path }
  run:wait_event(log.run, function(event) return event.kind == "round" end)
  run:signal("KILL")
  run:finish(10)
  local result = cli_run.run { "soak.lua", "--resume", log.run, "--rounds", "2" }
  soak_run.verdict(log, result, "passed", 0)
  lu.assertEquals(rules_judged(log), { "kernel.errors count == 0", "b.write.mib_s p50 > 0",
    "dir_1.read.iops p50 > 0", "b.read.iops p50 > 0" })
end

-- It would be known after 48 hours.
function suite.test_a_limit_that_never_has_data()
  local place <close> = disk.directory()
  local log <close> = soak_run.log()
  local function try(limit, ...)
    return soak(place.path, log, { "a", "b" }, "--limit", limit, ...)
  end
  refused(try("wirte.mib_s p50 > 1"), "did you mean 'write'")
  refused(try("c.write.mib_s p50 > 1"), "there are a.write, b.write, a.read, b.read,")
  refused(try("rest_read.iops p50 > 1"), "nothing here is measured as rest_read")
  refused(try("random_write.mib_s p50 > 1", "--reads", "50"), "a.random_write.read,")
  lu.assertEquals({ fs.list(place.path .. "/a"), fs.exists(log.run) }, { {}, false })
end

-- Case ids of the measures by the file that they were about.
local function ids_by_path(log)
  local ids = {}
  for _, event in ipairs(cli_run.events_of(log.run, "measure")) do
    local path = event.spec.path
    ids[path] = ids[path] or {}
    table.insert(ids[path], event.case_id)
  end
  for _, list in pairs(ids) do table.sort(list) end
  return ids
end

local PASSES = { "random_read", "random_write", "read", "write" }

local function each_has_rows_of_its_own(place, dirs, names)
  local log <close> = soak_run.log()
  local result = soak(place, log, dirs, "--rounds", "1", "--size", "1M")
  soak_run.verdict(log, result, "passed", 0)
  local expected = {}
  for i, dir in ipairs(dirs) do
    local ids = {}
    for k, pass in ipairs(PASSES) do ids[k] = names[i] .. "." .. pass end
    expected[(place .. "/" .. dir):gsub("/%.$", "") .. "/storlua.soak"] = ids
  end
  lu.assertEquals(ids_by_path(log), expected)
end

function suite.test_names_of_directories_begin_their_cases()
  local place <close> = disk.directory()
  each_has_rows_of_its_own(place.path, { "a", "m/b" }, { "a", "m_b" })
end

function suite.test_a_directory_without_a_name()
  local place <close> = disk.directory()
  each_has_rows_of_its_own(place.path, { ".", "b" }, { "dir_1", "b" })
end

function suite.test_a_name_that_is_too_long()
  local place <close> = disk.directory()
  local long = ("long"):rep(28) -- 112 bytes
  each_has_rows_of_its_own(place.path, { long, long .. "er", "b" },
    { long:sub(-64) .. "_1", (long .. "er"):sub(-64) .. "_2", "b" })
end

function suite.test_names_that_differ_in_signs_only()
  local place <close> = disk.directory()
  each_has_rows_of_its_own(place.path, { "a-1", "a_1", "a 1", "a_1_2" },
    { "a_1", "a_1_3", "a_1_4", "a_1_2" })
end

function suite.test_a_directory_that_is_named_twice()
  local place <close> = disk.directory()
  local log <close> = soak_run.log()
  refused(soak(place.path, log, { "a", "./a" }, "--rounds", "1", "--size", "1M"),
    "--dir: a and ./a are one directory")
  lu.assertEquals(fs.list(place.path .. "/a"), {})
end

function suite.test_room_is_that_of_the_file_system()
  local place <close> = disk.file_system("tmpfs", { size = "16M" })
  local log <close> = soak_run.log()
  refused(soak(place.path, log, { "a", "b" }, "--rounds", "1", "--size", "10M"),
    "a has room for 16 MiB (free space) and the 2 test files there need 20 MiB; use --size")
  lu.assertEquals({ fs.list(place.path .. "/a"), fs.list(place.path .. "/b") }, { {}, {} })
  local second <close> = soak_run.log()
  local result = soak(place.path, second, { "a", "b" }, "--rounds", "1", "--size", "7M")
  soak_run.verdict(second, result, "passed", 0)
end

return suite
