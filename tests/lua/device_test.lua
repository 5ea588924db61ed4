-- SPDX-License-Identifier: MIT
--- device.of_path on real file systems.

local lu = require("luaunit")
local conditions = require("storlua.conditions")
local device = require("storlua.device")
local shell = require("shell")

local run = shell.run

local function name_of(node) return node:match("[^/]+$") end

local function assert_single(path, node)
  local found = device.of_path(path)
  lu.assertEquals(found.kind, "block", path)
  lu.assertEquals(#found.disks, 1, path)
  lu.assertEquals(found.single.name, name_of(node), path)
  lu.assertEquals(found.single.node, node, path)
  return found
end

local function assert_none(path, kind)
  local found = device.of_path(path)
  lu.assertEquals(found.kind, "none", path)
  lu.assertEquals(found.mount.type, kind, path)
  lu.assertNil(found.single)
  lu.assertEquals(#found.disks, 0)
  lu.assertStrContains(found.reason, kind)
  lu.assertEquals(found.label, found.reason)
  return found
end

local suite = {}

function suite.test_ext4_on_a_loop_device()
  shell.need_root()
  local place <close> = shell.place()
  local node, file = place:loop("a b.img", "16M")
  run("mkfs.ext4 -q %s", node)
  local point = place:mount("m nt", "-t ext4 " .. node)
  run("mkdir '%s/sub' && echo x > '%s/sub/f'", point, point)

  local found = assert_single(point .. "/sub/f", node)
  lu.assertEquals(found.mount.point, point)
  lu.assertEquals(found.mount.type, "ext4")
  lu.assertEquals(found.mount.source, node)
  lu.assertEquals(found.single.id, "loop:" .. file)
  lu.assertEquals(found.single.kind, "loop")
  lu.assertEquals(found.single.size_bytes, 16 << 20)
  lu.assertEquals(math.type(found.single.size_bytes), "integer")
  lu.assertEquals(found.single.logical_block_bytes, 512)
  lu.assertFalse(found.single.read_only)
  local loop = found.single.loop
  lu.assertEquals(loop.backing_path, file)
  lu.assertFalse(loop.deleted)
  lu.assertFalse(loop.direct)
  lu.assertEquals(loop.below.label, device.of_path("/tmp").label)
  lu.assertEquals(found.chain[1], { name = name_of(node), number = found.single.number })

  local on_node = assert_single(node, node)
  lu.assertTrue(on_node.is_node)
  lu.assertNil(on_node.mount)

  local c = conditions.collect(point)
  lu.assertEquals(c.filesystem, "ext4")
  lu.assertEquals(c.mount_point, point)
  lu.assertEquals(c.device_identity.id, "loop:" .. file)
  lu.assertStrContains(c.sync_meaning, "through the page cache")
  lu.assertStrContains(c.mount_options, "rw,")

  run("rm '%s'", file)
  found = assert_single(point, node)
  lu.assertTrue(found.single.loop.deleted)
  lu.assertEquals(found.single.loop.backing_path, file)
  lu.assertStrContains(found.single.loop.below_reason, "deleted")
end

function suite.test_a_file_that_is_called_deleted()
  shell.need_root()
  local place <close> = shell.place()
  local node, file = place:loop("x (deleted)", "1M")
  local loop = device.of_path(node).single.loop
  lu.assertFalse(loop.deleted)
  lu.assertEquals(loop.backing_path, file)
end

function suite.test_bind_file_bind_and_overmount()
  shell.need_root()
  local place <close> = shell.place()
  local node = place:loop("img", "16M")
  run("mkfs.ext4 -q %s", node)
  local a = place:mount("a", node)
  run("mkdir '%s/sub' && touch '%s/sub/f' '%s/c'", a, a, place.path)
  local b = place:mount("b", ("--bind '%s/sub'"):format(a))
  run("mount --bind '%s/sub/f' '%s/c'", a, place.path)
  place:later("umount '%s/c'", place.path)
  lu.assertEquals(assert_single(b .. "/f", node).mount.root, "/sub")
  lu.assertEquals(assert_single(place.path .. "/c", node).mount.root, "/sub/f")
  run("ln -s '%s/f' '%s/link'", b, place.path)
  assert_single(place.path .. "/link", node)

  run("mount -t tmpfs over '%s'", a)
  place:later("umount '%s'", a)
  local found = assert_none(a, "tmpfs")
  lu.assertStrContains(found.reason, "memory")
  lu.assertStrContains(conditions.sync_meaning(found), "memory")
  assert_single(b, node)
end

function suite.test_btrfs_members_and_subvolume()
  shell.need_root()
  local place <close> = shell.place()
  local one, two = place:loop("1.img", "256M"), place:loop("2.img", "256M")
  run("mkfs.btrfs -q %s %s", one, two)
  local point = place:mount("m", one)
  run("btrfs subvolume create '%s/sub'", point)
  run("touch '%s/sub/f'", point)
  for _, path in ipairs { point, point .. "/sub", point .. "/sub/f" } do
    local found = device.of_path(path)
    local names = {}
    for i, disk in ipairs(found.disks) do names[i] = disk.node end
    lu.assertItemsEquals(names, { one, two })
    lu.assertNil(found.single)
    lu.assertEquals(found.kind, "block")
  end
end

function suite.test_overlay_tmpfs_ramfs_proc()
  shell.need_root()
  local place <close> = shell.place()
  run("cd '%s' && mkdir l u w", place.path)
  local layers = ("lowerdir='%s/l',upperdir='%s/u',workdir='%s/w'"):gsub("%%s", place.path)
  local point = place:mount("o", "-t overlay -o " .. layers .. " /dev/vda")
  lu.assertStrContains(assert_none(point, "overlay").reason, "stacks")
  assert_none(place:mount("t", "-t tmpfs t"), "tmpfs")
  assert_none(place:mount("r", "-t ramfs r"), "ramfs")
  assert_none("/proc/self/status", "proc")
end

function suite.test_partition_has_the_unit_of_its_disk()
  shell.need_root()
  local place <close> = shell.place()
  local node, file = place:loop("p.img", "16M", "-P")
  run("addpart %s 1 2048 8192", node)
  place:later("delpart %s 1", node)
  local number = run("cat /sys/class/block/%sp1/dev", name_of(node))
  local part = place.path .. "/part"
  run("mknod '%s' b %s", part, (number:gsub(":", " ")))
  local found = device.of_path(part)
  lu.assertEquals(found.single.kind, "partition")
  lu.assertEquals(found.single.partition, 1)
  lu.assertEquals(found.single.parent, name_of(node))
  lu.assertEquals(found.single.id, "loop:" .. file)
  lu.assertEquals(found.single.size_bytes, 8192 * 512)
  lu.assertEquals(found.single.start_bytes, 2048 * 512)
  local names = {}
  for _, link in ipairs(found.chain) do names[link.name] = true end
  lu.assertTrue(names[name_of(node)])
end

function suite.test_direct_loop_over_loop()
  shell.need_root()
  local place <close> = shell.place()
  local lower = place:loop("lower.img", "32M")
  run("mkfs.ext4 -q %s", lower)
  local point = place:mount("m", lower)
  run("truncate -s 8M '%s/upper.img'", point)
  local upper = run("losetup -f --show --direct-io=on '%s/upper.img'", point)
  place:later("losetup -d %s", upper)
  local found = device.of_path(upper)
  lu.assertTrue(found.single.loop.direct)
  lu.assertEquals(found.single.loop.below.single.node, lower)
  lu.assertEquals(found.chain[2].name, name_of(lower))
  lu.assertStrContains(conditions.sync_meaning(found), "past the page cache; there: ")
end

function suite.test_what_is_refused()
  local found, err = device.try_of_path("/no/such/path")
  lu.assertNil(found)
  lu.assertEquals(err.code, "ENOENT")
  lu.assertEquals(err.path, "/no/such/path")
  lu.assertErrorMsgContains("NUL", device.of_path, "/tmp\0/x")
  lu.assertErrorMsgContains("empty", device.of_path, "")
end

function suite.test_conditions_without_a_path()
  local c = conditions.collect()
  lu.assertEquals(c.kernel, run("uname -r"))
  lu.assertEquals(c.machine, run("uname -m"))
  lu.assertEquals(c.boot_id, run("cat /proc/sys/kernel/random/boot_id"))
  lu.assertEquals(math.type(c.cpus), "integer")
  lu.assertTrue(c.memory_bytes > 0)
  lu.assertNil(c.device)
  local celsius = conditions.temperature()
  lu.assertTrue(celsius == nil or type(celsius) == "number")
  lu.assertStrContains(conditions.collect("/no/such/path").device, "ENOENT")
end

return suite
