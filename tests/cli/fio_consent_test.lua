-- SPDX-License-Identifier: MIT
--- What is not touched: files of others, which jobs of fio read where they are
--- and neither write nor remove unless that is asked for; and nothing at all
--- when a job cannot be what it says.

local disk = require("disk")
local fio_run = require("fio_run")
local fs = require("storlua.fs")
local lu = require("luaunit")
local process = require("storlua.process")

local suite = {}
local fio, assert_passed = fio_run.fio, fio_run.assert_passed

local function write(path, text)
  local file <close> = assert(io.open(path, "w"))
  assert(file:write(text))
end

local function content(path)
  local file <close> = assert(io.open(path))
  return file:read("a")
end

-- The same job with and without a word more.
local function job(...)
  return { "--name=a", "--filename=foreign", "--bs=4k", ... }
end

function suite.test_a_file_of_others_that_is_too_short_is_not_laid_out()
  local place <close> = disk.directory()
  local path = place.path .. "/foreign"
  for _, case in ipairs {
    { 20, "--rw=randread", "--size=1m" }, { 20, "--rw=randread", "--size=1m", "--readonly=1" },
    { 20000, "--rw=read", "--offset=1m", "--size=1m" }, { 1 << 20, "--rw=read", "--size=1028k" },
    { 20, "--rw=read", "--filesize=64k" }, { 20000, "--rw=read", "--offset=8k", "--size=16k" },
  } do
    local text = ("x"):rep(case[1])
    write(path, text)
    local words = job(table.unpack(case, 2))
    local line = table.concat(words, " ")
    local refused = fio(place, words)
    lu.assertEquals(refused.code, 2, line)
    lu.assertStrContains(refused.stderr, "it would be written first")
    lu.assertTrue(content(path) == text, line)
    lu.assertFalse(fs.exists(refused.run), "nothing is left of it")
  end
  -- What is there is read; what storlua may write is laid out.
  assert_passed(fio(place, job("--rw=read", "--offset=8k", "--size=8k")))
  lu.assertEquals(content(path), ("x"):rep(20000))
  local found = assert_passed(fio(place, job("--rw=read", "--size=64k", "--overwrite")))
  lu.assertEquals(found["a.layout"].result.write.bytes, 65536)
  found = assert_passed(fio(place, job("--rw=read", "--size=128k")))
  lu.assertEquals(found["a.layout"].result.write.bytes, 131072)
  write(path .. ".owner", "")
  lu.assertStrContains(fio(place, job("--rw=read", "--size=256k")).stderr, "belongs to a run")
end

