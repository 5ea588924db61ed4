-- SPDX-License-Identifier: MIT
--- The page cache of one file, one block device, or all: how much of it is
--- there, and dropping it with the proof. The device has a cache of its own,
--- which nothing in Linux drops: a cold read needs more data than that holds.

local core = require("storlua.core.cache")
local device = require("storlua.device")
local errors = require("storlua.errors")
local job = require("storlua.job")

local cache = {}

--- How many bytes of the file are in the page cache. `resident_bytes` is
--- absent where the kernel does not tell (`source` is "unknown").
---@async
---@param path string
---@return table resident_bytes?, dirty_bytes?, source
function cache.residency(path)
  return job.wait(core.residency(path))
end

-- Says what the numbers leave open: why pages stayed, and that the file behind
-- a loop device is cached once more.
local function explain(result, path)
  local found = device.try_of_path(path)
  local mount, loop = found and found.mount, found and found.single and found.single.loop
  if loop and loop.direct ~= nil then
    result.loop_backing = loop.direct and "direct" or "buffered"
  end
  local after = result.resident_after_bytes
  if after == nil then
    result.reason = "the kernel does not tell what is resident"
  elseif after > 0 then
    if mount and (mount.type == "tmpfs" or mount.type == "ramfs") then
      result.reason = mount.type .. " keeps its pages: they are the data"
    elseif (result.dirty_after_bytes or 0) > 0 then
      result.reason = ("%d bytes are dirty again"):format(result.dirty_after_bytes)
    else
      result.reason = "the pages left are mapped or in use by somebody"
    end
  end
  return result
end

---@class storlua.CacheDrop
---@field resident_before_bytes? integer
---@field resident_after_bytes? integer 0 is the proof that a read will be cold
---@field dirty_before_bytes? integer
---@field dirty_after_bytes? integer
---@field source string "cachestat", "mincore", "unknown"
---@field reason? string why pages stayed
---@field loop_backing? string "buffered": the file behind is cached once more

--- Flushes the file and drops its pages. Pages that are mapped, and those of
--- tmpfs, stay: `resident_after_bytes` and `reason` say so.
---@async
---@param path string
---@return storlua.CacheDrop
function cache.drop_file(path)
  return explain(job.wait(core.drop_file(path)), path)
end

--- Flushes a block device and drops its pages, also while it is mounted; the
--- pages of its files are others. Needs root.
---@async
---@param path string
---@return storlua.CacheDrop
function cache.drop_device(path)
  return explain(job.wait(core.drop_device(path)), path)
end

--- Syncs everything and drops the caches of the whole system. Needs root, and
--- fails in a container; nothing else is tried instead.
---@async
---@param what integer 1 pages, 2 names and inodes, 3 both
---@return table cached_before_bytes?, cached_after_bytes?
function cache.drop_all(what)
  return job.wait(core.drop_all(what))
end

--- As cache.drop_file, but returns nil and the error.
---@async
---@param path string
---@return table|nil, storlua.Error|nil
function cache.try_drop_file(path)
  return errors.try(cache.drop_file, path)
end

--- As cache.drop_device, but returns nil and the error.
---@async
---@param path string
---@return storlua.CacheDrop|nil, storlua.Error|nil
function cache.try_drop_device(path)
  return errors.try(cache.drop_device, path)
end

--- As cache.drop_all, but returns nil and the error.
---@async
---@param what integer
---@return table|nil, storlua.Error|nil
function cache.try_drop_all(what)
  return errors.try(cache.drop_all, what)
end

return cache
