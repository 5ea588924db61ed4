-- SPDX-License-Identifier: MIT
--- Jobs of fio with several files or devices.

local disk = require("disk")
local fio_run = require("fio_run")
local lu = require("luaunit")
local process = require("storlua.process")

local suite = {}
local fio, assert_passed = fio_run.fio, fio_run.assert_passed

local function size_of(place, name)
  return tonumber(process.run { "stat", "-c", "%s", place.path .. "/" .. name }.stdout)
end

local function blocks_of(place, name)
  return tonumber(process.run { "stat", "-c", "%b", place.path .. "/" .. name }.stdout) * 512
end

-- fio 3.33 moves the same: 16 blocks of 4k, four in each file.
function suite.test_files_take_turns()
  local place <close> = disk.file_system("ext4")
  local words = { "--name=w", "--rw=write", "--bs=4k", "--size=64k", "--nrfiles=4",
    "--verify=crc32c", "--end_fsync=1" }
  local found = assert_passed(fio(place, words))
  lu.assertEquals(found.w.result.write.operations, 16)
  lu.assertEquals(found["w.verify"].result.verify.sectors, 128)
  for i = 0, 3 do lu.assertEquals(size_of(place, "w.0." .. i), 16384) end
  -- Cut off after 5 blocks: in turn, or the first file before the second.
  for service, sizes in pairs { roundrobin = { 8192, 4096, 4096, 4096 },
                                sequential = { 16384, 4096, 0, 0 } } do
    process.run { "sh", "-c", "rm -f " .. place.path .. "/w.0.*" }
    assert_passed(fio(place, { "--name=w", "--rw=write", "--bs=4k", "--size=64k", "--nrfiles=4",
      "--number_ios=5", "--end_fsync=1",
      "--file_service_type=" .. service }))
    for i, bytes in ipairs(sizes) do lu.assertEquals(blocks_of(place, "w.0." .. i - 1), bytes) end
  end
end

function suite.test_reads_are_laid_out_in_each_and_removed()
  local place <close> = disk.directory()
  local words = { "--name=r", "--rw=randread", "--filename=a:b", "--size=64k", "--unlink=1" }
  local found = assert_passed(fio(place, words))
  lu.assertEquals(found["r.layout.2"].result.write.bytes, 32768)
  lu.assertEquals(found.r.result.read.bytes, 65536)
  lu.assertNil(io.open(place.path .. "/a"))
  lu.assertNil(io.open(place.path .. "/b"))
  process.run { "sh", "-c", "echo precious >" .. place.path .. "/b" }
  words[2] = "--rw=write"
  local refused = fio(place, words)
  lu.assertEquals(refused.code, 2)
  lu.assertStrContains(refused.stderr, "b holds 9 B that storlua did not write")
  lu.assertNil(io.open(place.path .. "/a"), "nothing was touched")
end

function suite.test_two_devices()
  local one <close> = disk.loop { size = "2M" }
  local two <close> = disk.loop { size = "4M" }
  local place <close> = disk.directory()
  local words = { "--name=d", "--filename=" .. one.device .. ":" .. two.device, "--rw=write",
    "--bs=64k" }
  local function run(...)
    local result
    for _ = 1, 5 do
      result = fio(place, words, { ... })
      if not result.stdout:find("%(losetup%) has it open") then break end
    end
    return result
  end
  local agree = { "--destroy", "loop:" .. one.backing, "--destroy", "loop:" .. two.backing }
  lu.assertStrContains(run(table.unpack(agree)).stderr, "another size")
  words[#words + 1] = "--size=2m"
  lu.assertEquals(run(agree[1], agree[2]).code, 5, "the second is not agreed to")
  local found = assert_passed(run(table.unpack(agree)))
  lu.assertEquals(found.d.result.write.bytes, 2 << 20)
  for _, loop in ipairs { one, two } do
    local left = process.run { "sh", "-c", "tr -d '\\0' <" .. loop.device .. " | wc -c" }.stdout
    lu.assertTrue(tonumber(left) > 900000 and tonumber(left) <= 1 << 20, left)
  end
end

function suite.test_a_queue_is_spread_over_them()
  local place <close> = disk.file_system("ext4")
  local result = fio(place, { "--name=q", "--rw=randread", "--nrfiles=2", "--ioengine=posixaio",
    "--iodepth=4", "--size=256k", "--bs=4k" })
  local found = assert_passed(result)
  lu.assertEquals(found.q.result.read.bytes, 256 << 10)
  lu.assertEquals({ found.q.spec.streams, found.q.spec.queue_depth }, { 2, 2 })
  lu.assertStrContains(result.stdout, "issued rwts: total=64,0,0,0")
  lu.assertStrContains(result.stdout, "2 files at once, each with a queue of 2")
end

return suite
