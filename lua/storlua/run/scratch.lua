-- SPDX-License-Identifier: MIT
--- Scratch files of a run: overwritten and removed only when they are ours.

local core = require("storlua.core.scratch")
local errors = require("storlua.errors")
local job = require("storlua.job")
local scheduler = require("storlua.scheduler")

local scratch = {
  hung_seconds = 0.25, -- how long a removal may take once the device hangs
}

local NOT_OURS = { EEXIST = true, EPERM = true, EAGAIN = true }
-- No file can be made where it is wanted.
local NO_PLACE = { ENOENT = true, ENOTDIR = true, EACCES = true, EROFS = true,
                   ENAMETOOLONG = true }

---@class storlua.ScratchFile
---@field path string
---@field reused boolean it was left by a run that did not end
---@field on_remove? fun() called before it is removed
local File = {}
File.__index = File
File.__name = "storlua.ScratchFile"

--- Keeps the file at the end: it holds evidence.
---@param reason? string nil: it need not be kept any more
function File:keep(reason) self.reason = reason end

--- Removes the file, or keeps it when keep was called. When a job on it was
--- given up the device may not answer this either: then both are left behind.
---@async
function File:release()
  if not self.handle then return end
  local handle = self.handle
  self.handle, self.open_files[self] = nil, nil
  if self.on_remove and not self.reason then self.on_remove() end
  local function remove() job.wait(core.release(handle, self.reason)) end
  if job.given_up == 0 then return remove() end
  scheduler.shield_for(scratch.hung_seconds, remove)
end

function File:__close() scheduler.cleanup(function() self:release() end) end

--- Claims a file. `open_files` is the set of those a run has open.
---@async
---@param path string
---@param resume boolean
---@param open_files table<storlua.ScratchFile, boolean>
---@param any_name? boolean the name is the user's
---@return storlua.ScratchFile
function scratch.claim(path, resume, open_files, any_name)
  local name = path:match("[^/]*$")
  if not any_name and name:sub(1, 8) ~= "storlua." then
    error("t:scratch_file: the file's name begins with \"storlua.\", this one is " .. name, 3)
  end
  local ok, handle, reused = pcall(job.wait, core.claim(path, resume))
  if not ok then
    local failure = handle
    if errors.is(failure) and failure.code == "EAGAIN" then
      errors.raise("USAGE", "%s is in use by another run (%s)", path, failure.hint)
    end
    local code = errors.is(failure) and failure.code
    if NO_PLACE[code] then
      errors.raise("USAGE", "%s: no file can be made there (%s)", path, failure.message)
    end
    if NOT_OURS[code] then failure.code = "USAGE" end
    error(failure, 0)
  end
  local file = setmetatable({
    path = path, handle = handle, reused = reused, open_files = open_files,
  }, File)
  open_files[file] = true
  return file
end

return scratch
