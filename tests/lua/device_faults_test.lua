-- SPDX-License-Identifier: MIT
--- Devices and file systems that go away or forbid things, and offsets where
--- 32-bit arithmetic ends.

local cli_run = require("cli_run")
local disk = require("disk")
local fs = require("storlua.fs")
local gate = require("storlua.gate")
local lu = require("luaunit")
local process = require("storlua.process")
local shell = require("shell")
local task = require("storlua.task")
local throttle = require("throttle")
local workload = require("storlua.workload")

local suite = {}

local TIB = 1 << 40

-- Cuts the connection of a FUSE file system, as a crashed server does.
local function abort_fuse(place, path)
  local control = place:mount("fusectl", "-t fusectl fusectl")
  local connection = shell.run("stat -c %%d '%s'", path)
  shell.run("echo 1 > '%s/%s/abort'", control, connection)
end

function suite.test_a_fuse_file_system_is_aborted_in_mid_run()
  local fault <close> = disk.fault()
  local place <close> = shell.place()
  local path = fault.path .. "/f"
  shell.run("head -c 1M /dev/zero > '%s'", path)
  fault:tell("slow read 20")
  local handle <close> = workload.start { path = path, operation = "read", record_bytes = 4096,
    limit_seconds = 30, continue_on_error = false }
  disk.wait_until(10, "some reads are done", function() return handle:progress().operations > 3 end)
  abort_fuse(place, fault.path)
  local r = handle:wait()
  lu.assertEquals(r["end"], "error")
  lu.assertTrue(r.error.code == "ECONNABORTED" or r.error.code == "ENOTCONN", r.error.message)
  lu.assertEquals({ r.errors[1].op, r.error.path }, { "read", path })
  lu.assertTrue(r.read.operations > 3)
  lu.assertEquals(r.read.bytes, r.read.operations * 4096)
end

-- What detaches a loop device that is open only marks it; it goes with the
-- last one who has it open.
function suite.test_a_loop_device_is_detached_in_mid_run()
  shell.need_root()
  local place <close> = shell.place()
  local node, file = place:loop("img", "8M")
  local sysfs = "/sys/class/block/" .. node:match("[^/]+$") .. "/loop"
  do
    local grant <close> = gate.open(node, { consents = { "loop:" .. file } })
    lu.assertEquals(grant.id, "loop:" .. file)
    local handle <close> = workload.start { path = node, operation = "write", direct = true,
      record_bytes = 4096, limit_seconds = 1, order = "random" }
    disk.wait_until(10, "some writes are done", function()
      return handle:progress().operations > 3
    end)
    shell.run("losetup -d %s", node)
    table.remove(place.undo)
    local r = handle:wait()
    lu.assertEquals({ r["end"], r.errors_total }, { "complete", 0 })
    lu.assertTrue(fs.exists(sysfs))
  end
  disk.wait_until(10, "it is gone", function() return not fs.exists(sysfs) end)
  local again, err = workload.try_run { path = node, operation = "write", record_bytes = 4096,
    limit_records = 1 }
  lu.assertNil(again)
  lu.assertEquals(err.code, "REFUSED")
end

