-- SPDX-License-Identifier: MIT
--- What a raw test works on: a device named by path or by its role on the
--- board, or a file. Nothing is changed here before open().

local block_list = require("storlua.block_list")
local board_shape = require("storlua.board.shape")
local cache = require("storlua.cache")
local conditions = require("storlua.conditions")
local device = require("storlua.device")
local fs = require("storlua.fs")
local gate = require("storlua.gate")
local storlua = require("storlua")

local target = {}

---@class storlua.Target
---@field path string
---@field is_device boolean
---@field found? storlua.PathDevice what it lies on
---@field size_bytes integer 0 for a file that is not there yet
---@field grant? storlua.Grant the device is ours alone
---@field file? storlua.ScratchFile
local Target = {}
Target.__index = Target

local function is_role(word)
  for _, role in ipairs(board_shape.ROLES) do
    if role == word then return true end
  end
  return false
end

-- The one disk that plays the role on this board.
local function path_of_role(role, board)
  local matches, nodes = {}, {}
  for _, block in ipairs(block_list.read { probe = false, space = false }) do
    local found = block.kind == "disk" and block.node and device.try_of_path(block.node)
    if found and board:role_of(found) == role then
      matches[#matches + 1] = block
      nodes[#nodes + 1] = ("%s (%s)"):format(block.node, block.id or "no id")
    end
  end
  if #matches == 1 then return matches[1].node end
  if #matches == 0 then
    storlua.usage(("no device here plays the role %s on the board %s; name it by its path"):format(
      role, board.name))
  end
  storlua.usage(("the role %s fits several devices: %s; name one by its path"):format(role,
    table.concat(nodes, ", ")))
end

--- The path that `wanted` means: a path, or a role of the board (emmc, sd, usb,
--- nvme). A directory means `file_name` in it. Raises usage errors.
---@async
---@param wanted string
---@param board storlua.Board
---@param file_name string
---@return string
function target.resolve(wanted, board, file_name)
  if wanted == "" then storlua.usage("the target is empty") end
  local stat, err = fs.try_stat(wanted)
  if not stat and is_role(wanted) then return path_of_role(wanted, board) end
  if stat and stat.is_directory then return wanted .. "/" .. file_name end
  if stat and stat.kind ~= "file" and stat.kind ~= "block" then
    storlua.usage(("%s is neither a block device nor a file"):format(wanted))
  end
  if stat then return wanted end
  if err.code ~= "ENOENT" then storlua.usage(err.message) end
  local parent = wanted:match("^(.*)/[^/]*$") or "."
  if parent == "" then parent = "/" end
  if wanted:find("^/dev/") and not wanted:find("^/dev/shm/") then
    storlua.usage(("there is no device %s"):format(wanted))
  end
  local above, why = fs.try_stat(parent)
  if not above then storlua.usage(("%s: %s"):format(wanted, why.message)) end
  return wanted
end

--- Looks at a path without opening it for writing.
---@async
---@param path string
---@return storlua.Target
function target.look(path)
  local stat = fs.try_stat(path)
  local is_device = stat ~= nil and stat.kind == "block"
  local found = device.try_of_path(path)
    or device.try_of_path(path:match("^(.*)/[^/]*$") or ".")
  local size_bytes = stat and stat.size_bytes or 0
  if is_device and found and found.single then size_bytes = found.single.size_bytes or 0 end
  return setmetatable({
    path = path, is_device = is_device, found = found, size_bytes = size_bytes,
  }, Target)
end

--- Ends with wrong usage where a device holds nothing: a reader without its
--- card, a loop device without its file.
function Target:need_medium()
  if self.is_device and self.size_bytes == 0 then
    storlua.usage(("no medium: %s has a size of 0 bytes"):format(self.path))
  end
end

--- Takes what is to be written: a device through the safety gate, a file as a
--- scratch file of the run. Both are given back by close().
---@async
---@param t storlua.Run
---@param options {force_signature?: boolean}
function Target:open(t, options)
  if self.is_device then
    self.grant = gate.open(self.path, {
      consents = t.destroy, force_signature = options.force_signature,
    })
  else
    self.file = t:scratch_file(self.path, { any_name = true })
  end
end

--- The file or device behind a loop device, if that is what it is.
---@return storlua.LoopBacking|nil
function Target:loop() return self.found and self.found.single and self.found.single.loop end

--- What direct I/O moves at least, as far as that is known before it is open.
---@return integer bytes
function Target:direct_bytes()
  local found = self.found
  if not self.is_device and found and found.mount and found.mount.type == "btrfs" then
    return 4096
  end
  return found and found.single and found.single.logical_block_bytes or 512
end

--- Flushes and drops what the page cache holds of it, and of the file behind a
--- loop device.
---@async
---@return table resident_after_bytes?, backing_resident_bytes?, reason?
function Target:drop_cache()
  local drop = self.is_device and cache.try_drop_device or cache.try_drop_file
  local dropped, err = drop(self.path)
  local answer = {
    path = self.path, resident_after_bytes = dropped and dropped.resident_after_bytes,
    reason = dropped and dropped.reason or err and err.message,
  }
  local loop = self:loop()
  if loop and not loop.deleted then
    local below = cache.try_drop_file(loop.backing_path)
    answer.backing_resident_bytes = below and below.resident_after_bytes
  end
  return answer
end

--- Why it is no longer what it was, or nil: unplugged, detached, replaced,
--- shrunk.
---@async
---@return string|nil
function Target:gone()
  if not self.is_device then
    return not fs.try_stat(self.path) and self.path .. " is gone" or nil
  end
  local before, now = self.found and self.found.single, device.try_of_path(self.path)
  local disk = now and now.is_node and now.single
  if not disk then return self.path .. " is gone" end
  if not before then return nil end
  for _, key in ipairs { "disk_sequence", "id", "number" } do
    if before[key] ~= disk[key] then
      return ("%s is another device now (%s %s, it was %s)"):format(self.path, key,
        tostring(disk[key]), tostring(before[key]))
    end
  end
  if (disk.size_bytes or 0) < self.size_bytes then
    return ("%s has shrunk from %d to %d bytes"):format(self.path, self.size_bytes,
      disk.size_bytes or 0)
  end
  return nil
end

--- What a reader of the results must know about it, for an event.
---@async
---@return table
function Target:facts()
  local loop = self:loop()
  local backing = loop and not loop.deleted and fs.try_stat(loop.backing_path)
  return {
    path = self.path, is_device = self.is_device, size_bytes = self.size_bytes,
    label = self.found and self.found.label or "not known",
    sync_meaning = self.found and conditions.sync_meaning(self.found) or "not known",
    held_alone = self.grant ~= nil,
    backing_path = loop and loop.backing_path, backing_direct = loop and loop.direct,
    backing_bytes = backing and backing.size_bytes or nil,
    backing_allocated_bytes = backing and backing.allocated_bytes or nil,
  }
end

--- Gives it back.
---@async
function Target:close()
  if self.grant then self.grant:close() end
  if self.file then self.file:release() end
end

return target
