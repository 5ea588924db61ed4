-- SPDX-License-Identifier: MIT
--- Whether a file may be overwritten without being asked for: it is empty, or
--- storlua wrote it.

local own_file = {}

local MAGIC = "SLS1" -- of a sector that storlua wrote

--- True when the first sector, or the one at `at_bytes`, carries a stamp.
---@param path string
---@param at_bytes? integer
---@return boolean
function own_file.is_ours(path, at_bytes)
  local file <close> = io.open(path, "rb")
  if not file then return false end
  for _, at in ipairs { 0, at_bytes } do
    if file:seek("set", at) and file:read(#MAGIC) == MAGIC then return true end
  end
  return false
end

return own_file
