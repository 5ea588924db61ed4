-- SPDX-License-Identifier: MIT
--- File systems that lie in memory, as to-be-closed values: tmpfs, ramfs, and a
--- RAM disk with a file system on it. What is mounted is in a mount namespace of
--- our own where the system allows it, so nothing is left of a killed run but a
--- folder and perhaps a device; ramfs.clean() finds those.

local core = require("storlua.core.ram_mount")
local disk = require("storlua.ramfs.disk")
local errors = require("storlua.errors")
local fs = require("storlua.fs")
local job = require("storlua.job")
local limits = require("storlua.memory.limits")
local process = require("storlua.process")
local quantity = require("storlua.quantity")
local task = require("storlua.task")

local ramfs = {
  KINDS = { "tmpfs", "ramfs", "ramdisk" },
  -- Of the size: data of a RAM disk lies there and in the page cache.
  COST = { tmpfs = 1, ramfs = 1, ramdisk = 2 },
}

---@class storlua.RamFileSystem
---@field kind string tmpfs, ramfs, ramdisk
---@field name string what it truly is: "tmpfs", "ramfs", "ext2 (1 KiB blocks) on brd", "… on zram",
--- "… on a loop device on tmpfs"
---@field path string where it is mounted
---@field size_bytes integer its limit; ramfs has none: there it is ours, checked by who writes
---@field is_private boolean nobody outside sees the mount
---@field reasons? table<string, string> why better RAM disks are not there

local is_private -- nil: not tried

-- Once for the process: a namespace cannot be left again.
local function be_private()
  if is_private == nil then is_private = core.private() == true end
  return is_private
end

-- A process is told from a later one with its number by when it started.
local function identity(pid)
  local stat = fs.try_read(("/proc/%s/stat"):format(pid))
  local started = stat and stat:match("%)" .. (" %S+"):rep(19) .. " (%d+)")
  return started and ("%d-%s"):format(pid, started)
end

local function own_identity()
  local pid = math.tointeger(tonumber(fs.read("/proc/self/stat"):match("^(%d+)")))
  return identity(pid)
end

local function base_folder()
  return fs.is_writable("/run") and "/run" or os.getenv("TMPDIR") or "/tmp"
end

