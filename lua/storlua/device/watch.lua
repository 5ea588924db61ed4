-- SPDX-License-Identifier: MIT
--- Devices that appear and vanish. What the kernel announces only says when to
--- look; what changed is the difference of two lists, so nothing is missed when
--- announcements are lost, or not to be had at all (in a container).

local block_list = require("storlua.block_list")
local core = require("storlua.core.uevent")
local errors = require("storlua.errors")
local poll = require("storlua.poll")
local task = require("storlua.task")

local device_watch = {
  interval_seconds = 1, -- between looks without announcements
  longest_seconds = 5,  -- and with: some containers open the socket and hear nothing
  settle_seconds = 0.1, -- announcements come in bunches
}

---@class storlua.DeviceChange
---@field action string "present" at the start, then "appeared", "vanished", "changed"
---@field block storlua.Block as it is, or was before it vanished
---@field changes? string[] "size_bytes 0 -> 1048576"

-- What is watched; everything else may change while a device is used.
local WATCHED = { "size_bytes", "read_only", "disk_sequence", "id", "scheduler", "write_cache" }

--- Whether a device is there: a loop or zram device without anything behind it
--- is only a name.
---@param block storlua.Block
---@return boolean
function device_watch.is_present(block)
  return not (block.size_bytes == 0 and (block.kind == "loop" or block.kind == "zram"
    or block.kind == "ram"))
end

local function look()
  local found = { order = {} }
  for _, block in ipairs(block_list.read { probe = false, space = false }) do
    if device_watch.is_present(block) then
      found[block.number] = block
      found.order[#found.order + 1] = block
    end
  end
  return found
end

local function changes_of(before, now)
  local changes = {}
  for _, field in ipairs(WATCHED) do
    if before[field] ~= now[field] then
      changes[#changes + 1] = ("%s %s -> %s"):format(field, tostring(before[field]),
        tostring(now[field]))
    end
  end
  return changes
end

-- Whether two looks at one number saw the same device: a loop device that has
-- got another file behind it since, or a slot another card, has not.
local function is_same(before, now)
  return before.name == now.name and (not before.id or not now.id or before.id == now.id)
end

local function compare(before, now, queue)
  local function put(action, block, changes)
    queue[#queue + 1] = { action = action, block = block, changes = changes }
  end
  for _, block in ipairs(before.order) do
    local same = now[block.number]
    if not same or not is_same(block, same) then put("vanished", block) end
  end
  for _, block in ipairs(now.order) do
    local known = before[block.number]
    if not known or not is_same(known, block) then
      put("appeared", block)
    else
      local changes = changes_of(known, block)
      if #changes > 0 then put("changed", block, changes) end
    end
  end
end

---@class storlua.DeviceWatch
---@field reason? string why the kernel's announcements are not heard
local Watch = {}
Watch.__index = Watch
Watch.__name = "storlua.DeviceWatch"

--- Begins to watch; the first changes are what is present. Close it, or declare
--- it with <close>.
---@return storlua.DeviceWatch
function device_watch.open()
  local socket, message = core.open()
  return setmetatable({ socket = socket, reason = message, queue = {} }, Watch)
end

-- Waits until something was announced or it is time to look anyhow.
local function wait(self)
  if not self.socket then return task.sleep(device_watch.interval_seconds) end
  local heard, err = errors.try(poll.wait, self.socket:fd(), "r", device_watch.longest_seconds)
  if not heard and err.code ~= "TIMEOUT" then error(err, 0) end
  return heard
end

-- Takes what was announced; true when a block device was among it.
local function drain(self)
  local about_blocks = false
  while true do
    local event, message, code = self.socket:next()
    if event == nil then
      -- Lost ones may have been about blocks.
      if code ~= "ENOBUFS" then error(message, 0) end
      about_blocks = true
    elseif not event then
      return about_blocks
    elseif event.subsystem == "block" then
      about_blocks = true
    end
  end
end

--- Waits for the next change.
---@async
---@return storlua.DeviceChange
function Watch:next()
  while not self.queue[1] do
    if not self.known then
      self.known = look()
      for i, block in ipairs(self.known.order) do
        self.queue[i] = { action = "present", block = block }
      end
    else
      local heard = wait(self)
      if not heard or drain(self) then
        if heard then
          task.sleep(device_watch.settle_seconds)
          drain(self)
        end
        local now = look()
        compare(self.known, now, self.queue)
        self.known = now
      end
    end
  end
  return table.remove(self.queue, 1)
end

function Watch:close()
  if self.socket then self.socket:close() end
end
Watch.__close = Watch.close

return device_watch
