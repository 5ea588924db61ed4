-- SPDX-License-Identifier: MIT
--- Dropping the pages of one file, and the device's counters as a witness.

local lu = require("luaunit")
local cache = require("storlua.cache")
local counters = require("storlua.counters")
local device = require("storlua.device")
local process = require("storlua.process")
local shell = require("shell")

local run = shell.run
local MIB = 1 << 20

local suite = {}

function suite.test_drop_is_proved()
  shell.need_root()
  local place <close> = shell.place()
  local node = place:loop("img", "32M")
  run("mkfs.ext4 -q %s", node)
  local file = place:mount("m", node) .. "/f"
  run("dd if=/dev/urandom of='%s' bs=1M count=4 status=none", file)
  lu.assertEquals(cache.residency(file).resident_bytes, 4 * MIB)
  local dropped = cache.drop_file(file)
  lu.assertEquals(dropped.resident_before_bytes, 4 * MIB)
  lu.assertEquals(dropped.resident_after_bytes, 0)
  lu.assertTrue(dropped.source == "cachestat" or dropped.source == "mincore")
  lu.assertEquals(cache.residency(file).resident_bytes, 0)

  -- A read after the drop comes from the device, all of it.
  local counting = counters.start(device.of_path(file))
  run("cat '%s' > /dev/null", file)
  local seen = counting:result()
  lu.assertTrue(seen.read_bytes >= 4 * MIB)
  lu.assertEquals(math.type(seen.read_bytes), "integer")

  counting = counters.start(device.of_path(file))
  run("dd if=/dev/zero of='%s' bs=1M count=2 conv=notrunc,fsync status=none", file)
  seen = counting:result()
  lu.assertTrue(seen.write_bytes >= 2 * MIB)
  lu.assertTrue(seen.flushes == nil or seen.flushes > 0)
end

function suite.test_device_pages()
  shell.need_root()
  local place <close> = shell.place()
  local node = place:loop("img", "8M")
  run("dd if=%s of=/dev/null bs=1M status=none", node)
  local dropped = cache.drop_file(node)
  lu.assertTrue(dropped.resident_after_bytes < 8 * MIB)
  -- The last close of a device drops its pages, so it is kept open.
  local _ <close> = assert(io.open(node))
  run("dd if=%s of=/dev/null bs=1M status=none", node)
  dropped = cache.drop_device(node)
  lu.assertTrue(dropped.resident_before_bytes >= 8 * MIB)
  lu.assertEquals(dropped.resident_after_bytes, 0)
  lu.assertNil(dropped.reason)
  lu.assertEquals(dropped.loop_backing, "buffered")
  run("mkfs.ext4 -q %s", node)
  local point = place:mount("m", node)
  run("ls %s", point)
  cache.drop_device(node)
  lu.assertEquals(select(2, cache.try_drop_device(point)).code, "ENOTBLK")
end

-- A process that holds pages mapped, ended with its block.
local function mapper(file)
  local child = process.start {
    "python3", "-c", "import mmap,sys,time; f=open(sys.argv[1]); m=mmap.mmap(f.fileno(),0,prot=1);"
      .. "s=bytes(m); print('ready',flush=True); time.sleep(60)", file,
  }
  lu.assertEquals(child:read_line(10), "ready")
  return child
end

function suite.test_why_pages_stay()
  shell.need_root()
  if not pcall(run, "command -v python3") then lu.skip("needs python3") end
  local place <close> = shell.place()
  local node = place:loop("img", "32M")
  run("mkfs.ext4 -q %s", node)
  local file = place:mount("m", node) .. "/f"
  run("dd if=/dev/urandom of='%s' bs=1M count=1 conv=fsync status=none", file)
  local _ <close> = mapper(file)
  local dropped = cache.drop_file(file)
  lu.assertEquals(dropped.resident_after_bytes, MIB)
  lu.assertStrContains(dropped.reason, "mapped")
  lu.assertEquals(dropped.loop_backing, "buffered")
end

function suite.test_all_caches()
  for _, what in ipairs { 0, 4, 7, -1, 300 } do
    local dropped, err = cache.try_drop_all(what)
    lu.assertNil(dropped)
    lu.assertEquals(err.code, "EINVAL")
    lu.assertStrContains(err.message, "not " .. what)
  end
  lu.assertErrorMsgContains("number", cache.drop_all, "3x")
  shell.need_root()
  local place <close> = shell.place()
  local node = place:loop("img", "32M")
  run("mkfs.ext4 -q %s", node)
  local file = place:mount("m", node) .. "/f"
  -- Dirty pages go too, for the drop syncs first.
  run("dd if=/dev/urandom of='%s' bs=1M count=2 status=none", file)
  for _, what in ipairs { 2, 1, 3 } do
    local dropped, err = cache.try_drop_all(what)
    if err and err.code == "EROFS" then lu.skip("in a container") end
    lu.assertEquals(math.type(dropped.cached_after_bytes), "integer")
    if what == 1 then lu.assertEquals(cache.residency(file).resident_bytes, 0) end
  end
end

function suite.test_tmpfs_keeps_its_pages()
  shell.need_root()
  local place <close> = shell.place()
  local file = place:mount("t", "-t tmpfs t") .. "/f"
  run("dd if=/dev/zero of='%s' bs=1M count=2 status=none", file)
  lu.assertEquals(cache.drop_file(file).resident_after_bytes, 2 * MIB)
  lu.assertStrContains(counters.start(device.of_path(file)):result().reason, "tmpfs")
end

function suite.test_what_is_refused()
  local dropped, err = cache.try_drop_file("/tmp")
  lu.assertNil(dropped)
  lu.assertEquals(err.code, "EISDIR")
  lu.assertEquals(select(2, cache.try_drop_file("/dev/null")).code, "EINVAL")
  lu.assertEquals(select(2, cache.try_drop_file("/no/such")).code, "ENOENT")
  lu.assertErrorMsgContains("NUL", cache.drop_file, "x\0y")
  lu.assertErrorMsgContains("179:0", counters.read, "sda")
  lu.assertFalse((pcall(counters.read, "4095:1048575")))
end

return suite
