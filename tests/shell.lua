-- SPDX-License-Identifier: MIT
--- What tests of devices need from the system: commands, loop devices, mounts.
--- A place owns what it made and takes it down in reverse.

local lu = require("luaunit")
local process = require("storlua.process")

local shell = {}

--- Runs a command line; returns what it printed, without the last newline.
--- Raises when the command fails.
---@async
function shell.run(format, ...)
  local result = process.run {
    "sh", "-c", format:format(...), merge_stderr = true, timeout = 60,
  }
  return (result.stdout:gsub("\n$", ""))
end

--- Skips the test unless it runs as root.
function shell.need_root()
  if shell.run("id -u") ~= "0" then lu.skip("needs root") end
end

local Place = {}
Place.__index = Place

--- A directory of the test's own. Declare it with <close>.
function shell.place()
  return setmetatable({ path = shell.run("mktemp -d /tmp/storlua_test.XXXXXX"), undo = {} }, Place)
end

function Place:later(format, ...)
  self.undo[#self.undo + 1] = format:format(...)
end

--- Attaches a loop device over a new sparse file; returns node, file.
function Place:loop(name, size, options)
  local file = self.path .. "/" .. name
  shell.run("truncate -s %s '%s'", size, file)
  local node = shell.run("losetup -f --show %s '%s'", options or "", file)
  self:later("losetup -d %s", node)
  return node, file
end

--- Makes the directory `name` and mounts something on it.
function Place:mount(name, options)
  local point = self.path .. "/" .. name
  shell.run("mkdir -p '%s' && mount %s '%s'", point, options, point)
  self:later("umount '%s'", point)
  return point
end

function Place:__close()
  for i = #self.undo, 1, -1 do
    local ok, message = pcall(shell.run, "%s", self.undo[i])
    if not ok then io.stderr:write("clean-up: ", tostring(message), "\n") end
  end
  shell.run("rm -rf '%s'", self.path)
end

return shell
