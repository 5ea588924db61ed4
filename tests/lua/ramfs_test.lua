-- SPDX-License-Identifier: MIT
--- File systems in memory: mounted as asked, bounded, and always gone again.
local brd = require("storlua.ramfs.brd")
local disk = require("disk")
local fs = require("storlua.fs")
local lu = require("luaunit")
local process = require("storlua.process")
local ramfs = require("storlua.ramfs")
local workload = require("storlua.workload")

local function mounts() return fs.read("/proc/thread-self/mountinfo") end

local function write(path, bytes)
  return workload.run { path = path, operation = "write", record_bytes = "64k",
                        size_bytes = bytes }
end

local T = {}

function T.test_each_kind()
  disk.need_root()
  for _, kind in ipairs(ramfs.KINDS) do
    local path, folder
    do
      local one <close> = ramfs.mount(kind, "4M")
      path, folder = one.path, one.folder
      lu.assertStrContains(mounts(), path)
      lu.assertTrue(one.is_private)
      lu.assertEquals(write(path .. "/f", 1 << 20)["end"], "complete")
    end
    lu.assertNotStrContains(mounts(), path)
    lu.assertNil(fs.try_stat(folder))
  end
end

function T.test_the_size_is_really_set()
  disk.need_root()
  local one <close> = ramfs.mount("tmpfs", "32M")
  lu.assertStrContains(mounts(), "size=32768k")
  lu.assertEquals(fs.space(one.path).total_bytes, 32 << 20)
end

function T.test_full()
  disk.need_root()
  local one <close> = ramfs.mount("tmpfs", "1M")
  lu.assertEquals(write(one.path .. "/f", 2 << 20)["end"], "no_space")
end

function T.test_gone_after_an_error()
  disk.need_root()
  local folder
  lu.assertFalse(pcall(function()
    local one <close> = ramfs.mount("ramdisk", "4M", { disk = "loop" })
    folder = one.folder
    error("a script's own")
  end))
  lu.assertNil(fs.try_stat(folder))
  lu.assertNotStrContains(process.run { "losetup", "-a" }.stdout, folder)
end

function T.test_ram_disks_by_their_true_names()
  disk.need_root()
  for kind, name in pairs { zram = "on zram", loop = "on a loop device on tmpfs" } do
    local one, err = ramfs.try_mount("ramdisk", "4M", { disk = kind })
    if one then
      local _ <close> = one
      lu.assertStrContains(one.name, name)
    else
      lu.assertEquals(err.code, "ENODEV") -- the kernel has it not
    end
  end
  if fs.try_stat("/dev/ram0") then return end
  local one <close> = ramfs.mount("ramdisk", "4M")
  lu.assertStrContains(one.reasons.brd, "no /dev/ram0")
end

function T.test_more_than_there_is()
  for _, kind in ipairs(ramfs.KINDS) do
    local _, err = ramfs.try_mount(kind, "1000T")
    lu.assertEquals(err.code, "ENOMEM")
    lu.assertStrContains(err.message, "stay for others")
  end
  local _, err = ramfs.try_mount("tmpfs", "4k")
  lu.assertEquals(err.code, "EINVAL")
end

-- There may be no brd here; a file and a loop device are as good to look at.
function T.test_blank_is_judged_to_the_last_byte()
  local place <close> = disk.directory()
  local path = place.path .. "/ram"
  process.run { "truncate", "-s", "5M", path }
  lu.assertTrue(brd.is_blank(path))
  local file <close> = assert(io.open(path, "r+b"))
  file:seek("set", (5 << 20) - 1)
  file:write("x")
  file:flush()
  lu.assertFalse(brd.is_blank(path))
  lu.assertFalse(brd.is_blank(place.path .. "/none"))
end

function T.test_a_ram_disk_is_given_back_empty()
  local place <close> = disk.directory() -- no device: only zeros can be written
  local path = place.path .. "/ram"
  process.run { "dd", "if=/dev/urandom", "of=" .. path, "bs=100k", "count=15" }
  brd.free(path)
  lu.assertTrue(brd.is_blank(path))
  lu.assertEquals(fs.stat(path).size_bytes, 1536000)
  local loop <close> = disk.loop { size = "4M" } -- a device that can discard
  process.run { "mke2fs", "-q", "-F", loop.device }
  brd.free(loop.device)
  lu.assertTrue(brd.is_blank(loop.device))
end

function T.test_a_ram_disk_that_stays_mounted_is_left_alone()
  local mounted <close> = disk.file_system("ext2")
  brd.free(mounted.device)
  lu.assertFalse(brd.is_blank(mounted.device))
end

return T
