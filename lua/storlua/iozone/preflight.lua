-- SPDX-License-Identifier: MIT
--- What can be known before a matrix starts: whether the file may be made, the
--- room, direct I/O, the records that fit the sectors. Refuses with a text.

local device = require("storlua.device")
local errors = require("storlua.errors")
local fs = require("storlua.fs")
local limits = require("storlua.memory.limits")
local quantity = require("storlua.quantity")
local scratch = require("storlua.run.scratch")
local workload = require("storlua.workload")

local preflight = {}

local function usage(format, ...) errors.raise("USAGE", format, ...) end

local function folder_of(path) return path:match("^(.*/)[^/]*$") or "." end

-- A file of somebody's that is only read is not harmed: no test writes.
local function check_existing(o, path, matrix, stat)
  if stat.is_directory then
    usage("%s is a directory: name a file in it with -f", path)
  elseif stat.kind == "block" then
    usage("%s is a device: this test is for files; a device is tested by rawblock.lua", path)
  elseif stat.kind ~= "file" then
    usage("%s is neither a file nor a new name", path)
  elseif matrix:writes() then
    if o.overwrite then return end
    usage("%s exists already; it would be overwritten and deleted: --overwrite allows that", path)
  elseif stat.size_bytes < matrix:largest_bytes() then
    usage("%s has %s and the largest file of the matrix is %s", path,
      quantity.size_text(stat.size_bytes), quantity.size_text(matrix:largest_bytes()))
  end
end

-- RAM file systems: what is free there is not all that is free.
local function room_of(folder, mount)
  local bytes = fs.space(folder).available_bytes
  if not mount or mount.type ~= "tmpfs" and mount.type ~= "ramfs" then return bytes end
  local memory = limits.read().room_bytes
  return mount.type == "ramfs" and memory or math.min(bytes, memory)
end

-- All files that lie on one file system, at their largest.
local function check_room(o, matrix, files)
  if o.ignore_space then return end
  local need, room, folders = {}, {}, {}
  for _, file in ipairs(files) do
    local dev = fs.stat(file.folder).dev
    room[dev] = room[dev] or room_of(file.folder, file.mount)
    room[dev] = room[dev] + (file.existing and file.existing.allocated_bytes or 0)
    need[dev], folders[dev] = (need[dev] or 0) + matrix:largest_bytes(), file.folder
  end
  for dev, bytes in pairs(need) do
    if bytes > room[dev] then
      usage("%s has room for %s, the largest files of the matrix need %s (-g or -s makes them "
        .. "smaller, --ignore-space tries it)", folders[dev], quantity.size_text(room[dev]),
        quantity.size_text(bytes))
    end
  end
end

local function check_memory_target(o, path, mount)
  if not o.direct or not mount then return end
  if mount.type == "tmpfs" or mount.type == "ramfs" then
    usage("-I: %s lies on %s, which is memory: there is no direct I/O past the cache; "
      .. "leave -I out to measure memory", path, mount.type)
  end
end

-- One small write tells whether O_DIRECT works and in which units.
local function direct_unit(path)
  local probe = scratch.claim(path .. ".storlua-probe", true, {}, true)
  local result, err = workload.try_run {
    path = probe.path, operation = "write", record_bytes = 65536, size_bytes = 65536, direct = true,
  }
  probe:release()
  if not result then usage("-I: %s", err.message) end
  if result.error then usage("-I: %s", result.error.message) end
  return result.target.offset_align or 1
end

local function check_alignment(o, path, matrix)
  if not o.direct then return end
  local unit = direct_unit(path)
  for _, row in ipairs(matrix.rows) do
    local bad = row.record_bytes % unit ~= 0 and "records of " .. row.record_bytes
      or row.size_bytes % unit ~= 0 and "a file of " .. row.size_bytes
    if bad then
      usage("-I: the file system moves multiples of %d bytes past the cache: %s bytes do not fit",
        unit, bad)
    end
  end
end

local function check_folder(path, folder, mount)
  local stat, err = fs.try_stat(folder)
  if not stat then usage("%s: %s", path, err.message) end
  if not stat.is_directory then usage("%s is not a directory", folder) end
  if mount and mount.type == "devtmpfs" then
    usage("%s: there is no such device, and no file is created in /dev", path)
  end
  if fs.space(folder).is_read_only then usage("%s is on a read-only file system", path) end
  if not fs.is_writable(folder) then usage("%s: no permission to make files there", folder) end
end

--- An output file must be writable before the run, not after it: another one
--- is made where it will be, and removed.
---@param path string
function preflight.check_output(path)
  local stat = fs.try_stat(path)
  if stat and stat.kind ~= "file" then usage("%s is no regular file: name another one", path) end
  local probe = path .. ".storlua-probe"
  local made, err = fs.try_write_atomic(probe, "")
  if not made then usage("%s cannot be written: %s", path, err.message) end
  fs.try_remove(probe)
end

---@class storlua.IozoneTarget
---@field path string
---@field folder string
---@field mount? table
---@field existing? storlua.Stat
---@field reads_only boolean it exists, is somebody's, and is only read
---@field replaces boolean it exists and may be removed: --overwrite
---@field rated_write_bytes? integer what the medium may be written in its life

local function target_of(t, matrix, path)
  local folder = folder_of(path)
  local existing, err = fs.try_stat(path)
  if not existing and err.code ~= "ENOENT" then usage("%s", err.message) end
  local mine = t.resume ~= nil or fs.exists(path .. ".owner")
  if existing and not mine then check_existing(matrix.options, path, matrix, existing) end
  local found = device.try_of_path(folder)
  local mount = found and found.mount
  check_memory_target(matrix.options, path, mount)
  local reads_only = existing ~= nil and not mine and not matrix:writes()
  if not reads_only then check_folder(path, folder, mount) end
  local role = found and t.board and t.board:role_of(found)
  return {
    path = path, folder = folder, mount = mount, existing = existing, reads_only = reads_only,
    replaces = existing ~= nil and not mine and not reads_only,
    rated_write_bytes = role and t.board.roles[role].rated_write,
  }
end

--- Checks the files of a matrix. Raises an error with the code "USAGE".
---@async
---@param t storlua.Run
---@param matrix storlua.IozoneMatrix
---@return storlua.IozoneTarget[]
function preflight.check(t, matrix)
  local targets, written = {}, {}
  for i, path in ipairs(matrix:paths()) do
    targets[i] = target_of(t, matrix, path)
    if not targets[i].reads_only then written[#written + 1] = targets[i] end
  end
  check_room(matrix.options, matrix, written)
  for _, target in ipairs(written) do check_alignment(matrix.options, target.path, matrix) end
  return targets
end

return preflight
