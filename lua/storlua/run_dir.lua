-- SPDX-License-Identifier: MIT
--- The folder of a run: made by mkdir, locked while the run lives.

local core = require("storlua.core.run_dir")
local errors = require("storlua.errors")

local run_dir = {}

---@class storlua.RunDir
---@field path string
---@field lock userdata

-- Passes on what a call gave; without a place for results nothing can begin.
local function usable(result, message)
  if result == nil then
    errors.raise("USAGE", "no place for the results: %s; --output DIR puts them elsewhere", message)
  end
  return result
end

local function lock(path)
  local held, message, code, fields = core.lock(path .. "/lock")
  if code == "EAGAIN" then
    errors.raise("USAGE", "%s is in use by another run (%s)", path, fields.hint or "still running")
  end
  return { path = path, lock = usable(held, message) }
end

local function take(path)
  usable(core.make(path))
  if usable(core.is_empty(path)) then return lock(path) end
  local taken = lock(path) -- says so when another run works there
  taken.lock:release()
  local log = io.open(path .. "/events.jsonl", "r")
  if not log then errors.raise("USAGE", "--output %s: the folder is not empty", path) end
  log:close()
  errors.raise("USAGE", "--output %s: holds a run already; --resume goes on with it", path)
end

--- Makes and locks the folder of a new run.
---@param script string name of the script, for results/<script>-<n>
---@param output? string an empty folder, or one to be made
---@return storlua.RunDir
function run_dir.create(script, output)
  if output then return take(output) end
  usable(core.make("results"))
  local prefix = "results/" .. script:gsub("[^%w_.-]", "_") .. "-"
  local n = usable(core.make_numbered(prefix))
  return lock(prefix .. n)
end

--- Locks the folder of a run that was cut off.
---@param path string
---@return storlua.RunDir
function run_dir.open(path)
  local log = io.open(path .. "/events.jsonl", "r")
  if not log then errors.raise("USAGE", "--resume %s: there is no run", path) end
  log:close()
  return lock(path)
end

return run_dir
