-- SPDX-License-Identifier: MIT
--- A build without libblkid and without liburing: what it can and what it says
--- of the rest. `.ci/run bare` makes the build and runs this.

local block_list = require("storlua.block_list")
local cli_run = require("cli_run")
local errors = require("storlua.errors")
local lu = require("luaunit")
local ring = require("storlua.ring")
local shell = require("shell")
local workload = require("storlua.workload")

local ENGINES = "psync, sync, vsync, stdio, mmap, libaio, posixaio, null"

local suite = {}

local function block_of(node)
  for _, block in ipairs(block_list.read()) do
    if block.node == node then return block end
  end
end

function suite.test_what_it_says_of_itself()
  local version = cli_run.run { "--version" }.stdout
  lu.assertStrContains(version, "engines: " .. ENGINES:gsub(",", ""))
  lu.assertStrContains(version, "device contents: not recognised")
end

function suite.test_devices_are_listed_and_contents_are_not_guessed()
  shell.need_root()
  local place <close> = shell.place()
  local mounted, other = place:loop("a", "16M"), place:loop("b", "16M", "-b 4096")
  shell.run("mkfs.ext4 -q %s && mkfs.ext4 -q %s", mounted, other)
  local point = place:mount("m", mounted)
  local block = block_of(mounted)
  lu.assertEquals({ block.content.known, block.content.type }, { false, "ext4" })
  lu.assertEquals(block.mounts[1].point, point)
  block = block_of(other)
  lu.assertEquals({ block.content.known, block.content.type }, { false, nil })
  lu.assertStrContains(block.content.reason, "libblkid")
  lu.assertEquals({ block.size_bytes, block.logical_block_bytes }, { 16 << 20, 4096 })
  local result = cli_run.run { "devices.lua", other }
  lu.assertEquals(result.code, 0, result.stderr)
  lu.assertStrContains(result.stdout, "libblkid")
end

-- What cannot be found out refuses.
function suite.test_the_gate_asks_to_force()
  shell.need_root()
  local place <close> = shell.place()
  local node, file = place:loop("a", "4M")
  local argv = { "--output", place.path .. "/1", "rawblock.lua", "--target", node, "--destroy",
                 "loop:" .. file, "--runs", "1", "--runtime", "0.1" }
  local result = cli_run.run(argv)
  lu.assertEquals(result.code, 5, result.stdout .. result.stderr)
  lu.assertStrContains(result.stdout, "no libblkid; --force-signature")
  argv[2], argv[#argv + 1] = place.path .. "/2", "--force-signature"
  result = cli_run.run(argv)
  lu.assertEquals(result.code, 0, result.stdout .. result.stderr)
end

function suite.test_an_engine_that_is_not_there_names_the_others()
  local found, err = workload.try_engine("io_uring")
  lu.assertNil(found)
  lu.assertStrContains(err.message, "no engine io_uring; engines here: " .. ENGINES)
  found, err = errors.try(workload.complete,
    { path = "/tmp", operation = "read", engine = "io_uring" })
  lu.assertNil(found)
  lu.assertStrContains(err.message, ENGINES)
  local place <close> = shell.place()
  local file = place.path .. "/f"
  shell.run("truncate -s 1M '%s'", file)
  found, err = errors.try(ring.open, { path = file, record_bytes = 4096 })
  lu.assertNil(found)
  lu.assertStrContains(err.message, ENGINES)
  local result = cli_run.run { "fio.lua", "--name=x", "--rw=read", "--ioengine=io_uring",
                               "--filename=" .. file }
  lu.assertEquals(result.code, 2, result.stdout .. result.stderr)
  lu.assertStrContains(result.stderr, "libaio")
end

return suite
