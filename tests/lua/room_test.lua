-- SPDX-License-Identifier: MIT
--- The room that several files share.

local disk = require("disk")
local fs = require("storlua.fs")
local lu = require("luaunit")
local process = require("storlua.process")
local room = require("storlua.room")

local tests = {}

local function file(dir, bytes, own_bytes)
  return { dir = dir, bytes = bytes, own_bytes = own_bytes or 0 }
end

function tests.test_files_on_one_file_system_share_its_room()
  local place <close> = disk.file_system("ext4")
  local a, b = place.path .. "/a", place.path .. "/b"
  fs.mkdir(a)
  fs.mkdir(b)
  local most = room.directory(a).bytes * 3 // 4
  lu.assertNil(room.shortage { file(a, most) })
  local shortage = room.shortage { file(a, most), file(b, most) }
  lu.assertEquals({ shortage.files, shortage.needed_bytes, shortage.dir, shortage.limit },
    { 2, 2 * most, a, "free space" })
  -- what they have already is not needed anew
  lu.assertNil(room.shortage { file(a, most), file(b, most, most) })
  local other <close> = disk.file_system("ext4")
  lu.assertNil(room.shortage { file(a, most), file(other.path, most) })
end

-- Each subvolume has a device number of its own.
function tests.test_subvolumes_share_the_room_of_their_file_system()
  local place <close> = disk.file_system("btrfs")
  local a, b = place.path .. "/a", place.path .. "/b"
  for _, path in ipairs { a, b } do process.run { "btrfs", "subvolume", "create", path } end
  local most = room.directory(a).bytes * 3 // 4
  lu.assertEquals(room.shortage({ file(a, most), file(b, most) }).files, 2)
end

function tests.test_file_systems_in_memory_share_the_memory()
  local a <close> = disk.file_system("tmpfs", { size = "1T" })
  local b <close> = disk.file_system("ramfs")
  local most = room.directory(a.path).bytes * 3 // 4
  local shortage = room.shortage { file(a.path, most), file(b.path, most) }
  lu.assertEquals({ shortage.files, shortage.limit }, { 2, "half of the free memory" })
  lu.assertNil(room.shortage { file(a.path, most // 4), file(b.path, most // 4) })
end

return tests
