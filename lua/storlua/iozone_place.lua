-- SPDX-License-Identifier: MIT
--- The file under test of one matrix: claimed, remounted between tests where
--- that is asked for, and removed at the end.

local fs = require("storlua.fs")
local preflight = require("storlua.iozone_preflight")
local process = require("storlua.process")
local scheduler = require("storlua.scheduler")

local place = {}

---@class storlua.IozoneFile
---@field reads_only boolean somebody's file: read, never written or removed
---@field rated_write_bytes? integer
---@field mount? table
local File = {}
File.__index = File
File.__name = "storlua.IozoneFile"

--- Checks the place of a matrix and claims the file.
---@async
---@param t storlua.Run
---@param matrix storlua.IozoneMatrix
---@return storlua.IozoneFile
function place.open(t, matrix)
  local self = setmetatable(preflight.check(t, matrix), File)
  self.options = matrix.options
  if self.replaces then fs.remove(self.options.path) end
  if not self.reads_only then
    self.claim = t:scratch_file(self.options.path, { any_name = true })
    if self.options.keep then self.claim:keep("kept by -w") end
  end
  return self
end

--- Before each test: unmounts and mounts, so that nothing is in the cache.
---@async
function File:before_test()
  local point = self.options.remount
  if not point then return end
  process.run { "umount", point, timeout = 120 }
  process.run { "mount", point, timeout = 120 }
end

--- Keeps the file when its content is what is wrong with it.
---@param reason string
function File:keep_as_evidence(reason)
  if self.claim then
    self.claim:keep(reason)
    self.is_evidence = true
  end
end

function File:__close()
  if not self.claim then return end
  scheduler.cleanup(function()
    self.claim:release()
    -- what the user asked to keep is the user's from now on
    if self.options.keep and not self.is_evidence then
      fs.try_remove(self.options.path .. ".owner")
    end
  end)
end

return place
