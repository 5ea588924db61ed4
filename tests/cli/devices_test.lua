-- SPDX-License-Identifier: MIT
--- scripts/devices.lua as a user runs it.

local dkjson = require("dkjson")
local lu = require("luaunit")
local cli_run = require("cli_run")
local fs = require("storlua.fs")
local process = require("storlua.process")
local shell = require("shell")

local run = shell.run

local function name_of(node) return node:match("[^/]+$") end

local function json(argv)
  local result = cli_run.run(argv)
  lu.assertEquals(result.code, 0, result.stderr)
  local value, at, message = dkjson.decode(result.stdout, 1, dkjson.null)
  lu.assertNil(message)
  lu.assertNil(result.stdout:find("%S", at), "more than one document")
  return value
end

local suite = {}

function suite.test_table_tree_and_ids()
  shell.need_root()
  local place <close> = shell.place()
  local node = place:loop("a b.img", "32M", "-P")
  run("addpart %s 1 2048 32768", node)
  place:later("delpart %s 1", node)
  local result = cli_run.run { "devices.lua", cwd = place.path }
  lu.assertEquals(result.code, 0)
  lu.assertEquals(result.stderr, "")
  local kind_at
  for line in result.stdout:gmatch("[^\n]+") do
    lu.assertNil(line:find("%s$"))
    kind_at = kind_at or line:find("KIND", 1, true)
    if line:find("^" .. name_of(node) .. " ") then
      lu.assertEquals(line:find("loop ", 6, true), kind_at)
      lu.assertStrContains(line, "32 MiB")
      lu.assertStrContains(line, "loop:" .. place.path .. "/a b.img")
    end
  end
  lu.assertStrContains(result.stdout, "\n  " .. name_of(node) .. "p1")
  -- It leaves nothing behind.
  lu.assertEquals(fs.list(place.path), { "a b.img" })
end

-- Also from a refusal, and what no screen shows.
function suite.test_the_consent_shown_can_be_copied_into_a_shell()
  shell.need_root()
  for _, name in ipairs { "it's.img", "nl\nx'\\1.img", "\xff\xc3\xa4.img" } do
    local place <close> = shell.place()
    local file = place.path .. "/" .. name
    run([[truncate -s 1M "%s"]], file)
    local node = run([[losetup -f --show "%s"]], file):match("%S+")
    place:later("losetup -d %s", node)
    local result = cli_run.run { "devices.lua", node }
    lu.assertEquals(result.code, 0, result.stderr)
    local word = result.stdout:match("%-%-destroy (.-)%)\n")
    local function read(text)
      return process.run({ "bash", "-c", ('printf %%s "x"%s'):format(text) }).stdout
    end
    lu.assertEquals(read(word), "xloop:" .. file)
    local refused = cli_run.run { "rawblock.lua", "--target", node, "--runtime", "1",
                                  cwd = place.path }
    lu.assertEquals(refused.code, 5, refused.stdout)
    lu.assertStrContains(refused.stdout, "--destroy " .. word .. "\n")
  end
end

function suite.test_json_of_odd_names()
  shell.need_root()
  local place <close> = shell.place()
  local node = place:loop("img", "16M")
  run("mkfs.ext4 -q %s", node)
  local point = place.path .. "/\xe9 \"q\"\\ \xf0\x9f\x98\x80"
  run("mkdir '%s' && mount %s '%s'", point, node, point)
  place:later("umount '%s'", point)
  local document = json { "devices.lua", "--json" }
  lu.assertEquals(document.v, 1)
  local found
  for _, device in ipairs(document.devices) do
    if device.name == name_of(node) then found = device end
  end
  local mount = found.mounts[1]
  lu.assertEquals(mount.point, (point:gsub("\xe9", "\u{FFFD}")))
  lu.assertEquals(mount.point_hex, (point:gsub(".", function(c)
    return ("%02x"):format(c:byte())
  end)))
  lu.assertEquals(found.size_bytes, 16 << 20)
  lu.assertEquals(found.parent, dkjson.null)
  lu.assertFalse(found.read_only)
  if pcall(run, "command -v python3") then
    run("'%s' devices.lua --json | python3 -c 'import json,sys; json.load(sys.stdin)'",
      cli_run.program)
  end
end

function suite.test_one_device()
  shell.need_root()
  local place <close> = shell.place()
  local node, file = place:loop("img", "16M")
  run("mkfs.ext4 -q -L hello %s", node)
  local point = place:mount("m", node)
  for _, name in ipairs { node, name_of(node), "loop:" .. file, point } do
    local result = cli_run.run { "devices.lua", name }
    lu.assertEquals(result.code, 0, result.stderr)
    lu.assertStrContains(result.stdout, "--destroy 'loop:" .. file .. "'")
    lu.assertStrContains(result.stdout, "is mounted on " .. point)
    lu.assertStrContains(result.stdout, "hello")
  end
  local device = json { "devices.lua", node, "--json" }.device
  lu.assertEquals(device.content.label, "hello")
  lu.assertEquals(device.card, dkjson.null)
  for _, argv in ipairs { { "nosuch" }, { "/no/such" }, { "/proc" }, { "--watch", node } } do
    local result = cli_run.run { "devices.lua", table.unpack(argv) }
    lu.assertEquals(result.code, 2, argv[1])
    lu.assertEquals(result.stdout, "")
    lu.assertNotEquals(result.stderr, "")
  end
end

-- A device whose node is gone is still listed, and nothing breaks.
function suite.test_without_its_node()
  shell.need_root()
  local place <close> = shell.place()
  local node = place:loop("img", "1M")
  local number = run("cat /sys/class/block/%s/dev", name_of(node)):gsub(":", " ")
  place:later("test -e %s || mknod %s b %s", node, node, number)
  run("rm %s", node)
  local result = cli_run.run { "devices.lua", name_of(node) }
  run("mknod %s b %s", node, number)
  lu.assertEquals(result.code, 0)
  lu.assertStrContains(result.stdout, "none in /dev")
end

function suite.test_watch()
  shell.need_root()
  local place <close> = shell.place()
  local watch <close> = cli_run.start { "devices.lua", "--watch" }
  watch:wait_line("^present ")
  local node, file = place:loop("img", "1M")
  local line = watch:wait_line("^appeared +" .. name_of(node) .. " ")
  lu.assertStrContains(line, "loop:" .. file)
  run("losetup -d %s", node)
  watch:wait_line("^vanished +" .. name_of(node) .. " ")
  table.remove(place.undo)
  watch:signal("INT")
  lu.assertEquals(watch:finish().code, 130)
end

return suite
