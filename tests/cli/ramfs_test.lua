-- SPDX-License-Identifier: MIT
--- scripts/ramfs.lua as a user runs it: the comparison, and nothing left.
local cli_run = require("cli_run")
local disk = require("disk")
local fs = require("storlua.fs")
local lu = require("luaunit")
local process = require("storlua.process")

local SMALL = "--flags=-a -i 0 -i 1 -s 64k -r 64k"

local T = {}

function T.test_the_comparison()
  disk.need_root()
  local place <close> = disk.directory()
  local r = cli_run.run { "--output", place.path .. "/run", "ramfs.lua", "--size", "4M", SMALL }
  lu.assertEquals(r.code, 0, r.stdout .. r.stderr)
  for _, text in ipairs { "tmpfs", "ramfs", "ext2", "memory, 1 thread", "O_DIRECT", "O_SYNC" } do
    lu.assertStrContains(r.stdout, text)
  end
  local ids = {}
  for _, event in ipairs(cli_run.events_of(place.path .. "/run", "measure")) do
    ids[event.case_id] = true
  end
  lu.assertTrue(ids["tmpfs.64k.64k.write"] and ids["ramdisk.64k.64k.reread"])
  lu.assertNotStrContains(fs.read("/proc/self/mountinfo"), "storlua.ramfs")
end

function T.test_bad_command_lines()
  local place <close> = disk.directory()
  for _, argv in ipairs { { "--on", "nfs" }, { "--on", "," }, { "--flags=-Q7" },
                          { "--size", "0" }, { "--size", "1M" },
                          { "--size", "4M", "--flags=-i 0 -s 8m" } } do
    local r = cli_run.run { "--output", place.path .. "/none", "ramfs.lua", table.unpack(argv) }
    lu.assertEquals(r.code, 2, table.concat(argv, " ") .. r.stdout .. r.stderr)
    lu.assertNotStrContains(r.stdout .. r.stderr, "the script raised")
  end
end

-- Nothing may be mounted before the flags and the size are known to be good:
-- unshare and mount would be refused here, so exit code 1 tells of them.
function T.test_checked_before_anything_is_mounted()
  disk.need_root()
  local place <close> = disk.directory()
  process.run { "chmod", "777", place.path }
  for i, argv in ipairs { { "--size", "1M" }, { "--flags=-Q7" }, { "--size", "1000T" } } do
    local r = process.try_run { "setpriv", "--reuid", "65534", "--clear-groups",
      "--bounding-set", "-all", cli_run.program, "--output", place.path .. "/" .. i,
      "ramfs.lua", "--on", "tmpfs", table.unpack(argv) }
    lu.assertEquals(r.code, 2, table.concat(argv, " ") .. r.stdout .. r.stderr)
  end
end

function T.test_refused_without_root()
  disk.need_root()
  local place <close> = disk.directory()
  process.run { "chmod", "777", place.path }
  process.run { "mkdir", "-m", "777", place.path .. "/tmp" }
  for _, kind in ipairs { "tmpfs", "ramfs", "ramdisk" } do
    local r = process.try_run { "env", "TMPDIR=" .. place.path .. "/tmp", "setpriv", "--reuid",
      "65534", "--clear-groups", "--bounding-set", "-all", cli_run.program, "--output",
      place.path .. "/" .. kind, "ramfs.lua", "--on", kind, "--size", "4M", SMALL }
    lu.assertEquals(r.code, 1, r.stdout .. r.stderr)
    lu.assertStrContains(r.stdout, kind .. ".mounted")
    lu.assertStrContains(r.stdout, "root")
    lu.assertEquals(fs.list(place.path .. "/tmp"), {}) -- no folder is left either
  end
end

function T.test_too_large_for_the_memory()
  local place <close> = disk.directory()
  local r = cli_run.run { "--output", place.path .. "/run", "ramfs.lua", "--on", "ramfs",
    "--size", "1000T", SMALL }
  lu.assertEquals(r.code, 2, r.stdout .. r.stderr)
  lu.assertStrContains(r.stdout, "stay for others")
end

function T.test_larger_than_the_cgroup_allows()
  local group <close> = disk.memory_group("64M")
  local place <close> = disk.directory()
  local r = group.run { cli_run.program, "--output", place.path .. "/run", "ramfs.lua", "--size",
    "80M", SMALL }
  lu.assertEquals(r.code, 2, r.stdout .. r.stderr)
  lu.assertStrContains(r.stdout .. r.stderr, "limits to 64 MiB")
end

-- 64 MiB of memory to compare with are not there, so less is measured.
function T.test_the_comparison_on_a_small_machine()
  local group <close> = disk.memory_group("130M")
  local place <close> = disk.directory()
  local r = group.run { cli_run.program, "--output", place.path .. "/run", "ramfs.lua", "--on",
    "tmpfs", "--flags=-i 0 -i 1 -s 4m -r 64k" }
  lu.assertEquals(r.code, 0, r.stdout .. r.stderr)
  lu.assertNotStrContains(r.stdout, "64 MiB")
  lu.assertStrContains(r.stdout, "memory, 1 thread, ")
  lu.assertEquals(#cli_run.events_of(place.path .. "/run", "memory"), 3)
end

return T
