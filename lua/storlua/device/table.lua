-- SPDX-License-Identifier: MIT
--- Block devices as a table for people, a tree in its first column.

local block_list = require("storlua.block_list")
local quantity = require("storlua.quantity")

local device_table = {}

local COLUMNS = {
  "NAME", "KIND", "SIZE", "BUS", "FLAGS", "CONTENT", "LABEL", "USED", "USE", "ID",
}
local RIGHT = { SIZE = true, USED = true }

-- One line for a terminal: control characters and bad bytes as "?".
local function plain(text)
  if not utf8.len(text) then text = text:gsub("[\128-\255]", "?") end
  return (text:gsub("%c", "?"))
end

local function flags_of(block)
  local flags = {}
  if block.read_only then flags[#flags + 1] = "ro" end
  if block.removable then flags[#flags + 1] = "rm" end
  if block.size_bytes == 0 then flags[#flags + 1] = "empty" end
  if not block.node then flags[#flags + 1] = "no node" end
  if block.loop and block.loop.deleted then flags[#flags + 1] = "deleted" end
  return table.concat(flags, ",")
end

--- The places where the device's file system is mounted, then other uses.
---@param block storlua.Block
---@return string[]
function device_table.uses(block)
  local uses = {}
  for i, mount in ipairs(block.mounts) do
    local from = mount.root ~= "/" and (" from " .. mount.root) or ""
    uses[i] = mount.point .. from .. (mount.reachable and "" or " (covered)")
  end
  if block.swap then uses[#uses + 1] = "swap" end
  for _, holder in ipairs(block.holders) do uses[#uses + 1] = "held by " .. holder end
  if #uses == 0 and #block.uses > 0 then uses[1] = block.uses[1] end
  return uses
end

local function row_of(block, depth)
  local content, space = block.content, block.space
  local used = space and space.total_bytes > 0
    and ("%d%%"):format((space.used_bytes * 100 + space.total_bytes - 1) // space.total_bytes)
  return {
    NAME = ("  "):rep(depth) .. block.name, KIND = block.kind,
    SIZE = block.size_bytes and quantity.size_text(block.size_bytes) or "?",
    BUS = block.transport, FLAGS = flags_of(block),
    CONTENT = content.type or content.table or (content.known and "" or "?"),
    LABEL = content.label, USED = used, USE = table.concat(device_table.uses(block), ", "),
    -- A part has the id of its disk, which stands above it.
    ID = not block.parent and block.id or nil,
  }
end

local function add(rows, nodes, depth)
  for _, node in ipairs(nodes) do
    rows[#rows + 1] = row_of(node.block, depth)
    add(rows, node.children, depth + 1)
  end
end

--- The table, its lines without blanks at the end.
---@param blocks storlua.Block[]
---@return string
function device_table.text(blocks)
  local rows = { {} }
  for _, name in ipairs(COLUMNS) do rows[1][name] = name end
  add(rows, block_list.tree(blocks), 0)
  local widths = {}
  for _, row in ipairs(rows) do
    for _, name in ipairs(COLUMNS) do
      row[name] = plain(row[name] or "")
      widths[name] = math.max(widths[name] or 0, utf8.len(row[name]))
    end
  end
  local lines = {}
  for i, row in ipairs(rows) do
    local cells = {}
    for j, name in ipairs(COLUMNS) do
      local blanks = (" "):rep(widths[name] - utf8.len(row[name]))
      cells[j] = RIGHT[name] and blanks .. row[name] or row[name] .. blanks
    end
    lines[i] = table.concat(cells, "  "):gsub(" +$", "")
  end
  return table.concat(lines, "\n") .. "\n"
end

return device_table
