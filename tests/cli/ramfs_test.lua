-- SPDX-License-Identifier: MIT
--- scripts/ramfs.lua as a user runs it: the comparison, and nothing left.
local cli_run = require("cli_run")
local disk = require("disk")
local fs = require("storlua.fs")
local lu = require("luaunit")
local process = require("storlua.process")

local SMALL = "--flags=-a -i 0 -i 1 -s 64k -r 64k"
local LARGE = "--flags=-Raz -i 0 -i 1 -i 2 -n 64k -g 16M"

-- Folders and devices of runs that are over; other tests may have some that
-- live, so only those of a process are looked for.
local function folders_of(pid)
  local found = {}
  for _, name in ipairs(fs.list("/run")) do
    if name:find("^storlua%.ramfs%." .. pid) then found[#found + 1] = name end
  end
  return found
end

local function devices()
  local names = {}
  for _, name in ipairs(fs.list("/sys/block")) do
    if name:find("^zram") then names[#names + 1] = name end
  end
  return table.concat(names, " ")
end

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
                          { "--size", "0" } } do
    local r = cli_run.run { "--output", place.path .. "/none", "ramfs.lua", table.unpack(argv) }
    lu.assertEquals(r.code, 2, table.concat(argv, " ") .. r.stdout .. r.stderr)
  end
end

function T.test_refused_without_root()
  disk.need_root()
  local place <close> = disk.directory()
  process.run { "chmod", "777", place.path }
  local r = process.try_run { "setpriv", "--reuid", "65534", "--clear-groups",
    "--bounding-set", "-all", cli_run.program, "--output", place.path .. "/run", "ramfs.lua",
    "--on", "tmpfs", "--size", "4M", SMALL }
  lu.assertEquals(r.code, 1, r.stdout .. r.stderr)
  lu.assertStrContains(r.stdout, "needs root")
end

function T.test_too_large_for_the_memory()
  local place <close> = disk.directory()
  local r = cli_run.run { "--output", place.path .. "/run", "ramfs.lua", "--on", "ramfs",
    "--size", "1000T", SMALL }
  lu.assertEquals(r.code, 1, r.stdout .. r.stderr)
  lu.assertStrContains(r.stdout, "stay for others")
end

local function start(place, kind)
  local run = cli_run.start { "--output", place.path .. "/run", "ramfs.lua", "--on", kind,
    "--size", "32M", LARGE }
  run:wait_event(place.path .. "/run", function(e) return e.kind == "measure" end, 20)
  return run
end

function T.test_ctrl_c()
  disk.need_root()
  local before = devices()
  for _, kind in ipairs { "tmpfs", "ramdisk" } do
    local place <close> = disk.directory()
    local run <close> = start(place, kind)
    run:signal("INT")
    lu.assertEquals(run:finish().code, 130)
  end
  lu.assertEquals(devices(), before)
end

function T.test_a_killed_run_is_cleaned_by_the_next()
  disk.need_root()
  local place <close> = disk.directory()
  local pid
  do
    local run <close> = start(place, "ramdisk")
    for _, name in ipairs(fs.list("/run")) do
      local owner = name:match("^storlua%.ramfs%.(%d+)%-")
      local stat = owner and fs.try_read("/proc/" .. owner .. "/status")
      if stat and stat:find("PPid:%s+" .. run.child.pid .. "\n") then pid = owner end
    end
    lu.assertNotNil(pid)
    run:signal("KILL")
    run:finish()
  end
  lu.assertEquals(#folders_of(pid), 1)
  lu.assertNotStrContains(fs.read("/proc/self/mountinfo"), "storlua.ramfs." .. pid)
  local r = cli_run.run { "--output", place.path .. "/next", "ramfs.lua", "--on", "tmpfs",
    "--size", "4M", SMALL }
  lu.assertEquals(r.code, 0, r.stdout .. r.stderr)
  lu.assertEquals(folders_of(pid), {})
  lu.assertStrContains(r.stdout, "cleaned")
end

return T
