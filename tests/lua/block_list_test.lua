-- SPDX-License-Identifier: MIT
--- The list of block devices against what lsblk says of real ones.

local dkjson = require("dkjson")
local lu = require("luaunit")
local block_list = require("storlua.block_list")
local block_record = require("storlua.block_record")
local device_table = require("storlua.device.table")
local event = require("storlua.event")
local fs = require("storlua.fs")
local shell = require("shell")

local run = shell.run

local function name_of(node) return node:match("[^/]+$") end

local function by_name(blocks)
  local map = {}
  for _, block in ipairs(blocks) do map[block.name] = block end
  return map
end

-- lsblk's devices by name, of all levels.
local function lsblk()
  local map = {}
  local function take(list)
    for _, entry in ipairs(list or {}) do
      map[entry.name] = entry
      take(entry.children)
    end
  end
  take(dkjson.decode(run("lsblk -O -J -b -a 2>/dev/null")).blockdevices)
  return map
end

-- What lsblk calls our kinds.
local LSBLK_TYPE = { partition = "part", zram = "disk" }

local function whole(value) return math.tointeger(tonumber(value)) end

-- The elements of a list that may begin with null.
local function values(list)
  local out = {}
  for _, value in pairs(list or {}) do out[#out + 1] = value end
  return out
end

local function flag(value) return value == true or value == "1" end

-- lsblk asks udev what is on a device, which is not everywhere; blkid looks.
local function probe(node)
  local fields = {}
  for line in run("blkid -p -o export %s || true", node):gmatch("[^\n]+") do
    local name, value = line:match("^([^=]+)=(.*)$")
    -- it escapes what a shell would take apart, and shows é as M-CM-)
    if name then
      fields[name] = value:gsub("\\(.)", "%1"):gsub("M%-(.)", function(c)
        return string.char(c:byte() + 128)
      end)
    end
  end
  return fields
end

