-- SPDX-License-Identifier: MIT
--- Writes help from what is declared: 80 columns, aligned.

local option_types = require("storlua.cli.option_types")

local help = {}

local WIDTH, COLUMN = 80, 26

local EXIT_CODES = {
  { "0", "passed" },
  { "1", "a check, threshold or measurement failed, or the run is incomplete" },
  { "2", "wrong usage, or the script does not load; nothing was touched" },
  { "3", "the script raised an error" },
  { "4", "skipped: not applicable here" },
  { "5", "refused by the safety gate" },
  { "6", "a clean-up failed" },
  { "129, 130, 143", "stopped by a signal" },
}

local function width(text)
  return utf8.len(text) or #text
end

--- Breaks text into lines of at most `columns`, at blanks.
---@param text string
---@param columns integer
---@return string[]
function help.wrap(text, columns)
  local lines, line = {}, ""
  for word in text:gmatch("%S+") do
    if line ~= "" and width(line) + 1 + width(word) > columns then
      lines[#lines + 1] = line
      line = word
    else
      line = line == "" and word or line .. " " .. word
    end
  end
  lines[#lines + 1] = line
  return lines
end

--- Adds rows of two columns; a long left cell gets a line of its own.
local function add_rows(out, rows)
  local column = 0
  for _, row in ipairs(rows) do
    if width(row[1]) + 4 <= COLUMN then column = math.max(column, width(row[1]) + 4) end
  end
  column = math.max(column, 8)
  for _, row in ipairs(rows) do
    local left = "  " .. row[1]
    local lines = help.wrap(row[2], WIDTH - column)
    if width(left) + 2 > column or lines[1] == "" then
      out[#out + 1] = left
      left = ""
    end
    for _, line in ipairs(lines) do
      if line ~= "" then out[#out + 1] = left .. (" "):rep(column - width(left)) .. line end
      left = ""
    end
  end
end

local function option_row(option)
  local metavar = option_types.metavar(option)
  local left = option.positional and metavar ~= "TEXT" and metavar or option.name:upper()
  if not option.positional then
    left = (option.short and "-" .. option.short .. ", " or "    ") .. "--" .. option.name
    if metavar then left = left .. " " .. metavar end
  end
  local facts = option_types.facts(option)
  local text = option.help or ""
  if facts ~= "" then text = text .. (text == "" and "" or " ") .. "(" .. facts .. ")" end
  return { left, text }
end

local function add_options(out, title, list)
  if #list == 0 then return end
  out[#out + 1] = ""
  out[#out + 1] = title
  local rows = {}
  for i, option in ipairs(list) do rows[i] = option_row(option) end
  add_rows(out, rows)
end

local function add_exit_codes(out)
  out[#out + 1] = ""
  out[#out + 1] = "exit codes:"
  add_rows(out, EXIT_CODES)
end

local function add_paragraphs(out, text)
  for paragraph in (text .. "\n\n"):gmatch("(.-)\n[ \t]*\n+") do
    out[#out + 1] = ""
    for _, line in ipairs(help.wrap(paragraph, WIDTH)) do out[#out + 1] = line end
  end
end

--- The help of a procedure.
---@param name string as it is called: "soak.lua"
---@param procedure storlua.Procedure
---@param thresholds string[] texts
---@return string
function help.procedure(name, procedure, thresholds)
  local out = {}
  local declared = procedure.options
  local usage = "usage: storlua [run options] " .. name
  if declared and #declared.list > 0 then usage = usage .. " [options]" end
  for _, option in ipairs(declared and declared.positionals or {}) do
    local word = option_row(option)[1] .. (option.type == "list" and "…" or "")
    usage = usage .. (option.required and " " .. word or " [" .. word .. "]")
  end
  out[1] = declared and usage or usage .. " ARGUMENTS"
  add_paragraphs(out, procedure.summary)
  if procedure.description then add_paragraphs(out, procedure.description) end
  if procedure.usage then
    out[#out + 1] = ""
    out[#out + 1] = (procedure.usage:gsub("\n+$", ""))
  end
  if declared then add_options(out, "options:", declared.list) end
  if #thresholds > 0 then
    out[#out + 1] = ""
    out[#out + 1] = "thresholds:"
    for _, text in ipairs(thresholds) do out[#out + 1] = "  " .. text end
  end
  local where = declared and "run options:" or "run options (before the name of the script):"
  add_options(out, where, require("storlua.cli.run_options").run.list)
  add_exit_codes(out)
  return table.concat(out, "\n") .. "\n"
end

--- The help of a command of the host.
---@param usage string
---@param summary string
---@param declared storlua.Options
---@return string
function help.command(usage, summary, declared)
  local out = { "usage: storlua " .. usage, "", summary }
  add_options(out, "options:", declared.list)
  return table.concat(out, "\n") .. "\n"
end

--- The help of the host.
---@return string
function help.host()
  local out = {
    "usage: storlua [run options] SCRIPT.lua [script options]",
    "       storlua list",
    "       storlua report RUN_DIR [--to FORMATS] [--output FILE]",
    "       storlua -e CODE | -i | --version",
    "",
    "Runs test procedures for storage and memory: bundled ones, named by",
    "`storlua list`, or scripts of your own. `storlua SCRIPT.lua --help` tells",
    "about one of them.",
  }
  add_options(out, "options:", require("storlua.cli.run_options").host.list)
  add_exit_codes(out)
  return table.concat(out, "\n") .. "\n"
end

return help
