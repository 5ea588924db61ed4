-- SPDX-License-Identifier: MIT
--- The folder of a run: made by mkdir, locked while the run lives. It may lie
--- on a disk that does not answer: every call is a job.

local core = require("storlua.core.run_dir")
local errors = require("storlua.errors")
local job = require("storlua.job")
local scheduler = require("storlua.scheduler")

local run_dir = {
  close_seconds = 10, -- how long the disk has to answer at the end
  hung_seconds = 0.25, -- the same once something hangs
}

---@class storlua.RunDir
---@field path string
---@field handle? userdata
local RunDir = {}
RunDir.__index = RunDir

-- Why a folder cannot be had. Without a place for results nothing can begin.
local function refuse(path, how, err)
  local code = err.code
  if code == "EAGAIN" then
    errors.raise("USAGE", "%s is in use by another run (%s)", path, err.hint or "still running")
  elseif how == "resume" then
    errors.raise("USAGE", "--resume %s: %s", path, code == "ENOENT" and "there is no run"
      or err.message)
  elseif how == "new" and code == "ENOTEMPTY" then
    errors.raise("USAGE", "--output %s: the folder is not empty", path)
  elseif how == "new" and code == "EEXIST" then
    errors.raise("USAGE", "--output %s: holds a run already; --resume goes on with it", path)
  end
  errors.raise("USAGE", "no place for the results: %s; --output DIR puts them elsewhere",
    err.message)
end

local function open(path, how)
  local ok, handle, at = pcall(job.wait_on, path, core.open(path, how))
  if ok then return setmetatable({ path = at, handle = handle }, RunDir) end
  local err = handle
  if errors.is(err) and err.op then refuse(path, how, err) end
  error(err, 0) -- it was told to end
end

--- Makes and locks the folder of a new run.
---@async
---@param script string name of the script, for results/<script>-<n>
---@param output? string an empty folder, or one to be made
---@return storlua.RunDir
function run_dir.create(script, output)
  if output then return open(output, "new") end
  return open("results/" .. script:gsub("[^%w_.-]", "_") .. "-", "numbered")
end

--- Locks the folder of a run that was cut off.
---@async
---@param path string
---@return storlua.RunDir
function run_dir.open(path) return open(path, "resume") end

--- Lets go of the folder, and takes it away before when nothing came of the
--- run: its files, and the folders that were made for it.
---@async
---@param remove? boolean
---@param is_hung? boolean the log on it did not answer either
---@return boolean ok
---@return string|nil message
function RunDir:close(remove, is_hung)
  local handle = self.handle
  local seconds = (is_hung or job.given_up > 0) and run_dir.hung_seconds or run_dir.close_seconds
  self.handle = nil
  local ok, err = pcall(scheduler.shield_for, seconds, function()
    job.wait_on(self.path, core.close(handle, remove))
  end)
  return ok, not ok and tostring(err) or nil
end

return run_dir
