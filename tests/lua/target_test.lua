-- SPDX-License-Identifier: MIT
--- What a raw test works on, and seeing that it is no longer that.

local disk = require("disk")
local errors = require("storlua.errors")
local lu = require("luaunit")
local process = require("storlua.process")
local storlua = require("storlua")
local target = require("storlua.target")

local suite = {}

local function generic() return storlua.board.select("generic") end

function suite.test_paths()
  local place <close> = disk.directory()
  lu.assertEquals(target.resolve(place.path, generic(), "storlua.x"), place.path .. "/storlua.x")
  lu.assertEquals(target.resolve(place.path .. "/new", generic(), "x"), place.path .. "/new")
  for _, bad in ipairs { "", "/dev/storlua-none", place.path .. "/no/such", "emmc", "/dev/null" } do
    local path, err = errors.try(target.resolve, bad, generic(), "x")
    lu.assertNil(path, bad)
    lu.assertEquals(err.code, "USAGE", bad)
  end
end

function suite.test_a_device_and_what_becomes_of_it()
  local loop <close> = disk.loop { size = "8M" }
  local it = target.look(loop.device)
  lu.assertTrue(it.is_device)
  lu.assertEquals(it.size_bytes, 8 << 20)
  lu.assertNil(it:gone())
  local facts = it:facts()
  lu.assertEquals(facts.backing_path, loop.backing)
  lu.assertEquals(facts.backing_allocated_bytes, 0)
  process.run { "truncate", "-s", "1M", loop.backing }
  process.run { "losetup", "-c", loop.device }
  lu.assertStrContains(it:gone(), "has shrunk from 8388608 to 1048576 bytes")
  -- Another file under the same name is another unit.
  process.run { "losetup", "-d", loop.device }
  process.run { "truncate", "-s", "8M", loop.backing .. "2" }
  process.run { "losetup", loop.device, loop.backing .. "2" }
  lu.assertStrContains(it:gone(), "is another device now")
end

function suite.test_a_file_and_the_cache()
  local place <close> = disk.file_system("ext4")
  local path = place.path .. "/f"
  process.run { "dd", "if=/dev/zero", "of=" .. path, "bs=1M", "count=2", "status=none" }
  local it = target.look(path)
  lu.assertFalse(it.is_device)
  lu.assertEquals(it.size_bytes, 2 << 20)
  lu.assertEquals(it:drop_cache().resident_after_bytes, 0)
  process.run { "rm", path }
  lu.assertStrContains(it:gone(), "is gone")
end

return suite
