-- SPDX-License-Identifier: MIT
--- Whether a text is a pattern of Lua: the matcher itself only finds out when
--- it comes to the place.

local pattern = {}

-- The place behind the set that begins at `i` with "[".
local function end_of_set(text, i)
  local j = text:sub(i + 1, i + 1) == "^" and i + 2 or i + 1
  repeat
    if j > #text then return nil end
    j = j + (text:sub(j, j) == "%" and 2 or 1)
  until text:sub(j, j) == "]"
  return j + 1
end

--- What is wrong with a pattern, or nil.
---@param text string
---@return string|nil
function pattern.problem(text)
  local i, open, captures = 1, 0, 0
  while i <= #text do
    local c, next_c = text:sub(i, i), text:sub(i + 1, i + 1)
    if c == "%" then
      if next_c == "" then return "it ends with '%'" end
      if next_c == "b" and #text < i + 3 then return "%b lacks its two characters" end
      if next_c == "f" and text:sub(i + 2, i + 2) ~= "[" then return "%f lacks its set" end
      if next_c:find("%d") and (tonumber(next_c) > captures or next_c == "0") then
        return "there is no capture %" .. next_c
      end
      i = i + (next_c == "b" and 4 or 2)
    elseif c == "[" then
      i = end_of_set(text, i)
      if not i then return "a ']' is missing" end
    else
      if c == "(" then open, captures = open + 1, captures + 1 end
      if c == ")" then open = open - 1 end
      if open < 0 then return "a '(' is missing" end
      i = i + 1
    end
  end
  if open > 0 then return "a ')' is missing" end
end

return pattern
