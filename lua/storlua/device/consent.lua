-- SPDX-License-Identifier: MIT
--- The words with which a tester agrees to lose what a device holds.

local consent = {}

--- An id as a word that can be copied into a shell. A screen shows no control
--- character and no broken UTF-8, so a name that has such is escaped.
---@param id string
---@return string
function consent.word(id)
  if not id:find("%c") and utf8.len(id) then
    return "'" .. id:gsub("'", [['\'']]) .. "'"
  end
  return "$'" .. id:gsub("[%c\\'\x80-\xff]", function(c)
    return ("\\%03o"):format(c:byte())
  end) .. "'"
end

return consent
