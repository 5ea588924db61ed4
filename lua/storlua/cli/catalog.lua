-- SPDX-License-Identifier: MIT
--- `storlua list`: the scripts that are found by name, with their summaries.
--- Only a file that calls `procedure` is executed: loading a procedure is
--- harmless, a plain script would run.

local command_line = require("storlua.cli.command_line")
local fs = require("storlua.fs")
local options = require("storlua.cli.options")
local procedure = require("storlua.procedure")
local script = require("storlua.script")

local catalog = {}

local function summary_of(found)
  if not found.content:find("procedure%s*[{(]") then return "(a plain script)" end
  script.enter(found)
  local ok, result = pcall(function() return script.compile(found)() end)
  if not ok then return "(does not load: " .. tostring(result) .. ")" end
  return procedure.is(result) and result.summary or "(a plain script)"
end

local function list_folder(folder, seen)
  local names, err = fs.try_list(folder)
  if not names then options.usage("%s", err.message) end
  for _, name in ipairs(names) do
    if name:find("%.lua$") and not seen[name] then
      seen[name] = { folder = folder }
    end
  end
end

--- All scripts found by name, sorted: name, summary, folder (nil: bundled).
---@param script_dir? string
---@return table[]
function catalog.entries(script_dir)
  local seen, entries = {}, {}
  for _, folder in ipairs(script.folders(script_dir)) do list_folder(folder, seen) end
  for _, file in ipairs(require("storlua.core.embedded").list()) do
    local name = file:match("^scripts/([^/]+%.lua)$")
    if name and not seen[name] then seen[name] = {} end
  end
  for name, where in pairs(seen) do
    local found
    if where.folder then
      found = script.find(where.folder .. "/" .. name)
    else
      found = script.bundled(name)
    end
    entries[#entries + 1] = { name = name, summary = summary_of(found), folder = where.folder }
  end
  table.sort(entries, function(a, b) return a.name < b.name end)
  return entries
end

local DECLARED = options.declare({
  { name = "script-dir", type = "string", path = true, metavar = "DIR",
    help = "list the scripts of DIR too" },
  { name = "help", short = "h", type = "flag", help = "print this and end" },
}, "list")

---@param argv string[] words after "list"
---@param host_opt? table
---@return integer exit code
function catalog.main(argv, host_opt)
  if command_line.asks(DECLARED, argv, "--help", "h") then
    io.stdout:write(require("storlua.cli.help").command("list [options]",
      "Lists the scripts that are found by name.", DECLARED))
    return 0
  end
  local opt = command_line.parse(DECLARED, argv)
  local entries = catalog.entries(opt.script_dir or host_opt and host_opt.script_dir)
  local column = 0
  for _, entry in ipairs(entries) do column = math.max(column, #entry.name) end
  for _, entry in ipairs(entries) do
    io.stdout:write(("%-" .. column .. "s  %s%s\n"):format(entry.name, entry.summary,
      entry.folder and "  [" .. entry.folder .. "]" or ""))
  end
  return 0
end

return catalog
