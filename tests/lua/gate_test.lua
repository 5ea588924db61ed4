-- SPDX-License-Identifier: MIT
--- The safety gate on real loop devices: every way to name a device that is in
--- use is refused, and a grant holds the device alone.

local lu = require("luaunit")
local errors = require("storlua.errors")
local gate = require("storlua.gate")
local process = require("storlua.process")
local shell = require("shell")
local workload = require("storlua.workload")

local run = shell.run

local function name_of(node) return node:match("[^/]+$") end

local function number_of(node)
  return (run("cat /sys/class/block/%s/dev", name_of(node)))
end

-- Refused, with this reason among the others, whatever is consented to.
local function assert_refused(path, code, text, options)
  local grant, err = gate.try_open(path, options)
  lu.assertNil(grant, path)
  lu.assertEquals(err.code, "REFUSED", err.message)
  local found = false
  for _, reason in ipairs(err.reasons) do
    if reason.code == code and reason.text:find(text or "", 1, true) then found = true end
  end
  lu.assertTrue(found, ("no reason %s %s in: %s"):format(code, text, err.message))
  return err
end

local function agree(file) return { consents = { "loop:" .. file } } end

local suite = {}

function suite.test_grant_and_its_end()
  shell.need_root()
  local place <close> = shell.place()
  local node, file = place:loop("a b.img", "8M")
  local write = { path = node, operation = "write", record_bytes = "64k" }
  local ok, err = pcall(workload.run, write)
  lu.assertFalse(ok)
  lu.assertEquals(errors.is(err) and err.code, "REFUSED", tostring(err))
  do
    local grant <close> = gate.open(node, agree(file))
    lu.assertEquals(grant.id, "loop:" .. file)
    lu.assertEquals(grant.disk.name, name_of(node))
    local result = workload.run(write)
    lu.assertEquals(result["end"], "complete")
    lu.assertEquals(result.write.bytes, 8 << 20)
    -- Nobody else gets it meanwhile.
    assert_refused(node, "busy", "unknown holder", agree(file))
    lu.assertFalse((pcall(run, "mkfs.ext4 -q -F %s", node)))
  end
  lu.assertFalse((pcall(workload.run, write)))
  local again = gate.open(node, { consents = { "mmc:00", "loop:" .. file } })
  again:close()
  again:close()
end

function suite.test_consent_names_the_unit()
  shell.need_root()
  local place <close> = shell.place()
  local node, file = place:loop("img", "1M")
  local err = assert_refused(node, "consent", "--destroy 'loop:" .. file .. "'")
  lu.assertEquals(err.id, "loop:" .. file)
  lu.assertStrContains(err.message, "refused to write to " .. node)
  assert_refused(node, "consent", "names loop:/other", agree("/other"))
  assert_refused(node, "consent", "names", { consents = { node } })
  assert_refused(node, "consent", "names", { consents = { "loop:" .. file .. "/" } })
end

function suite.test_a_link_by_id_is_an_alias()
  shell.need_root()
  local place <close> = shell.place()
  local node = place:loop("img", "1M")
  local link = ("/dev/disk/by-id/storlua-test-%s"):format(name_of(node))
  run("mkdir -p /dev/disk/by-id && ln -s %s %s", node, link)
  place:later("rm %s", link)
  gate.open(node, { consents = { link } }):close()
  gate.open(link, { consents = { link } }):close()
  assert_refused(node, "consent", "names",
    { consents = { "/dev/disk/by-id/../../" .. name_of(node) } })
end

function suite.test_partitions_without_a_table_are_looked_into()
  shell.need_root()
  local place <close> = shell.place()
  local node, file = place:loop("img", "16M")
  run("addpart %s 1 2048 8192 && addpart %s 2 10240 8192", node, node)
  gate.open(node, agree(file)):close()
  local part = node .. "p2"
  run("test -b %s || { mknod %s b $(tr : ' ' < /sys/class/block/%s/dev); }", part, part,
    name_of(part))
  place:later("rm -f %s", part)
  place:later("delpart %s 1; delpart %s 2", node, node)
  run("mkfs.ext4 -q -L keep %s", part)
  local err = assert_refused(node, "signature", "its partition " .. name_of(part)
    .. " holds ext4; --force-signature overwrites it", agree(file))
  lu.assertEquals(err.losses, { name_of(part) .. ': ext4 "keep"' })
  gate.open(node .. "p1", agree(file)):close()
  gate.open(node, { consents = { "loop:" .. file }, force_signature = true }):close()
