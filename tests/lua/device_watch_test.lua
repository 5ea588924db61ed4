-- SPDX-License-Identifier: MIT
--- Watching for devices where the kernel announces nothing: no netlink socket
--- (a container, a seccomp filter), or one that hears nothing.

local core = require("storlua.core.uevent")
local device_watch = require("storlua.device.watch")
local lu = require("luaunit")
local shell = require("shell")
local task = require("storlua.task")

local suite = {}

local function until_change(watch, action, name)
  return task.timeout(20, function()
    while true do
      local change = watch:next()
      if change.action == action and change.block.name == name then return change end
    end
  end)
end

-- A device comes, grows and goes.
local function see_changes(watch)
  local place <close> = shell.place()
  task.timeout(20, watch.next, watch) -- what is present is known
  local node, file = place:loop("img", "1M")
  local name = node:match("[^/]+$")
  lu.assertEquals(until_change(watch, "appeared", name).block.id, "loop:" .. file)
  shell.run("truncate -s 2M '%s' && losetup -c %s", file, node)
  lu.assertStrContains(table.concat(until_change(watch, "changed", name).changes, ", "),
    "size_bytes 1048576 -> 2097152")
  shell.run("losetup -d %s", node)
  until_change(watch, "vanished", name)
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
