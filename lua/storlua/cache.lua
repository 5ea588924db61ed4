-- SPDX-License-Identifier: MIT
--- The page cache of one file or block device: how much of it is there, and
--- dropping it with the proof.

local core = require("storlua.core.cache")
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

--- Flushes the file and drops its pages. Pages that are mapped, and those of
--- tmpfs, stay: `resident_after_bytes` says so.
---@async
---@param path string
---@return table resident_before_bytes?, resident_after_bytes?, dirty_before_bytes?, source
function cache.drop_file(path)
  return job.wait(core.drop_file(path))
end

--- As cache.drop_file, but returns nil and the error.
---@async
---@param path string
---@return table|nil, storlua.Error|nil
function cache.try_drop_file(path)
  return errors.try(cache.drop_file, path)
end

return cache