function suite.test_readonly_writes_nothing_at_all()
  local place <close> = disk.directory()
  local words = job("--rw=read", "--size=64k", "--readonly")
  local refused = fio(place, words)
  lu.assertEquals(refused.code, 2)
  lu.assertStrContains(refused.stderr, "--readonly: job a reads up to 65536 and foreign has 0")
  lu.assertFalse(fs.exists(place.path .. "/foreign"))
  assert_passed(fio(place, job("--rw=write", "--size=64k")))
  assert_passed(fio(place, words))
  words[#words + 1] = "--unlink=1"
  lu.assertStrContains(fio(place, words).stderr, "removes its files")
  lu.assertTrue(fs.exists(place.path .. "/foreign"))
end

function suite.test_unlink_is_for_what_may_be_written()
  local place <close> = disk.directory()
  local path = place.path .. "/foreign"
  write(path, ("x"):rep(8192))
  local words = job("--rw=read", "--unlink=1")
  local refused = fio(place, words)
  lu.assertEquals(refused.code, 2)
  lu.assertStrContains(refused.stderr, "unlink=1 would remove it")
  lu.assertEquals(#content(path), 8192)
  words[#words + 1] = "--overwrite"
  assert_passed(fio(place, words))
  lu.assertFalse(fs.exists(path))
  for _, rw in ipairs { "write", "read" } do
    assert_passed(fio(place, job("--rw=" .. rw, "--size=64k")))
    assert_passed(fio(place, job("--rw=" .. rw, "--size=64k", "--unlink=1")))
    lu.assertFalse(fs.exists(path))
  end
end

function suite.test_values_out_of_range_touch_nothing()
  local place <close> = disk.directory()
  for line, text in pairs {
    ["--iodepth=100000 --ioengine=posixaio"] = "iodepth 100000: engine posixaio takes 64 at most",
    ["--iodepth=5000000000 --ioengine=posixaio"] = "iodepth is 5000000000: it must be from 0 to",
    ["--bs=16g --size=16g --rw=write"] = "bs 17179869184 is above ",
    ["--runtime=99999999999"] = "runtime is 99999999999: a number of seconds from 0 to 9e9",
    ["--io_size=100"] = "io_size 100 is smaller than an operation of 4096",
    ["--loops=9007199254740992"] = "loops=9007199254740992: that often",
    ["--direct=1 --ioengine=mmap"] = "engine mmap goes through the page cache",
    ["--sync=1 --rw=write --ioengine=mmap"] = "does nothing for a mapping",
    ["--offset=8191p --size=8191p"] = "past the largest file",
    ["--ioengine=null --rw=write --iodepth=4 --runtime=99999999999"] = "runtime is 99999999999",
    ["--numjobs=3000000000"] = "3000000001 jobs are too many: 64 at most",
    ["--nrfiles=3000000000"] = "3000000000 files are more than 1024",
  } do
    -- The one before it would be laid out.
    local words = { "--name=first", "--filename=x", "--rw=read", "--size=64k", "--name=a",
      "--stonewall", "--rw=read", "--size=64k", "--filename=y" }
    if line:find("nrfiles") then words[9] = nil end
    for word in line:gmatch("%S+") do words[#words + 1] = word end
    local refused = fio(place, words)
    lu.assertEquals(refused.code, 2, line .. refused.stderr)
    lu.assertStrContains(refused.stderr, text)
    lu.assertStrContains(refused.stderr, "fio: ")
    lu.assertFalse(refused.stderr:find("traceback") ~= nil, refused.stderr)
    lu.assertEquals(fs.list(place.path), {}, line)
  end
end

function suite.test_direct_io_that_cannot_be_is_known_before()
  local place <close> = disk.directory()
  local loop <close> = disk.loop { size = "4M", sector = 4096 }
  local folder <close> = disk.file_system("tmpfs")
  local path = folder.path .. "/x"
  local coarse <close> = disk.file_system("ext4", { sector = 4096 })
  local btrfs <close> = disk.file_system("btrfs")
  for words, text in pairs {
    [{ "--filename=" .. loop.device, "--bs=512" }] = "sectors of 4096 bytes, bs=512 and offset=0",
    [{ "--filename=" .. loop.device, "--bs=4k", "--offset=512" }] = "and offset=512 are no",
    [{ "--filename=" .. loop.device, "--bssplit=512/50:4k/50" }] = "bs=512",
    [{ "--filename=x", "--bs=1000" }] = "x moves sectors of 512 bytes, bs=1000 and offset=0",
    [{ "--filename=x", "--bs=4k", "--offset=100" }] = "bs=4096 and offset=100 are no",
    [{ "--filename=" .. coarse.path .. "/x", "--bs=512" }] = "sectors of 4096 bytes, bs=512",
    [{ "--filename=" .. btrfs.path .. "/x", "--bs=512" }] = "sectors of 4096 bytes, bs=512",
    [{ "--filename=" .. path, "--bs=4k" }] = "tmpfs keeps " .. path .. " in memory",
  } do
    table.move({ "--name=a", "--rw=randwrite", "--size=1m", "--direct=1" }, 1, 4, #words + 1, words)
    local refused = fio(place, words, { "--destroy", "loop:" .. loop.backing })
    lu.assertEquals(refused.code, 2, refused.stderr)
    lu.assertStrContains(refused.stderr, text)
    lu.assertFalse(fs.exists(path))
    lu.assertFalse(fs.exists(place.path .. "/x"))
  end
end

-- fio leaves out what is less than a block.
function suite.test_direct_io_leaves_out_the_part_of_a_sector()
  local place <close> = disk.directory()
  for words, bytes in pairs {
    [{ "--name=w", "--rw=write", "--size=1000000", "--bs=64k" }] = 999936,
    [{ "--name=w", "--rw=randrw", "--size=1m", "--nrfiles=3" }] = 3 * 349184,
    [{ "--name=w", "--rw=read", "--filename=f", "--size=1000000", "--offset=512" }] = 999936,
  } do
    process.run { "sh", "-c", "cd " .. place.path .. "; rm -f w.*; head -c 2000000 /dev/zero >f" }
    words[#words + 1] = "--direct=1"
    local r = assert_passed(fio(place, words)).w.result
    lu.assertEquals((r.read and r.read.bytes or 0) + (r.write and r.write.bytes or 0), bytes)
  end
end

-- The gate refuses the file when it is opened: it is not removed either.
function suite.test_what_is_refused_keeps_its_name()
  local place <close> = disk.directory()
  local loop <close> = disk.loop { size = "4M" }
  local refused = fio(place, { "--name=a", "--filename=" .. loop.backing, "--rw=write", "--size=1m",
    "--overwrite", "--unlink=1" })
  lu.assertEquals(refused.code, 5, refused.stderr)
  lu.assertTrue(fs.exists(loop.backing))
end

return suite
