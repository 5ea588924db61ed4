-- SPDX-License-Identifier: MIT
--- What a read is said to have come from, on real loop devices.

local cli_run = require("cli_run")
local lu = require("luaunit")
local medium = require("storlua.workload.medium")
local process = require("storlua.process")
local shell = require("shell")
local throttle = require("throttle")
local workload = require("storlua.workload")

local run = shell.run

local suite = {}

local function read(path, more)
  local given = { path = path, operation = "read", record_bytes = "256k" }
  for name, value in pairs(more or {}) do given[name] = value end
  return workload.run(given)
end

-- A loop device over a file that has all its blocks.
local function loop_of(place, name, options)
  local node, file = place:loop(name, "8M", options)
  run("head -c 8M /dev/urandom | dd of='%s' bs=1M conv=notrunc,fsync status=none", file)
  return node, file
end

function suite.test_a_cached_backing_file_is_not_claimed()
  shell.need_root()
  local place <close> = shell.place()
  local node = loop_of(place, "img")
  local r = read(node, { direct = true })
  lu.assertTrue(r.cache.cold)
  lu.assertNil(r.cache.from_medium)
  lu.assertStrMatches(r.cache.medium_reason,
    "loop%d+ reads its file through the page cache: 8388608 bytes were read, and .*counted %d+")
  lu.assertNotStrContains(table.concat(r.notes, " "), "not_from_medium")
end

function suite.test_a_direct_loop_device_is_counted_below()
  shell.need_root()
  local place <close> = shell.place()
  local node = loop_of(place, "img", "--direct-io=on")
  if run("losetup -nO DIO %s", node):match("%d") ~= "1" then lu.skip("no direct loop here") end
  lu.assertTrue(read(node, { direct = true }).cache.from_medium)
  local streams = read(node, { direct = true, streams = 2, range_bytes = "8M" })
  lu.assertTrue(streams.cache.from_medium)
  lu.assertNil(streams.streams[1].cache.from_medium)
  local warm
  local _ <close> = assert(io.open(node)) -- the last close drops its cache
  for _ = 1, 20 do -- other tests drop all caches
    run("cat %s >/dev/null", node)
    warm = read(node)
    if not warm.cache.cold then break end
  end
  lu.assertFalse(warm.cache.cold)
  lu.assertFalse(warm.cache.from_medium)
  lu.assertStrContains(warm.cache.medium_reason, "were in the page cache")
end

function suite.test_memory_is_no_medium()
  local path = run("mktemp /dev/shm/storlua_test.XXXXXX")
  run("head -c 1M /dev/urandom >%s", path)
  local r = read(path)
  os.remove(path)
  lu.assertFalse(r.cache.from_medium)
  lu.assertStrContains(r.cache.medium_reason, "memory")
  shell.need_root()
  local place <close> = shell.place()
  local point = place:mount("ram", "-t tmpfs tmpfs")
  run("head -c 8M /dev/urandom >'%s/img'", point)
  local node = run("losetup -f --show '%s/img'", point)
  place:later("losetup -d %s", node)
  r = read(node, { direct = true })
  lu.assertFalse(r.cache.from_medium)
  lu.assertNotStrContains(table.concat(r.notes, " "), "not_from_medium") -- there is none
end

function suite.test_holes_of_a_backing_file_are_not_blamed()
  shell.need_root()
  local place <close> = shell.place()
  local node = place:loop("img", "8M", "--direct-io=on")
  if run("losetup -nO DIO %s", node):match("%d") ~= "1" then lu.skip("no direct loop here") end
  for _ = 1, 20 do -- others read the disk below at the same time
    local r = read(node, { direct = true })
    if not r.cache.from_medium then
      lu.assertNil(r.cache.from_medium)
      return lu.assertStrContains(r.cache.medium_reason, "may have holes")
    end
  end
  lu.fail("the disk below was read all the time")
end

-- A disk that nobody else reads: a loop device, taken for one.
function suite.test_fewer_counted_bytes_are_a_cache()
  shell.need_root()
  local place <close> = shell.place()
  local node = loop_of(place, "img")
  local disk = { name = "disk", kind = "disk",
                 number = run("lsblk -dno MAJ:MIN %s", node):gsub("%s", "") }
  local function judge(claimed, resident)
    local counting = medium.start { single = disk, disks = { disk } }
    read(node, { direct = true, limit_bytes = "1M" })
    local r = { read = { bytes = claimed }, notes = {}, target = { direct = true },
                cache = { cold = true, resident_before_bytes = resident } }
    counting:judge(r)
    return r.cache.from_medium, r.cache.medium_reason, r.notes[1]
  end
  lu.assertEquals({ judge(1 << 20) }, { true })
  lu.assertEquals({ judge(1 << 20, 4096) }, { true }) -- direct I/O passed them by
  lu.assertEquals({ judge(2 << 20) },
    { false, "2097152 bytes were read, and disk counted 1048576", "not_from_medium" })
  local from, why = judge(0)
  lu.assertEquals({ from, why }, { nil, "nothing was read" })
  disk.number = "9:99"
  from, why = judge(1 << 20)
  lu.assertNil(from)
  lu.assertStrContains(why, "9:99")
end

function suite.test_a_throttled_disk()
  shell.need_root()
  local place <close> = shell.place()
  local node = loop_of(place, "img", "--direct-io=on")
  local group <close> = throttle.device(node, 2 << 20)
  run("mkfs.ext4 -q %s", node)
  local point = place:mount("m", node)
  run("head -c 4M /dev/urandom >'%s/f'; sync '%s/f'", point, point)
  for i, operand in ipairs { "iflag=direct", "--cold", "status=none" } do
    local dir = ("%s/run%d"):format(place.path, i)
    local result = process.run(group.wrap { cli_run.program, "--output", dir, "dd.lua",
      "if=" .. point .. "/f", "of=/dev/null", "bs=256k", operand })
    lu.assertEquals(result.code, 0, result.stderr)
    local r = cli_run.events_of(dir, "measure")[1].result
    local rate = r.read.bytes / (r.total_ns / 1e9)
    if operand == "status=none" then
      lu.assertFalse(r.cache.from_medium)
      lu.assertStrContains(r.cache.medium_reason, "page cache")
    else
      lu.assertTrue(rate < 1.35 * (2 << 20), ("%s: %.0f bytes/s"):format(operand, rate))
      lu.assertTrue(r.cache.from_medium, r.cache.medium_reason)
    end
  end
end

return suite
