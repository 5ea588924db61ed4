-- SPDX-License-Identifier: MIT
--- The closing lines of dd, letter by letter, from bytes and nanoseconds.

local dd_lines = {}

local SI = { "", "k", "M", "G", "T", "P", "E" }
local IEC = { "", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei" }

local function point(text) return (text:gsub(",", ".")) end

-- Whole numbers: one decimal below ten, rounded to the nearest.
local function amount(bytes, base, prefixes)
  local value, at = bytes, 1
  while value >= base and at < #prefixes do
    value, at = value / base, at + 1
  end
  if at == 1 then return ("%d "):format(bytes), at end
  local text = ("%.1f"):format(value)
  if value >= 9.95 then text = ("%.0f"):format(value) end
  if tonumber((text:gsub(",", "."))) >= base and at < #prefixes then
    return "1.0 " .. prefixes[at + 1], at + 1
  end
  return point(text) .. " " .. prefixes[at], at
end

-- Rates: one decimal below a hundred, kB/s at least.
local function rate(bytes, seconds)
  local value, at = bytes / seconds / 1000, 2
  while value >= 999.5 and at < #SI do
    value, at = value / 1000, at + 1
  end
  local text = value < 99.95 and ("%.1f"):format(value) or ("%.0f"):format(value)
  return ("%s %sB/s"):format(point(text), SI[at])
end

--- The last line: "524288000 bytes (524 MB, 500 MiB) copied, 7.81532 s, 67.1 MB/s"
---@param bytes integer
---@param ns integer
---@return string
function dd_lines.copied(bytes, ns)
  local si, si_at = amount(bytes, 1000, SI)
  local iec, iec_at = amount(bytes, 1024, IEC)
  local sizes = ""
  if si_at > 1 then
    sizes = (" (%sB, %s)"):format(si, iec_at > 1 and iec .. "B" or ("%d B"):format(bytes))
  end
  local seconds = ns / 1e9
  return ("%d byte%s%s copied, %s s, %s"):format(bytes, bytes == 1 and "" or "s", sizes,
    point(("%g"):format(seconds)), rate(bytes, ns > 0 and seconds or 1e-9))
end

--- "500+0": whole blocks and a partial one.
---@param bytes integer
---@param block_bytes integer
---@return string
function dd_lines.records(bytes, block_bytes)
  return ("%d+%d"):format(bytes // block_bytes, bytes % block_bytes > 0 and 1 or 0)
end

--- What dd writes at its end.
---@param bytes integer
---@param ns integer
---@param block_bytes integer
---@param status string default, noxfer, progress or none
---@return string[]
function dd_lines.closing(bytes, ns, block_bytes, status)
  if status == "none" then return {} end
  local records = dd_lines.records(bytes, block_bytes)
  local lines = { records .. " records in", records .. " records out" }
  if status ~= "noxfer" then lines[3] = dd_lines.copied(bytes, ns) end
  return lines
end

return dd_lines
