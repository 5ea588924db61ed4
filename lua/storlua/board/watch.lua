-- SPDX-License-Identifier: MIT
--- Applies the limits of a board to the measures of a run: finds the role of
--- each target once, then says what each measure gives to which limit.

local device = require("storlua.device")

local board_watch = {}

---@class storlua.BoardWatch
---@field package board storlua.Board
---@field package role? string the same for all targets
---@field package roles table<string, string|false> by path
local BoardWatch = {}
BoardWatch.__index = BoardWatch
BoardWatch.__name = "storlua.BoardWatch"

--- Begins to watch a run.
---@param board storlua.Board
---@param role? string role of every target; default: recognised by its device
---@return storlua.BoardWatch
function board_watch.new(board, role)
  return setmetatable({ board = board, role = role, roles = {} }, BoardWatch)
end

--- The role that the device under `path` plays on the board, or nil.
---@async
---@param path string
---@return string|nil
function BoardWatch:role_of(path)
  if self.role then return self.role end
  local known = self.roles[path]
  if known == nil then
    local found = device.try_of_path(path)
    known = found and self.board:role_of(found) or false
    self.roles[path] = known
  end
  return known or nil
end

local function implausible_text(board, sample)
  local value = ("%.1f"):format(sample.value):gsub(",", ".")
  return ("implausible: %s %s of %s is more than board %s can carry"):format(
    value, sample.unit or "", sample.metric, board.name)
end

--- What a measure gives to the limits of its target's role: a list of {metric,
--- value, unit, rule, implausible}. `rule` is the threshold that the metric is
--- to be judged by; a limit without measures has no rule, so it judges nothing.
--- `implausible` is a text for a note, or nil.
---@async
---@param spec table
---@param result table
---@return table[]
function BoardWatch:measure(spec, result)
  if not spec.path then return {} end
  local role = self:role_of(spec.path)
  if not role then return {} end
  local samples = self.board:samples(role, spec, result)
  for _, sample in ipairs(samples) do
    sample.implausible = sample.implausible and implausible_text(self.board, sample) or nil
  end
  return samples
end

return board_watch
