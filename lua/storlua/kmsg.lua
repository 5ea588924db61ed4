-- SPDX-License-Identifier: MIT
--- Follows the kernel's log and says which lines are about the device under
--- test. Only lines of the kernel itself count: user space cannot forge one.

local core = require("storlua.core.kmsg")
local errors = require("storlua.errors")
local poll = require("storlua.core.poll")
local task = require("storlua.task")

local kmsg = {}

---@class storlua.KernelLine
---@field class string "error", "warning", "other"
---@field text string
---@field priority integer 0 emergency … 7 debug
---@field k_seq integer
---@field k_time_ns integer the log's own clock, since boot
---@field device? string the name in it that is of the device
---@field facility? integer absent for the kernel's own lines
---@field lost? integer the only field, when records were overwritten unread

---@class storlua.Kmsg
local Kmsg = {}
Kmsg.__index = Kmsg
Kmsg.__name = "storlua.Kmsg"

--- Begins to follow the log from its end. Close the log, or declare it with
--- <close>. Without access it returns nil and the reason.
---@param found storlua.PathDevice the device under test (device.of_path)
---@param options? table all: also lines of class "other"; names: more kernel names of the device;
--- patterns, ignore: Lua patterns of lines that are errors, or are not; where one has a capture,
--- the captured text must be a name of the device
---@return storlua.Kmsg|nil
---@return string|nil reason
function kmsg.open(found, options)
  if type(found) ~= "table" or type(found.chain) ~= "table" then
    error("kmsg.open: expected what device.of_path returns", 2)
  end
  options = options or {}
  local chain = table.move(found.chain, 1, #found.chain, 1, {})
  for _, name in ipairs(options.names or {}) do chain[#chain + 1] = { name = name } end
  local names = {}
  for _, link in ipairs(chain) do names[link.name] = true end
  local log, message = core.open(chain)
  if not log then return nil, message end
  return setmetatable({
    core = log, all = options.all or false, lost = 0, names = names,
    patterns = options.patterns or {}, ignore = options.ignore or {},
  }, Kmsg)
end

-- What a pattern captures is the name of a device: of ours, or the line is not
-- meant. Without a capture the line counts whatever device it names.
local function matches(text, patterns, names)
  for _, pattern in ipairs(patterns) do
    local at, _, name = text:find(pattern)
    if at and (type(name) ~= "string" or names[name]) then return true end
  end
  return false
end

-- What the board knows better. A line that user space wrote stays one.
local function judge(self, line)
  if line.facility then return line end
  if matches(line.text, self.ignore, self.names) then
    line.class = "other"
  elseif matches(line.text, self.patterns, self.names) then
    line.class = "error"
  end
  return line
end

local function wait_readable(fd)
  local handle
  task.await(function(resume)
    handle = errors.check(poll.start(fd, "r", resume))
    return function() handle:close() end
  end)
  handle:close()
end

--- The next line that is there already, or nil. Does not wait.
---@return storlua.KernelLine|nil
function Kmsg:take()
  while true do
    local line = self.behind_gap or errors.check(self.core:next())
    self.behind_gap = nil
    local lost = self.core:lost()
    if lost > self.lost then
      -- The gap comes first, then the line behind it.
      local gap = { lost = lost - self.lost }
      self.lost, self.behind_gap = lost, line or nil
      return gap
    end
    if not line then return nil end
    judge(self, line)
    if self.all or line.class ~= "other" then return line end
  end
end

--- Waits for the next line about the device; `lost` is set instead of a text
--- when records were overwritten before they could be read.
---@async
---@return storlua.KernelLine
function Kmsg:next()
  while true do
    local line = self:take()
    if line then return line end
    wait_readable(self.core:fd())
  end
end

--- Iterates over all lines to come; ends only when the task is cancelled.
---@async
---@return fun(): storlua.KernelLine
function Kmsg:lines()
  return function() return self:next() end
end

function Kmsg:close() self.core:close() end
Kmsg.__close = Kmsg.close

return kmsg
