-- SPDX-License-Identifier: MIT
--- Recognises which role of a board a device plays.

local board_shape = require("storlua.board.shape")

local board_match = {}

local KEYS = { "type", "manufacturer", "name", "label" }

local function matches(wanted, value)
  if type(wanted) == "string" then return wanted == value end
  for _, element in ipairs(wanted) do
    if element == value then return true end
  end
  return false
end

local function in_chain(wanted, chain)
  for _, link in ipairs(chain) do
    if matches(wanted, link.name) then return true end
  end
  return false
end

local function facts_of(found)
  local disk = found.single or {}
  local mmc = disk.mmc or {}
  local is_nvme = (disk.name or ""):find("^nvme") ~= nil
  return {
    type = mmc.type or is_nvme and "nvme" or nil,
    manufacturer = mmc.manfid or disk.vendor,
    name = mmc.name or disk.model,
    label = found.label,
    -- The size of a partition says nothing about its disk.
    size_bytes = disk.kind ~= "partition" and disk.size_bytes or nil,
  }
end

local function plays(role, facts, chain)
  local asked = false
  for _, key in ipairs(KEYS) do
    if role[key] then
      asked = true
      if not matches(role[key], facts[key]) then return false end
    end
  end
  if role.host then
    asked = true
    if not in_chain(role.host, chain) then return false end
  end
  if role.size and facts.size_bytes then
    if facts.size_bytes < (role.size.min or 0) then return false end
    if facts.size_bytes > (role.size.max or math.maxinteger) then return false end
  end
  return asked
end

--- The first role whose every stated property the device has. A role that
--- states none is never recognised. What is unknown of the device does not
--- match, except the size of a partition's disk.
---@param board storlua.Board
---@param found storlua.PathDevice
---@return string|nil role
---@return table|nil description
function board_match.role_of(board, found)
  local facts = facts_of(found)
  for _, name in ipairs(board_shape.ROLES) do
    local role = board.roles[name]
    if role and plays(role, facts, found.chain or {}) then return name, role end
  end
  return nil
end

return board_match
