-- SPDX-License-Identifier: MIT
--- Lines of dd as people have them in their articles, run as they stand.

local cli_run = require("cli_run")
local disk = require("disk")
local fs = require("storlua.fs")
local lu = require("luaunit")
local process = require("storlua.process")
local throttle = require("throttle")

local suite = {}

local number = 0
local function dd(place, line, first)
  number = number + 1
  local argv = { cwd = place.path, "-q", "--output", place.path .. "/run" .. number }
  for word in (first or ""):gmatch("%S+") do argv[#argv + 1] = word end
  argv[#argv + 1] = "dd.lua"
  for word in line:gmatch("%S+") do argv[#argv + 1] = word end
  local result = cli_run.run(argv)
  result.run = place.path .. "/run" .. number
  return result
end

local function assert_passed(result, ...)
  lu.assertEquals(result.code, 0, result.stdout .. result.stderr)
  for _, text in ipairs { ... } do lu.assertStrContains(result.stderr, text) end
end

function suite.test_the_article()
  local place <close> = disk.file_system("ext4")
  local line = "if=/dev/zero of=test bs=1M count=8 conv=fsync"
  local write = dd(place, line)
  assert_passed(write, "8+0 records in\n8+0 records out\n8388608 bytes (8.4 MB, 8.0 MiB) copied, ",
    "does not compress")
  lu.assertNotStrContains(write.stderr, "page cache")
  local r = cli_run.events_of(write.run, "measure")[1].result
  lu.assertEquals({ r.write.bytes, r.flush.count }, { 8 << 20, 1 })
  -- Again, on a file that is ours.
  assert_passed(dd(place, line))
  assert_passed(dd(place, line .. " oflag=direct"), "8+0 records out")
  local warm = dd(place, "if=test of=/dev/null bs=1M count=8 conv=fsync")
  assert_passed(warm, "it does nothing for a read")
  process.run { "cat", place.path .. "/test", stdout_path = "/dev/null" }
  warm = dd(place, "if=test of=/dev/null bs=1M count=8")
  assert_passed(warm, "8.4 MB of 8.4 MB were in the page cache: this line measures memory")
  assert_passed(dd(place, "if=test of=/dev/null bs=1M --cold"), "cold read")
  local direct = dd(place, "if=test of=/dev/null bs=1M iflag=direct")
  assert_passed(direct, "8+0 records in")
  lu.assertNotStrContains(direct.stderr, "were in the page cache")
  -- A target that is smaller than a block.
  assert_passed(dd(place, "if=test of=/dev/null bs=64M"), "0+1 records in", "8388608 bytes")
  -- Beyond the end there is less to read; a part of a block is counted apart.
  assert_passed(dd(place, "if=test of=/dev/null bs=3M count=99 skip=1"), "1+1 records in",
    "5242880 bytes")
end

function suite.test_a_write_that_measures_the_cache_says_so()
  local place <close> = disk.directory()
  assert_passed(dd(place, "if=/dev/zero of=x bs=64K count=4"),
    "nothing was flushed: this line measures the page cache")
  assert_passed(dd(place, "if=/dev/urandom of=x bs=64K count=4 oflag=dsync"), "/dev/urandom")
end

function suite.test_files_of_others_are_not_replaced()
  local place <close> = disk.directory()
  process.run { "sh", "-c", "echo precious >" .. place.path .. "/x" }
  local line = "if=/dev/zero of=x bs=4K count=2"
  local refused = dd(place, line)
  lu.assertEquals(refused.code, 2)
  lu.assertStrContains(refused.stderr, "storlua did not write")
  lu.assertEquals(process.run { "cat", place.path .. "/x" }.stdout, "precious\n")
  assert_passed(dd(place, line .. " --overwrite"))
  -- Now it is ours.
  assert_passed(dd(place, line))
  lu.assertEquals(dd(place, line .. " conv=excl").code, 2)
  lu.assertEquals(dd(place, "if=/dev/zero of=y bs=4K count=2 conv=nocreat").code, 2)
  lu.assertEquals(dd(place, "if=/dev/zero of=y bs=4K").code, 2)
  lu.assertNil(io.open(place.path .. "/y"))
end

function suite.test_a_line_that_cannot_run_touches_nothing()
  local place <close> = disk.file_system("ext2", { size = "8M" })
  local tmpfs <close> = disk.file_system("tmpfs")
  local function check(file, line, code, text)
    local refused = dd(place, ("if=/dev/zero of=%s %s --overwrite"):format(file, line))
    lu.assertEquals(refused.code, code, refused.stdout .. refused.stderr)
    lu.assertStrContains(refused.stdout .. refused.stderr, text)
  end
  for _, dir in ipairs { place.path, tmpfs.path } do
    process.run { "sh", "-c", "echo precious >" .. dir .. "/x" }
  end
  local function check_all(file)
    check(file, "bs=1000 count=5 oflag=direct", 2, "multiples of 512 bytes on " .. file)
    check(file, "bs=4k count=5000B oflag=direct", 2, "count= comes to 5000")
    check(file, "bs=4k count=1 seek=100B oflag=direct conv=notrunc", 2, "seek= comes to 100")
  end
  check_all("x")
  check_all("new")
  check(tmpfs.path .. "/x", "bs=4k count=5 oflag=direct", 1, "keeps data in memory")
  check(tmpfs.path .. "/new", "bs=4k count=5 oflag=direct", 1, "keeps data in memory")
  for _, dir in ipairs { place.path, tmpfs.path } do
    lu.assertEquals(process.run { "cat", dir .. "/x" }.stdout, "precious\n")
    lu.assertNil(io.open(dir .. "/new"))
  end
  assert_passed(dd(place, "if=/dev/zero of=x bs=1M count=512B oflag=direct --overwrite"))
  lu.assertEquals(dd(place, "if=x of=/dev/null bs=1000 iflag=direct").code, 2)
  process.run { "sh", "-c", "echo more >>" .. place.path .. "/x" }
  assert_passed(dd(place, "if=x of=/dev/null bs=512 count=9 iflag=direct"), "1+1 records in")
end

function suite.test_the_file_of_a_mounted_device()
  local mounted <close> = disk.file_system("ext2", { size = "8M" })
  local place <close> = disk.directory()
  process.run { "ln", "-s", mounted.backing, place.path .. "/soft" }
  process.run { "ln", mounted.backing, mounted.backing .. ".hard" }
  local function sum()
    return process.run({ "sh", "-c", 'sync -f "$0"; sha256sum <"$0"', mounted.backing }).stdout
  end
  local before = sum()
  for _, name in ipairs { mounted.backing, mounted.backing .. ".hard", "soft" } do
    local line = ("if=/dev/zero of=%s bs=4k count=1 --overwrite"):format(name)
    for _, more in ipairs { " conv=notrunc", "" } do
      local refused = dd(place, line .. more)
      lu.assertEquals(refused.code, 5, refused.stdout .. refused.stderr)
      lu.assertStrContains(refused.stdout, "the file lies behind the loop device "
        .. mounted.device:match("[^/]+$"))
    end
    local fio = cli_run.run { cwd = place.path, "--output", place.path .. "/fio", "fio.lua",
      "--overwrite", "--name=x", "--filename=" .. name, "--rw=write", "--bs=4k", "--size=4k" }
    lu.assertEquals(fio.code, 5, fio.stdout .. fio.stderr)
    process.run { "rm", "-r", place.path .. "/fio" }
  end
  lu.assertEquals(sum(), before)
end

function suite.test_a_sector_of_ours_does_not_make_the_file_ours()
  local place <close> = disk.directory()
  process.run { "sh", "-c", 'head -c 256K /dev/urandom >"$0"', place.path .. "/x" }
  local line = "if=/dev/zero of=x bs=32K conv=notrunc "
  local function sum() return process.run({ "sha256sum", place.path .. "/x" }).stdout end
  local function check_refused(more)
    local before, refused = sum(), dd(place, line .. more)
    lu.assertEquals(refused.code, 2, more)
    lu.assertStrContains(refused.stderr, "storlua did not write")
    lu.assertEquals(sum(), before)
  end
  check_refused("count=1 seek=1")
  assert_passed(dd(place, line .. "count=1 seek=1 --overwrite"))
  assert_passed(dd(place, line .. "count=1 seek=1"))
  check_refused("count=6 seek=1")
  check_refused("count=2")
  local whole = dd(place, "if=/dev/zero of=x bs=32K count=1")
  lu.assertEquals(whole.code, 2, whole.stderr)
  -- The first and the last of a range are not all of it.
  assert_passed(dd(place, line .. "count=1 seek=7 --overwrite"))
  check_refused("count=7 seek=1")
  check_refused("count=9 seek=1")
  -- What lies beyond the end says nothing.
  assert_passed(dd(place, line .. "count=3 seek=7"))
  check_refused("count=1 seek=10")
end

function suite.test_an_interrupted_line_closes_with_its_numbers()
  local place <close> = disk.fault()
  place:tell("slow write 20")
  local function interrupted(file, more)
    local run <close> = cli_run.start { "-q", "--output", place.backing .. "/run." .. file,
      "dd.lua", "if=/dev/zero", ("of=%s/%s"):format(place.path, file), "bs=4k", "count=9999",
      table.unpack(more) }
    disk.wait_until(30, file .. " is written", function()
      local stat = fs.try_stat(place.backing .. "/" .. file)
      return stat and stat.size_bytes > 4096
    end)
    run:signal("INT", true)
    local result = run:finish()
    lu.assertEquals(result.code, 130, result.stderr)
    local blocks = result.stderr:match("(%d+)%+0 records in\n%1%+0 records out\n")
    lu.assertNotNil(blocks, result.stderr)
    lu.assertTrue(tonumber(blocks) > 1, result.stderr)
    lu.assertStrContains(result.stderr, ("\n%d bytes"):format(blocks * 4096))
    lu.assertStrContains(result.stderr, " copied, ")
    lu.assertEquals(cli_run.verdict(place.backing .. "/run." .. file).status, "interrupted")
    return result.stderr
  end
  interrupted("sync", { "oflag=dsync" })
  interrupted("progress", { "oflag=dsync", "status=progress" })
  lu.assertStrContains(interrupted("flush", { "conv=fsync" }), "ended before the flush")
end

-- dd reads past a bad block, counts what it has, and fails.
function suite.test_noerror_reads_on()
  local place <close> = disk.fault()
  for conv, records in pairs { noerror = "7+0", fdatasync = "2+0" } do
    process.run { "sh", "-c", "head -c 32768 /dev/urandom >" .. place.backing .. "/x" }
    place:tell("read EIO 8192 4096")
    local result = cli_run.run { "-q", "--output", place.backing .. "/" .. conv, "dd.lua",
      "if=" .. place.path .. "/x", "of=/dev/null", "bs=4k", "conv=" .. conv .. ",sync" }
    lu.assertEquals(result.code, 1, result.stderr)
    lu.assertStrContains(result.stderr, records .. " records in")
  end
end

local function size(path) return process.run { "stat", "-c", "%s", path }.stdout:gsub("\n", "") end

function suite.test_seek_and_notrunc()
  local place <close> = disk.directory()
  assert_passed(dd(place, "if=/dev/zero of=x bs=4K count=4"))
  lu.assertEquals(size(place.path .. "/x"), "16384")
  assert_passed(dd(place, "if=/dev/zero of=x bs=4K count=1 seek=1 conv=notrunc,fdatasync"))
  lu.assertEquals(size(place.path .. "/x"), "16384")
  assert_passed(dd(place, "if=/dev/zero of=x bs=4K count=2 seek=5 conv=notrunc"))
  lu.assertEquals(size(place.path .. "/x"), "28672")
  lu.assertEquals(dd(place, "if=/dev/zero of=x bs=4K count=2 seek=5").code, 2)
  assert_passed(dd(place, "if=/dev/zero of=x bs=1000 count=3"), "3000 bytes (3.0 kB, 2.9 KiB)")
  lu.assertEquals(size(place.path .. "/x"), "3000")
  assert_passed(dd(place, "if=/dev/zero of=new bs=4K count=2 seek=1"))
  assert_passed(dd(place, "if=new of=/dev/null bs=4K"), "are holes or unwritten extents")
  assert_passed(dd(place, "if=/dev/zero of=new bs=4K count=2 seek=2 conv=notrunc"))
end

function suite.test_a_device()
  local loop <close> = disk.loop { size = "5M", name = "a b.img" }
  local place <close> = disk.directory()
  local line = ("if=/dev/zero of=%s bs=2M oflag=direct conv=fsync"):format(loop.device)
  local refused = dd(place, line)
  lu.assertEquals(refused.code, 5, refused.stdout)
  local argv = { cwd = place.path, "--destroy", "loop:" .. loop.backing, "dd.lua" }
  for word in line:gmatch("%S+") do argv[#argv + 1] = word end
  local result
  for _ = 1, 5 do
    result = cli_run.run(argv)
    if not result.stdout:find("%(losetup%) has it open") then break end
  end
  -- The end of the device is an end, not an error.
  assert_passed(result, "2+1 records out", "5242880 bytes (5.2 MB, 5.0 MiB) copied")
  assert_passed(dd(place, "if=" .. loop.device .. " of=/dev/null bs=1M"), "5+0 records in")
  lu.assertEquals(dd(place, "if=/dev/zero of=/dev/storlua-none bs=1M count=1").code, 2)
  lu.assertEquals(dd(place, "if=" .. loop.device .. " of=/dev/null bs=1M skip=5").code, 2)
end

function suite.test_progress_and_none()
  local loop <close> = disk.loop { size = "24M" }
  local place <close> = disk.directory()
  local group <close> = throttle.device(loop.device, 10 << 20)
  local result = process.try_run(group.wrap { cli_run.program, "-q", "--output",
    place.path .. "/run", "dd.lua", "if=" .. loop.device, "of=/dev/null", "bs=1M", "iflag=direct",
    "status=progress" })
  lu.assertEquals(result.code, 0, result.stderr)
  lu.assertStrContains(result.stderr, "\r")
  local seconds = tonumber(result.stderr:match("24%+0 records out\n.-copied, (%S+) s"))
  lu.assertTrue(seconds > 24 / 10 / 1.25, result.stderr)
  local none = dd(place, "if=" .. loop.device .. " of=/dev/null bs=1M status=none")
  assert_passed(none)
  lu.assertNotStrContains(none.stderr, "records")
end

return suite
