-- SPDX-License-Identifier: MIT
--- RAM disks of the kernel's own (brd): they are there before us and stay, so
--- only an empty one is taken, and it is given back empty.

local fs = require("storlua.fs")
local process = require("storlua.process")
local task = require("storlua.task")

local brd = {}

local STEP <const> = 1 << 20
local ZEROS <const> = ("\0"):rep(STEP)

--- Whether a device, or a file, reads as zeros from its first byte to its last.
---@async
---@param path string
---@return boolean
function brd.is_blank(path)
  local file = io.open(path, "rb")
  if not file then return false end
  local _ <close> = file
  while true do
    local data, why = file:read(STEP)
    if not data then return not why end
    if data ~= ZEROS and data:find("[^\0]") then return false end
    task.yield() -- others go on meanwhile
  end
end

local function sectors_of(name)
  return math.tointeger(tonumber((fs.try_read("/sys/block/" .. name .. "/size") or "")
    :match("^%d+")))
end

--- The first that is large enough and holds nothing, or nil and why not.
---@async
---@param size_bytes integer
---@return string|nil device
---@return string|nil reason
function brd.find(size_bytes)
  local reason = "there is no /dev/ram0 and no module brd"
  for n = 0, 15 do
    local name = "ram" .. n
    local sectors = sectors_of(name)
    if sectors then
      if sectors * 512 < size_bytes then
        reason = ("/dev/%s has %d KiB: load brd with rd_size"):format(name, sectors // 2)
      elseif not brd.is_blank("/dev/" .. name) then
        reason = "/dev/" .. name .. " holds data"
      else
        return "/dev/" .. name
      end
    end
  end
  return nil, reason
end

-- Only over what is not zero yet: a page that is written takes memory.
local function write_zeros(path)
  local file = io.open(path, "r+b")
  if not file then return end
  local _ <close> = file
  local at, data = 0, file:read(STEP)
  while data do
    if data ~= ZEROS then
      file:seek("set", at)
      if not file:write(ZEROS:sub(1, #data)) then return end
    end
    task.yield()
    at = at + #data
    file:seek("set", at)
    data = file:read(STEP)
  end
end

--- Empties one that is in use no more. Old kernels free its pages when it is
--- flushed, new ones when it is discarded. Those between can only overwrite it:
--- it keeps the memory, but the next run can take it. One that could not be
--- unmounted is left alone.
---@async
---@param path string
function brd.free(path)
  if fs.read("/proc/thread-self/mountinfo"):find(" " .. path .. " ", 1, true) then return end
  for _, argv in ipairs { { "blockdev", "--flushbufs", path }, { "blkdiscard", path } } do
    process.try_run(argv)
    if brd.is_blank(path) then return end
  end
  write_zeros(path)
end

return brd
