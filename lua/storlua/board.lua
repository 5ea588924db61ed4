-- SPDX-License-Identifier: MIT
--- Boards: descriptions of a model, found by name or recognised by the device
--- tree. See docs/boards.md.

local board_limits = require("storlua.board.limits")
local board_shape = require("storlua.board.shape")
local errors = require("storlua.errors")
local fs = require("storlua.fs")
local nearest = require("storlua.nearest")
local source = require("storlua.source")

local board = {
  site_folder = "/etc/storlua/boards",
  compatible_files = {
    "/proc/device-tree/compatible", "/sys/firmware/devicetree/base/compatible",
  },
}

---@class storlua.Board
---@field name string
---@field summary? string
---@field compatible string[]
---@field roles table<string, table>
---@field path string the file it is from
---@field reference string what selects it again, from any folder
local Board = {}
Board.__index = Board
Board.__name = "storlua.Board"

local function usage(format, ...) errors.raise("USAGE", format, ...) end

local function load_text(content, path)
  local chunk, message = source.compile(content, path)
  if not chunk then usage("board: %s", message) end
  local ok, result = pcall(chunk)
  if not ok then usage("board: %s: %s", path, tostring(result)) end
  local checked, err = errors.try(board_shape.check, result)
  if not checked then usage("board %s: %s", path, err.message:gsub("^%s+", "")) end
  checked.path = path
  return setmetatable(checked, Board)
end

--- Loads one board file.
---@param path string
---@return storlua.Board
function board.load(path)
  local content, message = source.read(path)
  if not content then usage("--board: %s", message) end
  return load_text(content, path)
end

-- The places of boards, the first one wins: {name → function that loads}.
local function folder_boards(folder, into)
  local names = fs.try_list(folder)
  for _, file in ipairs(names or {}) do
    local name = file:match("^(.+)%.lua$")
    if name and not into[name] then
      into[name] = function() return board.load(folder .. "/" .. file) end
    end
  end
end

local function all_boards(script_dir)
  local found = {}
  if script_dir then folder_boards(script_dir .. "/boards", found) end
  folder_boards(board.site_folder, found)
  local embedded = require("storlua.core.embedded")
  for _, file in ipairs(embedded.list()) do
    local name = file:match("^scripts/boards/([^/]+)%.lua$")
    if name and not found[name] then
      found[name] = function() return load_text(embedded.read(file), file) end
    end
  end
  return found
end

local function sorted_names(boards)
  local names = {}
  for name in pairs(boards) do names[#names + 1] = name end
  table.sort(names)
  return names
end

--- What the device tree says this machine is, the most exact first; empty
--- without a device tree.
---@return string[]
function board.machine()
  for _, path in ipairs(board.compatible_files) do
    local content = source.read(path)
    if content then
      local compatible = {}
      for entry in content:gmatch("[^\0]+") do compatible[#compatible + 1] = entry end
      return compatible
    end
  end
  return {}
end

local function recognised(boards)
  local machine = board.machine()
  if #machine == 0 then return nil end
  local best, best_rank
  for _, name in ipairs(sorted_names(boards)) do
    local candidate = boards[name]()
    for rank, entry in ipairs(machine) do
      for _, compatible in ipairs(candidate.compatible) do
        if compatible == entry and (not best or rank < best_rank) then
          best, best_rank = candidate, rank
        end
      end
    end
  end
  return best
end

local function is_path(wanted) return wanted:find("/", 1, true) or wanted:find("%.lua$") end

local function find(wanted, script_dir)
  if is_path(wanted) then return board.load(wanted) end
  local boards = all_boards(script_dir)
  if wanted == "auto" then return recognised(boards) or boards.generic() end
  if boards[wanted] then return boards[wanted]() end
  local names = sorted_names(boards)
  local near = nearest.hint(wanted, names)
  usage("--board: no board %s%s", require("storlua.cli.option_types").quote(wanted),
    near ~= "" and near or "; there are " .. table.concat(names, ", "))
end

--- The board of a run: a file, a name, or with "auto" the one that the device
--- tree names, else the generic one.
---@param wanted string
---@param script_dir? string boards/ beside the script come first
---@return storlua.Board
function board.select(wanted, script_dir)
  local found = find(wanted, script_dir)
  found.reference = is_path(wanted) and fs.realpath(wanted) or found.name
  return found
end

--- The limits of a role; with a spec only those that judge it.
---@param role string
---@param spec? table of a workload
---@return table[]
function Board:limits_for(role, spec)
  local description, limits = self.roles[role], {}
  for _, limit in ipairs(description and description.limits or {}) do
    if not spec or board_limits.applies(limit, spec) then limits[#limits + 1] = limit end
  end
  return limits
end

--- Thresholds for a run that measures these specs, one for each metric:
--- {metric = "emmc.write.mb_s", rule = "p50 >= 60"}. What Board:samples gives
--- goes to t:sample under the same metrics.
---@param role string
---@param specs table[]
---@return table[]
function Board:thresholds_for(role, specs)
  local thresholds, seen = {}, {}
  for _, spec in ipairs(specs) do
    for _, limit in ipairs(self:limits_for(role, spec)) do
      local metric = board_limits.metric(role, limit, spec)
      local rule = board_limits.rule(limit)
      if rule and not seen[metric .. rule] then
        seen[metric .. rule] = true
        thresholds[#thresholds + 1] = { metric = metric, rule = rule }
      end
    end
  end
  return thresholds
end

--- What one measure says about the limits of a role: a list of {metric, rule,
--- value, unit, implausible, limit}. Implausible is a value above `max`: worth a note.
---@param role string
---@param spec table
---@param result table
---@return table[]
function Board:samples(role, spec, result)
  return board_limits.samples(role, self:limits_for(role), spec, result)
end

--- Judges measures that are over: a list of {metric, value, count, ok, …}.
---@param role string
---@param measures table[] each {spec, result}
---@return table[]
function Board:judge(role, measures)
  return board_limits.judge(role, self:limits_for(role), measures)
end

--- The role of a device on this board, or nil.
---@param found storlua.PathDevice what device.of_path returns
---@return string|nil role
---@return table|nil description
function Board:role_of(found)
  return require("storlua.board.match").role_of(self, found)
end

return board
