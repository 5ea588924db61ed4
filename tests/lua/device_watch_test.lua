-- SPDX-License-Identifier: MIT
--- Watching for devices where the kernel announces nothing: no netlink socket
--- (a container, a seccomp filter), or one that hears nothing.

local block_list = require("storlua.block_list")
local core = require("storlua.core.uevent")
local device_watch = require("storlua.device.watch")
local lu = require("luaunit")
local shell = require("shell")
local task = require("storlua.task")

local suite = {}

local function until_change(watch, action, id)
  return task.timeout(20, function()
    while true do
      local change = watch:next()
      if change.action == action and change.block.id == id then return change end
    end
  end)
end

-- A device comes, grows and goes.
local function see_changes(watch)
  local place <close> = shell.place()
  task.timeout(20, watch.next, watch) -- what is present is known
  local node, file = place:loop("img", "1M")
  local id = "loop:" .. file
  lu.assertEquals("/dev/" .. until_change(watch, "appeared", id).block.name, node)
  shell.run("truncate -s 2M '%s' && losetup -c %s", file, node)
  lu.assertStrContains(table.concat(until_change(watch, "changed", id).changes, ", "),
    "size_bytes 1048576 -> 2097152")
  -- The number may be another's before the next look.
  shell.run("losetup -d %s", node)
  until_change(watch, "vanished", id)
  table.remove(place.undo)
end

local function with(fields, fn)
  local before = {}
  for name, value in pairs(fields) do
    before[name], device_watch[name] = device_watch[name], value
  end
  local _ <close> = task.defer(function()
    for name, value in pairs(before) do device_watch[name] = value end
  end)
  fn()
end

function suite.test_without_netlink()
  shell.need_root()
  local open = core.open
  local _ <close> = task.defer(function() core.open = open end)
  core.open = function() return nil, "socket: EAFNOSUPPORT", "EAFNOSUPPORT" end
  with({ interval_seconds = 0.1 }, function()
    local watch <close> = device_watch.open()
    lu.assertStrContains(watch.reason, "EAFNOSUPPORT")
    see_changes(watch)
  end)
end

-- Between two looks the number has become another's.
function suite.test_another_device_under_the_same_number()
  local function list(id)
    return { { name = "mmcblk0", number = "179:0", kind = "disk", size_bytes = 4 << 30, id = id } }
  end
  local looks = { list("mmc:1"), list(nil), list("mmc:2"), list("mmc:3") }
  local read, open = block_list.read, core.open
  local _ <close> = task.defer(function() block_list.read, core.open = read, open end)
  block_list.read = function() return table.remove(looks, 1) end
  core.open = function() return nil, "none", "EPERM" end
  with({ interval_seconds = 0.01 }, function()
    local watch <close> = device_watch.open()
    local seen = {}
    for i = 1, 5 do
      local change = watch:next()
      seen[i] = change.action .. " " .. tostring(change.block.id)
    end
    -- What cannot be read is not another one.
    lu.assertEquals(seen, { "present mmc:1", "changed nil", "changed mmc:2", "vanished mmc:2",
                            "appeared mmc:3" })
  end)
end

function suite.test_with_a_socket_that_hears_nothing()
  shell.need_root()
  local open = core.open
  local _ <close> = task.defer(function() core.open = open end)
  local real = open()
  if not real then lu.skip("no netlink here") end
  core.open = function()
    return {
      fd = function() return real:fd() end, close = function() real:close() end,
      next = function()
        repeat until not real:next() -- as if it had said nothing
        return false
      end,
    }
  end
  with({ longest_seconds = 0.1 }, function()
    local watch <close> = device_watch.open()
    see_changes(watch)
  end)
end

return suite
