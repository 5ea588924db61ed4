-- SPDX-License-Identifier: MIT
--- The file under test of one matrix: claimed, remounted between tests where
--- that is asked for, and removed at the end.

local errors = require("storlua.errors")
local fs = require("storlua.fs")
local preflight = require("storlua.iozone_preflight")
local process = require("storlua.process")
local scheduler = require("storlua.scheduler")
local scratch = require("storlua.run.scratch")

local place = {}

---@class storlua.IozoneFile
---@field reads_only boolean somebody's file: read, never written or removed
---@field rated_write_bytes? integer
---@field mount? table
local File = {}
File.__index = File
File.__name = "storlua.IozoneFile"

-- Taken, or taken back after a remount.
local function claim(self, again)
  local ok, err = errors.try(function()
    self.claim = scratch.claim(self.options.path, again or self.t.resume ~= nil,
      self.t.open_files, true)
    return true
  end)
  if not ok and err.code == "USAGE" then error(err, 0) end
  if not ok then self.t:abort("%s", err.message) end
  if self.options.keep then self.claim:keep("kept by -w") end
end

--- Checks the place of a matrix and claims the file.
---@async
---@param t storlua.Run
---@param matrix storlua.IozoneMatrix
---@return storlua.IozoneFile
function place.open(t, matrix)
  local self = setmetatable(preflight.check(t, matrix), File)
  self.t, self.options = t, matrix.options
  if self.replaces then fs.remove(self.options.path) end
  if not self.reads_only then claim(self) end
  return self
end

--- Before each test: unmounts and mounts, so that nothing is in the cache. The
--- claim holds a file on the medium open, so it is put down meanwhile.
---@async
function File:before_test()
  local point = self.options.remount
  if not point then return end
  local held = self.claim
  if held then
    held:keep("being remounted")
    held:release()
    self.claim = nil
  end
  local results = {}
  for i, command in ipairs { "umount", "mount" } do
    local result, err = process.try_run { command, point, timeout = 120 }
    results[i] = err and err.message or result.code ~= 0 and ("%s %s: %s"):format(command, point,
      result.stderr:gsub("%s+$", "")) or false
  end
  if held and not results[2] then claim(self, true) end
  if held and results[1] and not self.claim then claim(self, true) end
  local failure = results[1] or results[2]
  self.t:require("remount", not failure, "-U: %s", failure or "")
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
