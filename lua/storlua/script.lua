-- SPDX-License-Identifier: MIT
--- Finds and loads the script that the command line names.
---
--- A name with a slash, or of a file in the working directory, is that file;
--- else it is looked up in the script folders, then among the bundled scripts.
--- There ".lua" may be left off.

local errors = require("storlua.errors")
local source = require("storlua.source")

local script = {}

---@class storlua.Script
---@field path string as shown in messages; "scripts/soak.lua" when bundled
---@field name string file name without ".lua"
---@field dir? string folder of the file; nil when bundled
---@field content string

local function made(path, content, bundled)
  local dir, base = path:match("^(.*)/([^/]*)$")
  base = base or path
  if dir == "" then dir = "/" end
  return {
    path = path, content = content, name = (base:gsub("%.lua$", "")),
    dir = not bundled and (dir or ".") or nil,
  }
end

local function from_file(path)
  local content, message = source.read(path)
  if not content then errors.raise("USAGE", "%s", message) end
  return made(path, content)
end

--- The folders that are searched, in order.
---@param script_dir? string of --script-dir
---@return string[]
function script.folders(script_dir)
  local folders = { script_dir }
  for folder in (os.getenv("STORLUA_SCRIPTS") or ""):gmatch("[^:]+") do
    folders[#folders + 1] = folder
  end
  return folders
end

local function in_folder(folder, name)
  for _, file in ipairs { name, name .. ".lua" } do
    local path = folder .. "/" .. file
    if source.is_file(path) then return path end
  end
  return nil
end

--- A script that the executable carries, or nil.
---@param name string "soak.lua"
---@return storlua.Script|nil
function script.bundled(name)
  local content = require("storlua.core.embedded").read("scripts/" .. name)
  return content and made("scripts/" .. name, content, true)
end

local function bundled_names()
  local names = {}
  for _, file in ipairs(require("storlua.core.embedded").list()) do
    names[#names + 1] = file:match("^scripts/([^/]+%.lua)$")
  end
  return names
end

local function not_found(name)
  local nearest = require("storlua.nearest")
  local names = bundled_names()
  table.move({ "list", "report" }, 1, 2, #names + 1, names) -- commands
  local hint = nearest.hint(name, names)
  if hint == "" and #name > 1 and not name:find("%.lua$") then
    hint = nearest.hint(name .. ".lua", names)
  end
  errors.raise("USAGE", "no script %s here, in the script folders or bundled%s",
    require("storlua.cli.option_types").quote(name), hint)
end

--- Finds a script and reads it; raises a usage error when there is none.
---@param name string
---@param script_dir? string
---@return storlua.Script
function script.find(name, script_dir)
  if name:find("/", 1, true) or source.is_file(name) then return from_file(name) end
  for _, folder in ipairs(script.folders(script_dir)) do
    local path = in_folder(folder, name)
    if path then return from_file(path) end
  end
  return script.bundled(name) or script.bundled(name .. ".lua") or not_found(name)
end

--- Prepares for running a script: what `require` finds besides the library is
--- its own folder, then STORLUA_PATH; `script.current` is its path.
---@param found storlua.Script
function script.enter(found)
  script.current = found.path
  local parts = {}
  if found.dir then
    parts[1] = found.dir .. "/?.lua"
    parts[2] = found.dir .. "/?/init.lua"
  end
  parts[#parts + 1] = os.getenv("STORLUA_PATH")
  package.path = table.concat(parts, ";")
end

--- Compiles a script; a script that does not load is a usage error.
---@param found storlua.Script
---@return function chunk
function script.compile(found)
  local chunk, message = source.compile(found.content, found.path)
  if not chunk then errors.raise("USAGE", "%s", message) end
  return chunk
end

return script
