-- SPDX-License-Identifier: MIT
--- The block device of a RAM disk: brd where the kernel has it, else zram, else
--- a loop device on a file in tmpfs; each by its true name.

local errors = require("storlua.errors")
local fs = require("storlua.fs")
local process = require("storlua.process")
local task = require("storlua.task")

local disk = {}

local BLANK_BYTES = 128 << 10

local function put(path, text)
  local file, why = io.open(path, "w")
  if not file then errors.raise("EIO", "%s", why) end
  local _ <close> = file
  local ok, err = file:write(text)
  ok = ok and file:flush()
  if not ok then errors.raise("EIO", "%s: %s", path, err or "not written") end
end

local function number_in(path)
  return math.tointeger(tonumber((fs.try_read(path) or ""):match("^(%d+)")))
end

-- A RAM disk that was there before us and holds something is somebody's.
local function is_blank(path)
  local file = io.open(path, "rb")
  if not file then return false end
  local _ <close> = file
  local data = file:read(BLANK_BYTES)
  return data ~= nil and not data:find("[^\0]")
end

local function find_brd(size_bytes)
  local reason = "there is no /dev/ram0 and no module brd"
  for n = 0, 15 do
    local name = "ram" .. n
    local sectors = number_in("/sys/block/" .. name .. "/size")
    if sectors then
      if sectors * 512 < size_bytes then
        reason = ("/dev/%s has %d KiB: load brd with rd_size"):format(name, sectors // 2)
      elseif not is_blank("/dev/" .. name) then
        reason = "/dev/" .. name .. " holds data"
      else
        return "/dev/" .. name
      end
    end
  end
  return nil, reason
end

local try = {}

function try.brd(undo, object)
  local device, reason = find_brd(object.size_bytes)
  if device then return device end
  if fs.try_stat("/sys/block/ram0") then return nil, reason end
  local loaded = process.try_run { "modprobe", "brd", "rd_nr=1",
    ("rd_size=%d"):format(object.size_bytes // 1024) }
  if not loaded or loaded.code ~= 0 then return nil, reason end
  undo(function() process.try_run { "modprobe", "-r", "brd" } end)
  return find_brd(object.size_bytes)
end

local function remove_zram(number)
  for _ = 1, 50 do -- udev may be looking at it
    local ok = pcall(put, ("/sys/block/zram%d/reset"):format(number), "1")
    if ok and pcall(put, "/sys/class/zram-control/hot_remove", tostring(number)) then return end
    task.sleep(0.05)
  end
  errors.raise("EBUSY", "zram%d cannot be removed", number)
end

function try.zram(undo, object)
  -- Reading this file makes a device.
  if not fs.try_stat("/sys/class/zram-control/hot_add") then
    return nil, "the kernel has no zram"
  end
  local number = number_in("/sys/class/zram-control/hot_add")
  if not number then return nil, "zram gives no device (not root?)" end
  put(("%s/zram%d"):format(object.folder, number), "")
  undo(function() remove_zram(number) end)
  local device = "/dev/zram" .. number
  put(("/sys/block/zram%d/disksize"):format(number), tostring(object.size_bytes))
  for _ = 1, 100 do
    if fs.try_stat(device) then return device end
    task.sleep(0.02)
  end
  return nil, device .. " does not appear"
end

function try.loop(undo, object, mount)
  local below = object.folder .. "/below"
  -- The file system on it may be full to the last block, and the tmpfs not.
  mount(undo, "storlua", below, "tmpfs",
    ("size=%dk,mode=0700"):format(object.size_bytes // 1024 + 1024))
  local image = below .. "/disk.img"
  process.run { "truncate", "-s", tostring(object.size_bytes), image }
  -- Registered first, by the file: the end of the run may come meanwhile.
  undo(function()
    local list = process.run { "losetup", "-n", "-O", "NAME", "-j", image }.stdout
    for device in list:gmatch("%S+") do process.run { "losetup", "-d", device } end
  end)
  local attached, err = process.try_run { "losetup", "-f", "--show", image }
  if not attached then return nil, err.message end
  if attached.code ~= 0 then return nil, attached.stderr:gsub("%s+$", "") end
  local device = attached.stdout:gsub("%s+$", "")
  put(object.folder .. "/" .. device:match("[^/]*$"), "")
  return device
end

local NAMES = { brd = "brd", zram = "zram", loop = "a loop device on tmpfs" }

--- Opens one for object.size_bytes; sets object.disk, and object.reasons why not
--- a better one. With object.wanted_disk only that kind.
---@async
---@param undo fun(step: fun())
---@param object table
---@param mount fun(undo, source, path, type, options)
---@return string device
function disk.open(undo, object, mount)
  object.reasons = {}
  for _, kind in ipairs(object.wanted_disk and { object.wanted_disk }
    or { "brd", "zram", "loop" }) do
    local device, reason = try[kind](undo, object, mount)
    if device then
      object.disk = NAMES[kind]
      return device
    end
    object.reasons[kind] = reason
  end
  local words = {}
  for kind, reason in pairs(object.reasons) do words[#words + 1] = kind .. ": " .. reason end
  table.sort(words)
  errors.raise("ENODEV", "no RAM disk here: %s", table.concat(words, "; "))
end

--- Removes the devices that a folder of a killed run names.
---@async
---@param folder string
---@param done string[] what was done is added
function disk.clean(folder, done)
  for _, name in ipairs(fs.list(folder)) do
    local number = name:match("^zram(%d+)$")
    if number and fs.try_stat("/sys/block/" .. name) then
      remove_zram(math.tointeger(tonumber(number)))
      done[#done + 1] = "removed " .. name
    end
    local backing = name:find("^loop%d+$")
      and fs.try_read("/sys/block/" .. name .. "/loop/backing_file")
    -- The number may be somebody else's by now.
    if backing and backing:find("disk.img", 1, true) then
      process.try_run { "losetup", "-d", "/dev/" .. name }
      done[#done + 1] = "detached " .. name
    end
  end
end

return disk