function suite.test_stamps_around_the_ends_of_32_bits()
  shell.need_root()
  local place <close> = shell.place()
  for _, options in ipairs { "", "-b 4096" } do
    local node, file = place:loop("img" .. #options, "3T", options)
    local grant <close> = gate.open(node, { consents = { "loop:" .. file } })
    lu.assertEquals(grant.disk.size_bytes, 3 * TIB)
    for _, at in ipairs { (1 << 31) - 4096, 1 << 31, (1 << 32) - 4096, 1 << 32, 2 * TIB - 4096,
                          2 * TIB, 3 * TIB - 4096 } do
      local given = { path = node, operation = "write", record_bytes = 4096, range_offset = at,
                      range_bytes = 4096, direct = true, stamp = true, flush = "end",
                      run_id = 7, generation = 3 }
      lu.assertEquals(workload.run(given).write.bytes, 4096)
    end
    for _, at in ipairs { (1 << 31) - 4096, 1 << 31, (1 << 32) - 4096, 1 << 32, 2 * TIB - 4096,
                          2 * TIB, 3 * TIB - 4096 } do
      local r = workload.run { path = node, operation = "read", record_bytes = 4096,
        range_offset = at, range_bytes = 4096, direct = true, verify = true, run_id = 7,
        generation = 3 }
      lu.assertEquals({ r.verify.sectors, r.verify.bad_sectors }, { 8, 0 }, ("%d"):format(at))
    end
  end
end

-- Fast while a cache lasts, then slow: the mean is a rate that never was.
function suite.test_a_cliff_shows()
  shell.need_root()
  local place <close> = shell.place()
  local node, file = place:loop("img", "64M", "--direct-io=on")
  local group <close> = throttle.device(node, 40 << 20)
  local dir = place.path .. "/run"
  local scope <close> = task.scope()
  local result
  scope:spawn("dd", function()
    result = process.try_run(group.wrap { cli_run.program, "-q", "--output", dir, "--destroy",
      "loop:" .. file, "dd.lua", "if=/dev/zero", "of=" .. node, "bs=64k", "oflag=direct" })
  end)
  disk.wait_until(10, "the write begins", function()
    local _, written = fs.read("/sys/class/block/" .. node:match("[^/]+$") .. "/stat")
      :match("^(%s*%d+%s+%d+%s+%d+%s+%d+%s+%d+%s+%d+%s+)(%d+)")
    return written ~= "0"
  end)
  task.sleep(0.9)
  shell.run("echo '%s %d' > %s/blkio.throttle.write_bps_device",
    (shell.run("cat /sys/class/block/%s/dev", node:match("[^/]+$"))), 5 << 20, group.path)
  scope:join()
  lu.assertEquals(result.code, 0, result.stderr)
  local r, sum = cli_run.events_of(dir, "measure")[1].result, 0
  for _, bytes in ipairs(r.series.bytes) do sum = sum + bytes end
  lu.assertEquals(sum, 64 << 20)
  lu.assertTrue(r.series.bytes[1] > 15 << 20, r.series.bytes[1])
  lu.assertAlmostEquals(r.sustained_mib_s, 5, 1.5)
  lu.assertTrue(r.write.mib_s > 1.3 * r.sustained_mib_s, r.write.mib_s)
end

-- A command line in a name space of its own, after `prepare`.
local function in_sandbox(prepare, code)
  return process.try_run { "unshare", "-m", "sh", "-c", prepare .. " && exec \"$@\"", "sh",
                           cli_run.program, "-e", code }
end

local DROP_ALL = [[local r, e = require("storlua.cache").try_drop_all(3)
  print(r and "dropped" or e.code .. "|" .. e.message)]]

function suite.test_dropping_all_caches_is_not_permitted()
  shell.need_root()
  local container = in_sandbox("mount --bind /proc/sys /proc/sys && "
    .. "mount -o remount,ro,bind /proc/sys", DROP_ALL)
  lu.assertStrMatches(container.stdout, "EROFS|.*drop_caches.*\n")
  local user = process.try_run { "setpriv", "--reuid=65534", "--regid=65534", "--clear-groups",
    cli_run.program, "-e", DROP_ALL, cwd = "/tmp" }
  lu.assertStrMatches(user.stdout, "EACCES|.*drop_caches.*\n")
end

-- What is missing in /dev is missing: no regular file takes its place.
function suite.test_a_missing_device_is_not_made()
  local place <close> = disk.directory()
  local missing = "/dev/storlua-none"
  for _, argv in ipairs {
    { "rawblock.lua", "--target", missing, "--destroy", "loop:/x" },
    { "dd.lua", "if=/dev/zero", "of=" .. missing, "bs=1M", "count=1" },
    { "fio.lua", "--name=a", "--rw=write", "--size=1M", "--filename=" .. missing },
    { "iozone.lua", "-a", "-s", "64", "-f", missing },
  } do
    argv.cwd = place.path
    local result = cli_run.run(argv)
    lu.assertNotEquals(result.code, 0, argv[1])
    lu.assertStrContains(result.stdout .. result.stderr, missing)
    lu.assertFalse(fs.try_exists(missing) or false, argv[1])
  end
end

return suite
