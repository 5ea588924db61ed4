-- SPDX-License-Identifier: MIT
--- Slows a block device down for one program, by a control group (version 1).

local disk = require("disk")
local lu = require("luaunit")
local process = require("storlua.process")
local task = require("storlua.task")

local throttle = {}

local ROOT = "/sys/fs/cgroup/blkio"

local function write(path, text)
  local file <close> = assert(io.open(path, "w"))
  assert(file:write(text))
end

--- A group in which the device moves so many bytes a second. Skips the test
--- where there is none. `wrap(argv)` runs a command in it.
---@async
---@param node string
---@param bytes_s integer
---@return table {path, wrap}
function throttle.device(node, bytes_s)
  disk.need_root()
  if not io.open(ROOT .. "/blkio.throttle.read_bps_device") then
    lu.skip("no control group that slows block devices")
  end
  local path = process.run { "mktemp", "-d", ROOT .. "/storlua-test.XXXXXX" }.stdout:gsub("\n", "")
  local number = process.run { "lsblk", "-dno", "MAJ:MIN", node }.stdout:gsub("%s", "")
  for _, which in ipairs { "read", "write" } do
    write(("%s/blkio.throttle.%s_bps_device"):format(path, which),
      ("%s %d\n"):format(number, bytes_s))
  end
  local guard = task.defer(function() process.run { "rmdir", path } end)
  return setmetatable({
    path = path,
    wrap = function(argv)
      local wrapped = { "sh", "-c", "echo $$ >" .. path .. "/tasks && exec \"$@\"", "sh" }
      return table.move(argv, 1, #argv, #wrapped + 1, wrapped)
    end,
  }, { __close = getmetatable(guard).__close })
end

return throttle