end

function suite.test_lava_names_the_device()
  shell.need_root()
  local place <close> = shell.place()
  local node = place:loop("img", "1M")
  local link = ("/dev/disk/by-id/storlua-lava-%s"):format(name_of(node))
  run("mkdir -p /dev/disk/by-id && ln -s %s %s", node, link)
  place:later("rm %s", link)
  local tool <close> = assert(io.open(place.path .. "/lava-target-storage", "w"))
  tool:write("#!/bin/sh\n[ ${1:-USB} = USB ] && printf 'USB\\t", link, "\\n'\n")
  tool:close()
  run("chmod +x '%s/lava-target-storage'", place.path)
  local code = [[
    local gate = require("storlua.gate")
    local node = ...
    local function ask(consent)
      local grant, err = gate.try_open(node, { consents = { consent } })
      if grant then grant:close() end
      print(err and err.code or grant.id)
    end
    ask("lava-target-storage")
    ask("lava-target-storage:USB")
    ask("lava-target-storage:SATA")
  ]]
  local result = process.run {
    os.getenv("STORLUA"), "-e", code, node,
    env = { PATH = place.path .. ":" .. os.getenv("PATH") },
  }
  lu.assertEquals(result.stdout, ("loop:%s/img\nloop:%s/img\nUSAGE\n")
    :format(place.path, place.path))
end

