-- SPDX-License-Identifier: MIT
--- Following /dev/kmsg: a real failure of a real device counts, and a line
--- that user space wrote does not.

local lu = require("luaunit")
local device = require("storlua.device")
local errors = require("storlua.errors")
local kmsg = require("storlua.kmsg")
local shell = require("shell")
local task = require("storlua.task")

local run = shell.run

local function read_past_end(node, file)
  run("truncate -s 1M '%s'", file)
  run("! dd if=%s of=/dev/null bs=64k skip=40 count=1 iflag=direct status=none", node)
end

local function open(found, options)
  local log, reason = kmsg.open(found, options)
  if not log then lu.skip("the kernel log is not readable: " .. reason) end
  return log
end

local suite = {}

function suite.test_a_real_error_is_seen()
  shell.need_root()
  local place <close> = shell.place()
  local node, file = place:loop("img", "4M")
  local found = device.of_path(node)
  local log <close> = open(found)
  lu.assertNil(log:take())
  local scope <close> = task.scope()
  local line
  scope:spawn("kernel log", function() line = log:next() end)
  -- The kernel limits how often it prints such lines: other tests that fail
  -- devices may use the quota up for some seconds.
  for _ = 1, 40 do
    read_past_end(node, file)
    task.sleep(0.3)
    if line then break end
  end
  scope:join()
  lu.assertEquals(line.class, "error")
  lu.assertStrContains(line.text, "I/O error, dev " .. found.single.name)
  lu.assertEquals(line.device, found.single.name)
  lu.assertNil(line.facility)
  lu.assertEquals(math.type(line.k_time_ns), "integer")
end

function suite.test_other_devices_do_not_count()
  shell.need_root()
  local place <close> = shell.place()
  local bad, file = place:loop("bad", "4M")
  local good = device.of_path((place:loop("good", "4M")))
  local log <close> = open(good)
  for _ = 1, 3 do read_past_end(bad, file) end
  task.sleep(0.1)
  for _ = 1, 10 do
    local line = log:take()
    if not line then break end
    lu.assertNil(line.device, line.text)
  end
end

-- A capture of a board's pattern names the device that a line is about.
function suite.test_a_capture_must_be_of_the_device()
  shell.need_root()
  local place <close> = shell.place()
  local node, file = place:loop("mine", "4M")
  local other = place:loop("other", "4M")
  local rules = { patterns = { "^(loop%d+): detected capacity change" } }
  local mine <close> = open(device.of_path(node), rules)
  local not_mine <close> = open(device.of_path(other), rules)
  local found
  for mib = 5, 64 do -- the kernel limits how often it prints the line
    run("truncate -s %dM '%s' && losetup -c %s", mib, file, node)
    task.sleep(0.2)
    repeat found = mine:take() until not found or found.class == "error"
    if found then break end
  end
  lu.assertStrContains(found.text, node:match("[^/]+$"))
  for line in function() return not_mine:take() end do
    lu.assertNotEquals(line.class, "error", line.text)
  end
end

function suite.test_user_space_cannot_forge()
  shell.need_root()
  local place <close> = shell.place()
  local found = device.of_path((place:loop("img", "1M")))
  local log <close> = open(found)
  local all <close> = open(found, { all = true })
  local text = ("storlua forged; I/O error, dev %s, sector 0"):format(found.single.name)
  run("echo '<3>%s' > /dev/kmsg", text)
  local forged
  repeat forged = all:take() until not forged or forged.text == text
  lu.assertNotNil(forged)
  lu.assertEquals(forged.class, "other")
  lu.assertEquals(forged.facility, 1)
  for _ = 1, 10 do
    local line = log:take()
    if not line then break end
    lu.assertNil(line.device, line.text)
  end
end

function suite.test_waiting_is_cancelled()
  shell.need_root()
  local place <close> = shell.place()
  local found = device.of_path((place:loop("img", "1M")))
  local log <close> = open(found)
  local ok, err = pcall(task.timeout, 0.05, function() for _ in log:lines() do end end)
  lu.assertFalse(ok)
  lu.assertTrue(errors.is(err))
  lu.assertEquals(err.code, "TIMEOUT")
end

function suite.test_no_access_is_said()
  lu.assertErrorMsgContains("device.of_path", kmsg.open, "/dev/sda")
  local core = require("storlua.core.kmsg")
  local log, message, code = core.open({}, "/no/such/log")
  lu.assertNil(log)
  lu.assertEquals(code, "ENOENT")
  lu.assertStrContains(message, "container")
end

return suite
