-- SPDX-License-Identifier: MIT
--- Reads Lua source as people save it: with a byte order mark, a `#!` line,
--- CRLF, no final newline. Line numbers stay right. Bytecode is refused.

local source = {}

--- The content of a file.
---@param path string
---@return string|nil content
---@return string|nil message
function source.read(path)
  local file, message = io.open(path, "rb")
  if not file then return nil, message end
  local content, why = file:read("a")
  file:close()
  if not content then return nil, path .. ": " .. why end
  return content
end

--- Tells whether `path` can be read as a file; a folder cannot.
---@param path string
---@return boolean
function source.is_file(path)
  local file = io.open(path, "rb")
  if not file then return false end
  local _, _, code = file:read(0)
  file:close()
  return code == nil
end

--- Compiles source text.
---@param content string
---@param name string shown in messages: a path
---@param env? table
---@return function|nil chunk
---@return string|nil message with name and line
function source.compile(content, name, env)
  if content:sub(1, 3) == "\u{FEFF}" then content = content:sub(4) end
  if content:sub(1, 1) == "#" then content = content:gsub("^[^\r\n]*", "", 1) end
  if content:sub(1, 1) == "\27" then
    return nil, name .. ": is a precompiled chunk; storlua runs source text only"
  end
  if env then return load(content, "@" .. name, "t", env) end
  return load(content, "@" .. name, "t")
end

return source
