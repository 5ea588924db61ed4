-- SPDX-License-Identifier: MIT
--- The test rig itself: disks come and go, faults do what they say.

local disk = require("disk")
local lu = require("luaunit")
local process = require("storlua.process")

local suite = {}

local function write_file(path, text)
  local file <close> = assert(io.open(path, "w"))
  assert(file:write(text))
end

local function read_file(path)
  local file <close> = assert(io.open(path, "r"))
  return file:read("a")
end

local function mounted(path)
  return read_file("/proc/self/mountinfo"):find(" " .. path .. " ", 1, true) ~= nil
end

for _, kind in ipairs { "ext4", "xfs", "btrfs", "tmpfs", "ramfs" } do
  suite["test_" .. kind] = function()
    local path, backing
    do
      local place <close> = disk.file_system(kind)
      path, backing = place.path, place.backing
      write_file(path .. "/file", "text")
      lu.assertTrue(mounted(path))
      lu.assertEquals(process.run { "stat", "-f", "-c", "%T", path }.stdout:match("%w+"),
        ({ ext4 = "ext2", xfs = "xfs", btrfs = "btrfs", tmpfs = "tmpfs", ramfs = "ramfs" })[kind])
    end
    lu.assertFalse(mounted(path))
    if backing then
      -- By its file: others may have got the same loop device since. It goes
      -- when the last who looks at it has closed it.
      disk.wait_until(5, backing .. " is let go", function()
        local files = process.run { "losetup", "-n", "-O", "BACK-FILE" }.stdout
        return not files:find(backing, 1, true)
      end)
    end
  end
end

function suite.test_loop_sector_sizes()
  for _, sector in ipairs { "512", "4096" } do
    local loop <close> = disk.loop { size = "8M", sector = sector }
    local size = process.run { "blockdev", "--getss", "--getsize64", loop.path }.stdout
    lu.assertEquals(size, sector .. "\n8388608\n")
  end
end

function suite.test_clean_up_after_an_error()
  local path
  local ok = pcall(function()
    local place <close> = disk.file_system("tmpfs")
    path = place.path
    error("on purpose")
  end)
  lu.assertFalse(ok)
  lu.assertFalse(mounted(path))
end

local function dd(...)
  return process.try_run { "dd", "status=none", ... }
end

function suite.test_fault_errors()
  local place <close> = disk.fault()
  local path = place.path .. "/f"
  write_file(path, ("x"):rep(16384))
  place:tell("read EIO 4096")
  local result = dd("if=" .. path, "of=/dev/null", "bs=4k")
  lu.assertStrContains(result.stderr, "Input/output error")
  place:tell("clear\nfsync EIO")
  lu.assertStrContains(dd("if=/dev/null", "of=" .. path, "conv=notrunc,fsync").stderr,
    "Input/output error")
  place:tell("clear\nenospc after 6000")
  lu.assertStrContains(dd("if=/dev/zero", "of=" .. path, "bs=1k", "count=8").stderr,
    "No space left")
  lu.assertEquals(#read_file(path), 6000)
end

function suite.test_fault_data()
  local place <close> = disk.fault()
  local path = place.path .. "/f"
  write_file(path, ("x"):rep(4096))
  place:tell("flip 5 2\nzero 512\nones 1024\nmisdirect 2048 5")
  local text = read_file(path)
  lu.assertEquals(text:sub(1, 8), "xxxxxhhx")
  lu.assertEquals(text:sub(513, 1024), ("\0"):rep(512))
  lu.assertEquals(text:sub(1025, 1536), ("\xff"):rep(512))
  lu.assertEquals(text:sub(2049), ("x"):rep(2048))
  place:tell("clear\nstale 512\ntorn 3000")
  dd("if=/dev/zero", "of=" .. path, "bs=4k", "count=1", "conv=notrunc")
  lu.assertEquals(read_file(place.backing .. "/f"),
    ("\0"):rep(512) .. ("x"):rep(512) .. ("\0"):rep(3000 - 1024) .. ("x"):rep(1096))
end

function suite.test_fault_hang_and_release()
  local place <close> = disk.fault()
  write_file(place.path .. "/f", "text")
  place:tell("hang read")
  local reader <close> = process.start { "cat", place.path .. "/f" }
  disk.wait_until(5, "the read hangs", function() return place:count("hanging") == 1 end)
  place:tell("release")
  lu.assertEquals(reader:read_line(5), "text")
end

function suite.test_fault_closes_while_something_hangs()
  local path
  do
    local place <close> = disk.fault()
    path = place.path
    write_file(path .. "/f", "text")
    place:tell("hang read")
    local reader <close> = process.start { "cat", path .. "/f" }
    disk.wait_until(5, "the read hangs", function() return place:count("hanging") == 1 end)
    place:tell("clear")
    reader:wait()
  end
  lu.assertFalse(mounted(path))
end

return suite