-- Every field lsblk has too.
---@param not_ours? boolean others use it, and it may not be opened
local function assert_same(block, entry, not_ours)
  local content, space = block.content, block.space or {}
  local theirs = not not_ours and probe(block.node) or nil
  local pairs_of = {
    number = { block.number, entry["maj:min"] }, size = { block.size_bytes, entry.size },
    node = { block.node, entry.path }, parent = { block.parent, entry.pkname },
    read_only = { block.read_only, flag(entry.ro) },
    removable = { block.removable, flag(entry.rm) },
    rotational = { block.rotational, flag(entry.rota) },
    scheduler = { block.scheduler, entry.sched },
    logical = { block.logical_block_bytes, entry["log-sec"] },
    physical = { block.physical_block_bytes, entry["phy-sec"] },
    minimum = { block.minimum_io_bytes, entry["min-io"] },
    optimal = { block.optimal_io_bytes, entry["opt-io"] },
    alignment = { block.alignment_bytes, entry.alignment },
    discard = { block.discard_max_bytes, entry["disc-max"] },
    granularity = { block.discard_granularity_bytes, entry["disc-gran"] },
    ahead = { block.read_ahead_bytes // 1024, entry.ra },
    requests = { block.queue_requests, entry["rq-size"] },
    zoned = { block.zoned, entry.zoned },
    name = { block.name, entry.kname },
    kind = { LSBLK_TYPE[block.kind] or block.kind, entry.type },
    start = { block.start_bytes and block.start_bytes // 512, whole(entry.start) },
    vendor = { block.vendor, entry.vendor }, model = { block.model, entry.model },
    firmware = { block.firmware, entry.rev },
    total = { space.total_bytes, whole(entry.fssize) },
  }
  for field, tag in pairs(theirs and { type = "TYPE", uuid = "UUID", label = "LABEL",
    table = "PTTYPE", usage = "USAGE", partition_uuid = "PART_ENTRY_UUID",
    partition_label = "PART_ENTRY_NAME" } or {}) do
    pairs_of["content." .. field] = { content[field], theirs[tag] }
  end
  if theirs then -- nobody else writes to it
    pairs_of.used = { space.used_bytes, whole(entry.fsused) }
    pairs_of.available = { space.available_bytes, whole(entry.fsavail) }
  end
  for field, pair in pairs(pairs_of) do
    lu.assertEquals(pair[1], pair[2], block.name .. " " .. field)
  end
  local points, roots = {}, {}
  for _, mount in ipairs(block.mounts) do
    points[#points + 1], roots[#roots + 1] = mount.point, mount.root
  end
  if block.swap then points[#points + 1] = "[SWAP]" end
  lu.assertItemsEquals(points, values(entry.mountpoints), block.name)
  lu.assertItemsEquals(roots, values(entry.fsroots), block.name)
end

local suite = {}

function suite.test_file_systems_and_swap()
  shell.need_root()
  local place <close> = shell.place()
  local nodes = {
    ext4 = place:loop("e", "32M", "-b 4096"), xfs = place:loop("x", "320M"),
    btrfs = place:loop("b", "128M"), swap = place:loop("s", "8M"), none = place:loop("n", "3T"),
  }
  run("mkfs.ext4 -q -L 'my \"label\" \xc3\xa9' %s", nodes.ext4)
  run("mkfs.xfs -q -L xlabel %s && mkfs.btrfs -q -L blabel %s && mkswap -L slabel %s", nodes.xfs,
    nodes.btrfs, nodes.swap)
  local points = {}
  for _, kind in ipairs { "ext4", "xfs", "btrfs" } do
    points[kind] = place:mount("m " .. kind, nodes[kind])
  end
  run("swapon %s", nodes.swap)
  place:later("swapoff %s", nodes.swap)
  local blocks, theirs = by_name(block_list.read()), lsblk()
  for kind, node in pairs(nodes) do
    local block = blocks[name_of(node)]
    assert_same(block, theirs[block.name])
    lu.assertEquals(block.kind, "loop")
    lu.assertEquals(block.content.type, kind ~= "none" and kind or nil)
    lu.assertTrue(block.content.known)
    lu.assertEquals(block.id, "loop:" .. block.loop.backing_path)
  end
  local ext4 = blocks[name_of(nodes.ext4)]
  lu.assertEquals(ext4.content.label, "my \"label\" \xc3\xa9")
  lu.assertEquals(ext4.logical_block_bytes, 4096)
  lu.assertEquals(ext4.mounts[1].point, points.ext4)
  lu.assertTrue(ext4.mounts[1].reachable)
  lu.assertEquals(ext4.uses, { ("is mounted on %s (ext4)"):format(points.ext4) })
  lu.assertEquals(blocks[name_of(nodes.none)].size_bytes, 3 << 40)
  lu.assertTrue(blocks[name_of(nodes.swap)].swap.size_bytes > 7 << 20)
end

function suite.test_partitions()
  shell.need_root()
  local place <close> = shell.place()
  local node = place:loop("p", "32M", "-P")
  do -- a table with the id 12345678 and a Linux partition
    local disk <close> = assert(io.open(node, "r+b"))
    disk:seek("set", 440)
    assert(disk:write(string.pack("<I4I2", 0x12345678, 0), "\0\0\0\0\x83\0\0\0",
      string.pack("<I4I4", 2048, 32768), ("\0"):rep(48), "\x55\xaa"))
  end
  run("addpart %s 1 2048 32768", node)
  place:later("delpart %s 1", node)
  local blocks, theirs = block_list.read(), lsblk()
  local part = by_name(blocks)[name_of(node) .. "p1"]
  lu.assertEquals(part.kind, "partition")
  lu.assertEquals(part.parent, name_of(node))
  lu.assertEquals(part.start_bytes, 1 << 20)
  lu.assertEquals(part.content.partition_uuid, "12345678-01")
  assert_same(part, theirs[part.name])
  assert_same(by_name(blocks)[part.parent], theirs[part.parent])
  for _, root in ipairs(block_list.tree(blocks)) do
    lu.assertNotEquals(root.block.name, part.name)
    if root.block.name == part.parent then
      lu.assertEquals(root.children[1].block.name, part.name)
    end
  end
  lu.assertEquals(block_list.find(blocks, part.number), part)
  lu.assertEquals(block_list.find(blocks, node).name, name_of(node))
  lu.assertEquals(block_list.find(blocks, "loop:" .. place.path .. "/p").name, name_of(node))
  lu.assertErrorMsgContains("did you mean", block_list.find, blocks, part.name .. "x")
end

-- The disk of this machine, which lsblk knows without udev too.
function suite.test_the_root_disk()
  shell.need_root()
  local name = run("findmnt -no SOURCE /"):match("^/dev/(.+)$")
  local theirs = name and lsblk()[name]
  if not theirs then lu.skip("the root file system lies on no block device") end
  -- Other tests mount and unmount beside this one: equal once is equal.
  local ok, err
  for _ = 1, 10 do
    ok, err = pcall(assert_same, by_name(block_list.read())[name], lsblk()[name], true)
    if ok then return end
  end
  error(err, 0)
end

-- One file system in three places, one of them covered.
function suite.test_bind_mounts_and_overmount()
  shell.need_root()
  local place <close> = shell.place()
  local node = place:loop("img", "16M")
  run("mkfs.ext4 -q %s", node)
  local a = place:mount("a", node)
  run("mkdir '%s/sub' && touch '%s/sub/f' '%s/c'", a, a, place.path)
  local b = place:mount("b", ("--bind '%s/sub'"):format(a))
  run("mount --bind '%s/sub/f' '%s/c'", a, place.path)
  place:later("umount '%s/c'", place.path)
  run("mount -t tmpfs over '%s'", a)
  place:later("umount '%s'", a)
  local block = by_name(block_list.read())[name_of(node)]
  local seen = {}
  for _, mount in ipairs(block.mounts) do seen[mount.point] = { mount.root, mount.reachable } end
  lu.assertEquals(seen, {
    [a] = { "/", false }, [b] = { "/sub", true }, [place.path .. "/c"] = { "/sub/f", true },
  })
  -- Of the file system, not of the tmpfs over it.
  lu.assertTrue(block.space.total_bytes < 16 << 20)
  lu.assertStrContains(device_table.text { block }, a .. " (covered)")
end

function suite.test_loops_deleted_and_stacked()
  shell.need_root()
  local place <close> = shell.place()
  local gone, file = place:loop("a b.img", "1M")
  local named = place:loop("x (deleted)", "1M", "-r")
  local upper = run("losetup -f --show %s", gone)
  place:later("losetup -d %s", upper)
  run("rm '%s'", file)
  local blocks = by_name(block_list.read())
  local block = blocks[name_of(gone)]
  lu.assertTrue(block.loop.deleted)
  lu.assertEquals(block.holders, { name_of(upper) })
  lu.assertEquals(block.uses, { "lies behind " .. name_of(upper) })
  lu.assertEquals(blocks[name_of(upper)].slaves, { block.number })
  lu.assertFalse(blocks[name_of(named)].loop.deleted)
  lu.assertTrue(blocks[name_of(named)].read_only)
end

function suite.test_zram()
  shell.need_root()
  if not fs.exists("/sys/block/zram0") then lu.skip("no zram") end
  if run("cat /sys/block/zram0/disksize") ~= "0" then lu.skip("zram0 is in use") end
  local place <close> = shell.place()
  run("echo 8M > /sys/block/zram0/disksize")
  place:later("echo 1 > /sys/block/zram0/reset")
  run("mkswap /dev/zram0 && swapon /dev/zram0")
  place:later("swapoff /dev/zram0")
  local block = by_name(block_list.read()).zram0
  assert_same(block, lsblk().zram0)
  lu.assertEquals(block.kind, "zram")
  lu.assertEquals(block.id, "zram:0")
  lu.assertNotNil(block.swap)
end

-- The same keys for every device, unknown as null, each of one type.
function suite.test_record_has_fixed_types()
  local keys, types
  for _, block in ipairs(block_list.read()) do
    local record = block_record.of(block)
    local text = event.encode(record)
    local back = assert(dkjson.decode(text, 1, dkjson.null))
    local names = {}
    for name, value in pairs(back) do
      names[#names + 1] = name
      local kind = value == dkjson.null and "null" or math.type(value) or type(value)
      types = types or {}
      if kind ~= "null" then
        lu.assertEquals(kind, types[name] or kind, block.name .. " " .. name)
        types[name] = kind
      end
    end
    table.sort(names)
    keys = keys or names
    lu.assertEquals(names, keys)
  end
end

return suite
