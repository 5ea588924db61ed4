-- SPDX-License-Identifier: MIT
--- The file under test of one matrix: claimed, remounted between tests where
--- that is asked for, and removed at the end.

local errors = require("storlua.errors")
local fs = require("storlua.fs")
local preflight = require("storlua.iozone.preflight")
local process = require("storlua.process")
local scheduler = require("storlua.scheduler")
local scratch = require("storlua.run.scratch")

local place = {}

---@class storlua.IozoneFiles
---@field reads_only boolean somebody's files: read, never written or removed
---@field rated_write_bytes? integer
---@field mount? table
---@field package targets storlua.IozoneTarget[]
---@field package claims table<integer, storlua.ScratchFile>
local Files = {}
Files.__index = Files
Files.__name = "storlua.IozoneFiles"

-- Taken, or taken back after a remount.
local function claim(self, again)
  for i, target in ipairs(self.targets) do
    if not target.reads_only and not self.claims[i] then
      local ok, err = errors.try(function()
        self.claims[i] = scratch.claim(target.path, again or self.t.resume ~= nil,
          self.t.open_files, true)
        return true
      end)
      if not ok and err.code == "USAGE" then error(err, 0) end
      if not ok then self.t:abort("%s", err.message) end
      if self.options.keep then self.claims[i]:keep("kept by -w") end
    end
  end
end

local function release(self)
  local first
  for i in pairs(self.claims) do
    local ok, err = pcall(self.claims[i].release, self.claims[i])
    if not ok then first = first or err end
  end
  self.claims = {}
  if first then error(first, 0) end
end

--- Checks the files of a matrix and claims them.
---@async
---@param t storlua.Run
---@param matrix storlua.IozoneMatrix
---@return storlua.IozoneFiles
function place.open(t, matrix)
  local targets = preflight.check(t, matrix)
  local self = setmetatable({
    t = t, options = matrix.options, targets = targets, claims = {}, mount = targets[1].mount,
    rated_write_bytes = targets[1].rated_write_bytes, reads_only = true,
  }, Files)
  for _, target in ipairs(targets) do
    self.reads_only = self.reads_only and target.reads_only
    if target.replaces then fs.remove(target.path) end
  end
  local ok, err = pcall(claim, self)
  if not ok then
    scheduler.cleanup(function() release(self) end)
    error(err, 0)
  end
  return self
end

--- Before each test: unmounts and mounts, so that nothing is in the cache. The
--- claim holds a file on the medium open, so it is put down meanwhile.
---@async
function Files:before_test()
  local point = self.options.remount
  if not point then return end
  for _, one in pairs(self.claims) do one:keep("being remounted") end
  release(self)
  local failure = nil
  for _, command in ipairs { "umount", "mount" } do
    local result, err = process.try_run { command, point, timeout = 120 }
    if err or result.code ~= 0 then
      failure = failure or err and err.message
        or ("%s %s: %s"):format(command, point, (result.stderr:gsub("%s+$", "")))
      break
    end
  end
  claim(self, true)
  self.t:require("remount", not failure, "-U: %s", failure or "")
end

--- Keeps the files when their content is what is wrong with them.
---@param reason string
function Files:keep_as_evidence(reason)
  for _, one in pairs(self.claims) do one:keep(reason) end
  self.is_evidence = true
end

function Files:__close()
  scheduler.cleanup(function()
    release(self)
    if not self.options.keep or self.is_evidence then return end
    -- what the user asked to keep is the user's from now on
    for _, target in ipairs(self.targets) do fs.try_remove(target.path .. ".owner") end
  end)
end

return place
