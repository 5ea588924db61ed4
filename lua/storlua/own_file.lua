-- SPDX-License-Identifier: MIT
--- Whether a file may be overwritten without being asked for: it is empty, or
--- storlua wrote it.

local own_file = {}

local MAGIC = "SLS2" -- of a sector that storlua wrote
local SECTOR_BYTES = 512
local LOOKED_AT = 64 -- sectors of a range, for it may be large

local function is_stamped(file, sector)
  return file:seek("set", sector * SECTOR_BYTES) and file:read(#MAGIC) == MAGIC
end

-- What of the range is there already: its first sector, its last and some in
-- between. Nothing there is no sign that the file is ours.
local function is_range_stamped(file, at_bytes, bytes)
  local size = file:seek("end")
  if not size or at_bytes >= size then return false end
  local first = at_bytes // SECTOR_BYTES
  local last = (at_bytes + math.min(bytes, size - at_bytes) - 1) // SECTOR_BYTES
  for sector = first, last, math.max(1, (last - first) // LOOKED_AT) do
    if not is_stamped(file, sector) then return false end
  end
  return is_stamped(file, last)
end

--- True when the first sector carries a stamp. Where only a range will be
--- written and the rest stays, also when that range does.
---@param path string
---@param at_bytes? integer
---@param bytes? integer nil: the whole file is at stake
---@return boolean
function own_file.is_ours(path, at_bytes, bytes)
  local file <close> = io.open(path, "rb")
  if not file then return false end
  if is_stamped(file, 0) then return true end
  return bytes ~= nil and is_range_stamped(file, at_bytes or 0, bytes) or false
end

return own_file
