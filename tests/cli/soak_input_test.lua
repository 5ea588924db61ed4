-- SPDX-License-Identifier: MIT
--- Bad input: refused with a message that names it, before anything is touched.

local cli_run = require("cli_run")
local disk = require("disk")
local lu = require("luaunit")
local process = require("storlua.process")
local soak_run = require("soak_run")

local suite = {}

local function refused(place, extra, pattern)
  local log <close> = soak_run.log()
  local result = soak_run.run(place, log, extra)
  local text = result.stdout .. result.stderr
  lu.assertEquals(result.code, 2, text)
  lu.assertStrMatches(text, ".*" .. pattern .. ".*")
  lu.assertNotStrContains(text, "stack traceback")
  return text
end

function suite.test_sizes()
  local place <close> = disk.directory()
  for _, bad in ipairs { "16E", "0", "4kk", "4k4", "k", "", "8E", "18446744073709551615",
    "18446744073709551616", "4096.5", "nan", "４k" } do
    refused(place.path, { "--size=" .. bad }, "%-%-size")
    lu.assertEquals(soak_run.leftovers(place.path), {}, bad)
  end
  refused(place.path, { "--size", "-1" }, "%-%-size")
  refused(place.path, { "--size=-1" }, "%-%-size")
end

function suite.test_durations()
  local place <close> = disk.directory()
  for _, bad in ipairs { "", "-1", "1x", "1e999", "nan" } do
    refused(place.path, { "--minutes=" .. bad }, "%-%-minutes")
  end
end

function suite.test_two_durations()
  local place <close> = disk.directory()
  refused(place.path, { "--minutes", "1", "--hours", "2" }, "more than one of")
end

function suite.test_size_smaller_than_record()
  local place <close> = disk.directory()
  local text = refused(place.path, { "--size", "64k", "--record", "1M" }, "64 KiB")
  lu.assertStrContains(text, "1 MiB")
end

function suite.test_record_that_is_no_multiple_of_a_sector()
  local place <close> = disk.directory()
  refused(place.path, { "--record", "1000" }, "%-%-record: 1000 is no multiple of 512")
  refused(place.path, { "--random-record", "1000" },
    "%-%-random%-record: 1000 is no multiple of 512")
  lu.assertEquals(soak_run.leftovers(place.path), {})
end

function suite.test_record_off_the_alignment()
  local place <close> = disk.file_system("ext4", { sector = "4096" })
  local needs = "direct I/O on [^ ]*storlua.soak needs multiples of 4096 bytes: %-%-"
  refused(place.path, { "--record", "5k", "--size", "5M", "--direct", "on" },
    needs .. "record is 5120; %-%-direct auto")
  refused(place.path, { "--random-record", "512", "--direct", "on" },
    needs .. "random%-record is 512")
  lu.assertEquals(soak_run.leftovers(place.path), {})
end

-- Where it has the choice it goes through the page cache, and says why.
function suite.test_record_off_the_alignment_does_without()
  local place <close> = disk.file_system("ext4", { sector = "4096" })
  local log <close> = soak_run.log()
  local result = soak_run.run(place.path, log, { "--record", "512", "--size", "256k",
    "--rounds", "1" })
  soak_run.verdict(log, result, "passed", 0)
  lu.assertStrContains(result.stdout, "with the page cache dropped before it reads (direct I/O on ")
  lu.assertStrContains(result.stdout, "needs multiples of 4096 bytes: --record is 512)")
  for _, event in ipairs(cli_run.events_of(log.run, "measure")) do
    lu.assertFalse(event.result.target.direct)
  end
end

function suite.test_direct_where_there_is_none()
  local place <close> = disk.file_system("tmpfs")
  refused(place.path, { "--record", "1536", "--direct", "on" },
    "%-%-direct on: .*tmpfs keeps data in memory: there is no direct I/O")
  lu.assertEquals(soak_run.leftovers(place.path), {})
end

function suite.test_empty_directory()
  local place <close> = disk.directory()
  refused("", {}, "%-%-dir: '' must not be empty")
  refused(place.path, { "--dir", "" }, "%-%-dir: '' must not be empty")
end

function suite.test_unknown_option_names_the_nearest()
  local place <close> = disk.directory()
  refused(place.path, { "--ruonds", "1" }, "%-%-rounds")
end

function suite.test_directory_missing()
  local place <close> = disk.directory()
  refused(place.path .. "/not/there", {}, "not/there")
end

function suite.test_directory_is_a_file()
  local place <close> = disk.directory()
  process.run { "touch", place.path .. "/file" }
  refused(place.path .. "/file", {}, "not a directory")
end

function suite.test_directory_read_only()
  local place <close> = disk.file_system("ext4")
  process.run { "mount", "-o", "remount,ro", place.path }
  refused(place.path, {}, "ead%-only")
end

function suite.test_directory_not_writable()
  disk.need_root()
  local place <close> = disk.directory()
  local log <close> = disk.directory()
  process.run { "chmod", "0755", place.path }
  process.run { "chmod", "0777", log.path }
  -- The program is copied: its own folder may be closed to others.
  local program = log.path .. "/storlua"
  process.run { "install", "-m", "0755", cli_run.program, program }
  local result = process.try_run { "setpriv", "--reuid=65534", "--regid=65534", "--clear-groups",
    program, "soak.lua", "--dir", place.path, "--output", log.path .. "/run", "--rounds", "1",
    "--size", "4M" }
  lu.assertEquals(result.code, 2, result.stdout .. result.stderr)
  lu.assertStrContains(result.stdout .. result.stderr, "ermission denied")
end

function suite.test_not_enough_room()
  local place <close> = disk.file_system("tmpfs", { size = "8M" })
  refused(place.path, { "--size", "64M" }, "free")
  lu.assertEquals(soak_run.leftovers(place.path), {})
end

return suite
