-- SPDX-License-Identifier: MIT
--- The block device of a RAM disk: brd where the kernel has it, else zram, else
--- a loop device on a file in tmpfs; each by its true name.

local brd = require("storlua.ramfs.brd")
local errors = require("storlua.errors")
local fs = require("storlua.fs")
local marker = require("storlua.ramfs.marker")
local process = require("storlua.process")
local task = require("storlua.task")

local disk = {}

local function put(path, text)
  local file, why = io.open(path, "w")
  if not file then errors.raise("EIO", "%s", why) end
  local _ <close> = file
  local ok, err = file:write(text)
  ok = ok and file:flush()
  if not ok then errors.raise("EIO", "%s: %s", path, err or "not written") end
  return true
end

local function number_in(path)
  return math.tointeger(tonumber((fs.try_read(path) or ""):match("^(%d+)")))
end

local try = {}

function try.brd(undo, object)
  local device, reason = brd.find(object.size_bytes)
  if device then
    undo(function() brd.free(device) end)
    return device
  end
  if fs.try_stat("/sys/block/ram0") then return nil, reason end
  local loaded = process.try_run { "modprobe", "brd", "rd_nr=1",
    ("rd_size=%d"):format(object.size_bytes // 1024) }
  if not loaded or loaded.code ~= 0 then return nil, reason end
  undo(function() process.try_run { "modprobe", "-r", "brd" } end)
  return brd.find(object.size_bytes)
end

local function remove_zram(number)
  for _ = 1, 50 do -- udev may be looking at it
    local ok = errors.try(put, ("/sys/block/zram%d/reset"):format(number), "1")
    if ok and errors.try(put, "/sys/class/zram-control/hot_remove", tostring(number)) then
      return
    end
    task.sleep(0.05)
  end
  errors.raise("EBUSY", "zram%d cannot be removed: it is in use", number)
end

function try.zram(undo, object)
  -- Reading this file makes a device.
  if not fs.try_stat("/sys/class/zram-control/hot_add") then
    return nil, "the kernel has no zram"
  end
  local number = number_in("/sys/class/zram-control/hot_add")
  if not number then return nil, "zram gives no device (not root?)" end
  undo(function() remove_zram(number) end)
  put(("%s/zram%d"):format(object.folder, number),
    marker.text("zram" .. number, object.size_bytes))
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
  local name = device:match("[^/]*$")
  put(object.folder .. "/" .. name, marker.text(name, object.size_bytes))
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

local clean = {}

function clean.zram(name)
  remove_zram(math.tointeger(tonumber(name:match("%d+"))))
  return "removed " .. name
end

function clean.loop(name)
  local backing = fs.try_read("/sys/block/" .. name .. "/loop/backing_file")
  -- Nothing is attached any more, or what is has another name.
  if not (backing and backing:find("disk.img", 1, true)) then return nil end
  process.run { "losetup", "-d", "/dev/" .. name }
  return "detached " .. name
end

--- Removes the devices that a folder of a killed run names, if they are still
--- the ones it made.
---@async
---@param folder string
---@param done string[] what was done is added
---@param left string[] and what was not, with the reason
---@return boolean over nothing is there to be tried again
function disk.clean(folder, done, left)
  local over = true
  for _, name in ipairs(fs.list(folder)) do
    local kind = name:match("^(%l+)%d+$")
    if clean[kind] and fs.try_stat("/sys/block/" .. name) then
      local is_ours, why = marker.is_of(name, fs.try_read(folder .. "/" .. name) or "")
      local text, err
      if is_ours then text, err = errors.try(clean[kind], name) end
      done[#done + 1] = text
      if err then
        over = false
        left[#left + 1] = err.message .. "; the next run tries again"
      elseif not is_ours then
        left[#left + 1] = ("/dev/%s is left alone: %s"):format(name, why)
      end
    end
  end
  return over
end

return disk