local function clean_folder(folder, done, left)
  for _, sub in ipairs { "mount", "below" } do
    local point = folder .. "/" .. sub
    if errors.try(job.wait, core.unmount(point)) then
      done[#done + 1] = "unmounted " .. point
    end
  end
  if not disk.clean(folder, done, left) then return end
  fs.remove_tree(folder)
  done[#done + 1] = "removed " .. folder
end

--- Removes what killed runs have left: mounts, devices, folders. Returns what it
--- did, and what it could not or must not remove, in words. A device is removed
--- only if it is the very one that the run made.
---@async
---@return string[] done
---@return string[] left
function ramfs.clean()
  local done, left, base = {}, {}, base_folder()
  for _, name in ipairs(fs.list(base)) do
    local pid, started = name:match("^storlua%.ramfs%.(%d+)%-(%d+)%.")
    if pid and identity(math.tointeger(tonumber(pid))) ~= pid .. "-" .. started then
      local folder = base .. "/" .. name
      local _, err = errors.try(clean_folder, folder, done, left)
      if err then left[#left + 1] = ("%s is not removed: %s"):format(folder, err.message) end
    end
  end
  return done, left
end

local folders = 0
local function new_folder()
  folders = folders + 1
  local path = ("%s/storlua.ramfs.%s.%d"):format(base_folder(), own_identity(), folders)
  fs.mkdir(path, 448)
  return path
end

--- Why a file system of that size does not fit into the memory now, or nil.
---@param kind string
---@param size_bytes integer
---@return string|nil
function ramfs.no_room(kind, size_bytes)
  local l = limits.read()
  local cost = ramfs.COST[kind]
  if size_bytes <= l.room_bytes // cost then return nil end
  local need = size_bytes <= math.maxinteger // cost and size_bytes * cost or math.maxinteger
  return ("%s of %s may take %s of memory: %s"):format(kind, quantity.size_text(size_bytes),
    quantity.size_text(need), limits.text(l))
end

-- What is really mounted: recipes are full of options that do nothing.
local function check_mounted(path, type, size_kib)
  for line in fs.read("/proc/thread-self/mountinfo"):gmatch("[^\n]+") do
    local point, rest = line:match("^%d+ %d+ %S+ %S+ (%S+) .- %- (.*)$")
    if point == path then
      local found = rest:match("^(%S+)")
      if found ~= type then errors.raise("EINVAL", "%s is %s, not %s", path, found, type) end
      if size_kib and not rest:find(("size=%dk"):format(size_kib), 1, true) then
        errors.raise("EINVAL", "%s: the size was not taken: %s", path, rest)
      end
      return
    end
  end
  errors.raise("EINVAL", "%s is not in the mount table", path)
end

local function mount(undo, source, path, type, options)
  fs.mkdir(path, 448)
  undo(function() fs.remove(path) end)
  -- Registered first: the end of the run may come while the mount is being made,
  -- and then it may be there or not.
  local is_made = false
  undo(function()
    local _, err = errors.try(job.wait, core.unmount(path))
    if err and (is_made or err.code ~= "EINVAL" and err.code ~= "EPERM") then error(err, 0) end
  end)
  job.wait(core.mount(source, path, type, options))
  is_made = true
end

local make = {}

function make.tmpfs(undo, object)
  local path = object.folder .. "/mount"
  local kib = object.size_bytes // 1024
  mount(undo, "storlua", path, "tmpfs", ("size=%dk,mode=0700"):format(kib))
  check_mounted(path, "tmpfs", kib)
  object.name, object.path = "tmpfs", path
end

function make.ramfs(undo, object)
  local path = object.folder .. "/mount"
  mount(undo, "storlua", path, "ramfs", "mode=0700")
  check_mounted(path, "ramfs")
  object.name, object.path = "ramfs", path
end

function make.ramdisk(undo, object)
  local device = disk.open(undo, object, mount)
  local type = object.file_system or "ext2"
  -- Blocks of 1 KiB as in the article, where the device's sectors are not
  -- larger (those of zram are); -F: a whole device is what is meant.
  local sector = math.tointeger(tonumber((fs.try_read(("/sys/block/%s/queue/logical_block_size")
    :format(device:match("[^/]*$"))) or ""):match("^%d+"))) or 512
  object.block_bytes = type == "ext2" and math.max(1024, sector) or 4096
  local argv = { "mke2fs", "-q", "-F", "-t", type, "-b", tostring(object.block_bytes), "-m", "0" }
  argv[#argv + 1] = device
  process.run(argv)
  local path = object.folder .. "/mount"
  mount(undo, device, path, type, "")
  check_mounted(path, type)
  object.name = ("%s (%d KiB blocks) on %s"):format(type, object.block_bytes // 1024, object.disk)
  object.path = path
end

local function take_back(steps)
  local first_error
  for i = #steps, 1, -1 do
    local ok, err = pcall(steps[i])
    if not ok then first_error = first_error or err end
    steps[i] = nil
  end
  if first_error then error(first_error, 0) end
end

--- Mounts one. Raises EPERM without root, ENOMEM when the memory is not free,
--- ENODEV when there is no such thing here. Declare it with <close>.
---@async
---@param kind string "tmpfs", "ramfs", "ramdisk"
---@param size string|integer
---@param options? {disk?: string, file_system?: string} a RAM disk's: brd, zram or loop only
---@return storlua.RamFileSystem
function ramfs.mount(kind, size, options)
  if not make[kind] then error("ramfs.mount: tmpfs, ramfs or ramdisk", 2) end
  local object = { kind = kind, size_bytes = quantity.size(size) // 4096 * 4096,
                   wanted_disk = options and options.disk,
                   file_system = options and options.file_system }
  if object.size_bytes < 1 << 20 then errors.raise("EINVAL", "%s: at least 1 MiB", kind) end
  local why = ramfs.no_room(kind, object.size_bytes)
  if why then errors.raise("ENOMEM", "%s", why) end
  object.is_private = be_private()
  object.folder = new_folder()
  local steps = { function() fs.remove_tree(object.folder) end }
  local guard = task.defer(function() take_back(steps) end)
  local ok, err = pcall(make[kind], function(step) steps[#steps + 1] = step end, object)
  if not ok then
    local _ <close> = guard
    error(err, 0)
  end
  return setmetatable(object, { __close = getmetatable(guard).__close })
end

--- As mount; returns nil and the error.
---@async
function ramfs.try_mount(...) return errors.try(ramfs.mount, ...) end

return ramfs
