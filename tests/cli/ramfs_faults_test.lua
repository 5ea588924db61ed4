-- SPDX-License-Identifier: MIT
--- scripts/ramfs.lua when things go wrong: stopped in each phase, killed, full,
--- and kinds of RAM disk that are not there. Nothing may be left.
local cli_run = require("cli_run")
local disk = require("disk")
local fs = require("storlua.fs")
local lu = require("luaunit")
local process = require("storlua.process")

local SMALL <const> = "--flags=-a -i 0 -i 1 -s 64k -r 64k"
local LARGE <const> = "--flags=-Raz -i 0 -i 1 -i 2 -n 64k -g 16M"

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

local function start(place, kind)
  local run = cli_run.start { "--output", place.path .. "/run", "ramfs.lua", "--on", kind,
    "--size", "32M", LARGE }
  run:wait_event(place.path .. "/run", function(e) return e.kind == "measure" end, 20)
  return run
end

-- The process whose parent is the one that was started.
local function host_of(run)
  for _, name in ipairs(fs.list("/proc")) do
    local stat = name:find("^%d+$") and fs.try_read("/proc/" .. name .. "/status")
    if stat and stat:find("PPid:%s+" .. run.child.pid .. "\n") then return name end
  end
end

-- Nothing of a run: no folder, no mount, no loop or zram device.
local function check_gone(pid, before)
  lu.assertEquals(folders_of(pid), {})
  lu.assertNotStrContains(fs.read("/proc/self/mountinfo"), "storlua.ramfs." .. pid)
  lu.assertNotStrContains(process.run { "losetup", "-a" }.stdout, "storlua.ramfs." .. pid)
  lu.assertEquals(devices(), before)
end

local T = {}

-- Runs it where the kernel seems to have neither.
function T.test_without_brd_and_zram()
  disk.need_root()
  lu.skipIf(fs.try_exists("/dev/ram0"), "the kernel has brd")
  local place <close> = disk.directory()
  local hide = "test ! -d /sys/class/zram-control || mount -t tmpfs none /sys/class/zram-control"
  local r = process.try_run { "unshare", "-m", "sh", "-c", hide .. " && exec \"$@\"", "sh",
    cli_run.program, "--output", place.path .. "/run", "ramfs.lua", "--on", "ramdisk", "--size",
    "4M", SMALL }
  lu.assertEquals(r.code, 0, r.stdout .. r.stderr)
  for _, text in ipairs { "ramdisk.is: ext2 (1 KiB blocks) on a loop device on tmpfs",
                          "ramdisk.no_brd: there is no /dev/ram0",
                          "ramdisk.no_zram: the kernel has no zram" } do
    lu.assertStrContains(r.stdout, text)
  end
  for _, kind in ipairs { "brd", "zram" } do -- asked for by name nothing else will do
    r = process.try_run { "unshare", "-m", "sh", "-c", hide .. " && exec \"$@\"", "sh",
      cli_run.program, "--output", place.path .. "/" .. kind, "ramfs.lua", "--on", "ramdisk",
      "--disk", kind, "--size", "4M", SMALL }
    lu.assertEquals(r.code, 1, r.stdout .. r.stderr)
    lu.assertStrContains(r.stdout, "no RAM disk here: " .. kind)
  end
  lu.assertNotStrContains(process.run { "losetup", "-a" }.stdout, "storlua.ramfs")
end

-- Somebody else fills the tmpfs under the matrix, in the mounts of the run.
function T.test_full_in_mid_matrix()
  disk.need_root()
  local before = devices()
  local place <close> = disk.directory()
  local run <close> = start(place, "tmpfs")
  local pid = host_of(run)
  local point = fs.read("/proc/" .. pid .. "/mountinfo"):match(" (/%S*/storlua%.ramfs%." .. pid
    .. "%S*/mount) ")
  lu.assertNotNil(point)
  process.try_run { "nsenter", "--mount=/proc/" .. pid .. "/ns/mnt", "dd", "if=/dev/zero",
    "of=" .. point .. "/other", "bs=1M" }
  local r = run:finish(60)
  lu.assertEquals(r.code, 1, r.stdout .. r.stderr)
  local full
  for _, event in ipairs(cli_run.events_of(place.path .. "/run", "measure")) do
    if event.verdict == "fail" then full = full or event end
  end
  lu.assertStrContains(full.reason, "ENOSPC")
  lu.assertEquals(cli_run.verdict(place.path .. "/run").status, "failed")
  check_gone(pid, before)
end

function T.test_ctrl_c_in_every_phase()
  disk.need_root()
  local before = devices()
  local function kind(name)
    return function(event) return event.kind == name end
  end
  local function memory(event) return event.kind == "memory" end
  for _, one in ipairs {
    { kind("start"), "tmpfs", LARGE }, { kind("start"), "ramdisk", LARGE }, -- being mounted
    { kind("note"), "ramdisk", LARGE }, { kind("measure"), "tmpfs", LARGE },
    { kind("measure"), "ramfs", LARGE }, { kind("measure"), "ramdisk", LARGE },
    { memory, "tmpfs", SMALL },
  } do
    local place <close> = disk.directory()
    local run <close> = cli_run.start { "--output", place.path .. "/run", "ramfs.lua", "--on",
      one[2], "--size", "32M", one[3] }
    run:wait_event(place.path .. "/run", one[1], 20)
    local pid = host_of(run)
    run:signal("INT")
    local r = run:finish()
    lu.assertEquals(r.code, 130, one[2] .. r.stdout .. r.stderr)
    if pid then check_gone(pid, before) end
  end
end

function T.test_a_killed_run_is_cleaned_by_the_next()
  disk.need_root()
  local place <close> = disk.directory()
  local pid
  do
    local run <close> = start(place, "ramdisk")
    pid = host_of(run)
    lu.assertNotNil(pid)
    run:signal("KILL")
    run:finish()
  end
  lu.assertEquals(#folders_of(pid), 1)
  lu.assertNotStrContains(fs.read("/proc/self/mountinfo"), "storlua.ramfs." .. pid)
  local r = cli_run.run { "--output", place.path .. "/next", "ramfs.lua", "--on", "tmpfs",
    "--size", "1000T", SMALL }
  lu.assertEquals(r.code, 2, r.stdout .. r.stderr) -- after cleaning
  lu.assertEquals(folders_of(pid), {})
  lu.assertStrContains(r.stdout, "cleaned")
end

return T