function suite.test_every_name_of_a_mounted_device()
  shell.need_root()
  local place <close> = shell.place()
  local node, file = place:loop("img", "16M")
  run("mkfs.ext4 -q -L 'my data' %s", node)
  local point = place:mount("m nt", "-t ext4 " .. node)
  local names = { node }
  local function name(format, ...)
    names[#names + 1] = format:format(...)
    return names[#names]
  end
  run("ln -s %s '%s'", node, name("%s/link", place.path))
  run("mknod '%s' b %s", name("%s/other node", place.path), (number_of(node):gsub(":", " ")))
  run("mkdir -p /dev/disk/by-label")
  run("ln -s ../../%s '%s'", name_of(node), name("/dev/disk/by-label/storlua-%s", name_of(node)))
  place:later("rm /dev/disk/by-label/storlua-%s", name_of(node))
  name("../../../../../../../../..%s", node)
  name("/dev/./%s", name_of(node))
  local _ <close> = assert(io.open(node, "r"))
  for fd = 3, 100 do
    local ok, target = pcall(run, "readlink /proc/$PPID/fd/%d", fd)
    if ok and target == node then name("/proc/self/fd/%d", fd) end
  end
  lu.assertNotNil(names[#names]:find("/proc/self", 1, true))
  for _, path in ipairs(names) do
    local err = assert_refused(path, "mounted", point,
      { consents = { "loop:" .. file }, force_signature = true })
    lu.assertStrContains(err.losses[1], "ext4 \"my data\"")
  end
  assert_refused(file, "loop", name_of(node))
  run("echo x > '%s/f'; mount --bind '%s' '%s'", point, point, point)
  place:later("umount '%s'", point)
  assert_refused(node, "mounted", point)
end

function suite.test_parent_partition_and_sibling()
  shell.need_root()
  local place <close> = shell.place()
  local node, file = place:loop("img", "32M", "-P")
  run("addpart %s 1 2048 32768 && addpart %s 2 34816 16384", node, node)
  place:later("delpart %s 1; delpart %s 2", node, node)
  local parts = {}
  for i = 1, 2 do
    parts[i] = ("%s/p%d"):format(place.path, i)
    run("mknod %s b %s", parts[i], (run("cat /sys/class/block/%sp%d/dev", name_of(node), i)
      :gsub(":", " ")))
  end
  run("mkfs.ext4 -q %s", parts[1])
  place:mount("m", parts[1])
  assert_refused(node, "mounted", name_of(node) .. "p1 is mounted", agree(file))
  assert_refused(parts[1], "mounted", "p1 is mounted", agree(file))
  local grant <close> = gate.open(parts[2], agree(file))
  lu.assertEquals(grant.disk.partition, 2)
  lu.assertFalse((pcall(workload.run, { path = node, operation = "write", record_bytes = 4096 })))
  lu.assertEquals(workload.run { path = parts[2], operation = "write", record_bytes = "64k" }
    .write.bytes, 8 << 20)
end

function suite.test_members_journals_logs()
  shell.need_root()
  local place <close> = shell.place()
  local one, file1 = place:loop("1", "256M")
  local two, file2 = place:loop("2", "256M")
  run("mkfs.btrfs -q %s %s", one, two)
  place:mount("b", one)
  assert_refused(one, "mounted", "(btrfs)", agree(file1))
  assert_refused(two, "mounted", "(btrfs)", agree(file2))
  local data, file3 = place:loop("3", "32M")
  local journal, file4 = place:loop("4", "32M")
  run("mke2fs -q -O journal_dev -b 4096 %s", journal)
  run("mkfs.ext4 -q -b 4096 -J device=%s %s", journal, data)
  place:mount("e", data)
  assert_refused(data, "mounted", "(ext4)", agree(file3))
  assert_refused(journal, "mounted", "journal", agree(file4))
  local xfs, file5 = place:loop("5", "320M")
  local log, file6 = place:loop("6", "80M")
  run("mkfs.xfs -q -l logdev=%s %s", log, xfs)
  place:mount("x", ("-o logdev=%s %s"):format(log, xfs))
  assert_refused(xfs, "mounted", "(xfs)", agree(file5))
  assert_refused(log, "mounted", "log of the file system", agree(file6))
end

function suite.test_swap_loop_over_loop_twin()
  shell.need_root()
  local place <close> = shell.place()
  local swap, file1 = place:loop("1", "8M")
  run("mkswap %s && chmod 600 '%s' && swapon %s", swap, file1, swap)
  place:later("swapoff %s", swap)
  assert_refused(swap, "swap", "is swap in use", agree(file1))
  local lower, file2 = place:loop("2", "16M")
  run("mkfs.ext4 -q %s", lower)
  local upper = run("losetup -f --show %s", lower)
  place:later("losetup -d %s", upper)
  local point = place:mount("m", upper)
  assert_refused(lower, "loop", "lies behind " .. name_of(upper), agree(file2))
  assert_refused(lower, "loop", "which is mounted on " .. point, agree(file2))
  local twin = run("losetup -f --show '%s'", file1)
  place:later("losetup -d %s", twin)
  assert_refused(twin, "loop", "behind the loop device " .. name_of(swap), agree(file1))
end

function suite.test_signatures_read_only_empty_and_others()
  shell.need_root()
  local place <close> = shell.place()
  local node, file = place:loop("img", "16M")
  run("mkfs.ext4 -q -L old %s", node)
  local err = assert_refused(node, "signature", "ext4, label old", agree(file))
  lu.assertStrContains(err.message, "--force-signature")
  gate.open(node, { consents = { "loop:" .. file }, force_signature = true }):close()
  -- It would outlive the loop device and meet the next one of this number.
  place:later("blockdev --setrw %s", node)
  run("blockdev --setro %s", node)
  assert_refused(node, "read_only", nil, agree(file))
  run("blockdev --setrw %s", node)
  run("wipefs -qa %s", node)
  gate.open(node, agree(file)):close()
  local writer <close> = process.start {
    "sh", "-c", "exec 9<>" .. node .. "; echo ready; exec sleep 60",
  }
  lu.assertEquals(writer:read_line(5), "ready")
  assert_refused(node, "busy", "has it open for writing", agree(file))

  for path, code in pairs { ["/dev/null"] = "ENOTBLK", ["/dev/storlua none"] = "ENOENT",
    [place.path] = "ENOTBLK", [file .. "x"] = "ENOENT" } do
    local grant, e = gate.try_open(path)
    lu.assertNil(grant)
    lu.assertEquals(e.code, code, path)
  end
  lu.assertFalse((pcall(run, "test -e '/dev/storlua none'")))
  lu.assertErrorMsgContains("NUL", gate.open, "/dev/loop0\0x")
end

function suite.test_the_root_device()
  local root = require("storlua.device").of_path("/").single
  if not root or not root.node then lu.skip("/ is not on one device with a node") end
  assert_refused(root.node, "mounted", "/")
end

return suite
