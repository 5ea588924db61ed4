-- SPDX-License-Identifier: MIT
--- Reads a command line of iozone, as people have it in their procedures:
--- combined letters (-az, -Rb OUT), repeated flags, and long options beside.
--- What iozone silently takes for something else is done right or refused.

local flags = require("storlua.iozone.flags")
local nearest = require("storlua.nearest")
local rules = require("storlua.iozone.rules")
local tests = require("storlua.iozone.tests")
local words = require("storlua.iozone.words")

local arguments = {}

local usage = words.usage

local function shown(name, is_long) return (is_long and "--" or "-") .. name end

local CONVERT = {
  SIZE = function(name, text, is_long)
    return is_long and words.plain_size(name, text) or words.size(name, text)
  end,
  COUNT = words.count, DEPTH = words.count, BYTES = words.count,
  KIB = words.count,
  PATTERN = function(name, text)
    if text:find("^%d+$") then return text end
    usage("%s: needs a pattern (a number), '%s' follows; iozone would have eaten it", name, text)
  end,
}

local function plain_text(name, text)
  if text == "" then usage("%s: the name is empty", name) end
  if text:find("^%-") then
    usage("%s: needs a value; '%s' looks like a flag (a name is written ./%s)", name, text, text)
  end
  return text
end

-- --test write,read or -i 0: a list of names or numbers.
local function tests_of(name, text)
  local found = {}
  for one in (text .. ","):gmatch("([^,]*),") do
    local test, message = tests.find(one)
    if not test then usage("%s: %s", name, message) end
    found[#found + 1] = test.number
  end
  return found
end

local function columns_of(name, text)
  local titles = {}
  for i, column in ipairs(tests.columns(tests_of(name, text))) do
    titles[i] = column.id:gsub("_", " ")
  end
  return titles
end

local function set(opt, given, name, text, is_long)
  local key, value = given.sets, given.value
  if given.operand == "TEST" then
    for _, number in ipairs(tests_of(name, text)) do table.insert(opt.tests, number) end
  elseif given.operand then
    value = (CONVERT[given.operand] or plain_text)(name, text, is_long)
    if given.list then table.insert(opt[key], value) else opt[key] = value end
  else
    if key == "unit" and opt.unit ~= "kb_s" and opt.unit ~= value then
      usage("-O and -N exclude each other: one unit for a table")
    end
    opt[key] = value
  end
  local meaning = given.words
  if given.operand == "TEST" then meaning = table.concat(columns_of(name, text), ", ") end
  local typed = text and name .. " " .. text or name
  opt.flag_words[#opt.flag_words + 1] = typed .. ": " .. meaning
end

local function operand(given, name, argv, at)
  local text = argv[at + 1]
  if text == nil then usage("%s: needs a value: %s %s", name, name, given.operand) end
  return text, at + 1
end

-- All words up to the next flag.
local function files(opt, given, argv, at)
  local count = 0
  while argv[at + 1] and not argv[at + 1]:find("^%-") do
    at, count = at + 1, count + 1
    table.insert(opt.files, argv[at])
  end
  if count == 0 then usage("-%s: needs the names of the files", given.flag) end
  opt.flag_words[#opt.flag_words + 1] = "-F: " .. given.words
  return at
end

local function take_long(opt, argv, at)
  local name, equals, text = argv[at]:match("^%-%-([^=]*)(=?)(.*)$")
  local given, shown_name = flags.find_long(name), shown(name, true)
  if not given then
    usage("unknown option %s%s", shown_name, nearest.hint(name, flags.long_names(), "--"))
  end
  if given.operand == "FILES" then return files(opt, given, argv, at) end
  if not given.operand then
    if equals ~= "" then usage("%s: takes no value", shown_name) end
    text = nil
  elseif equals == "" then
    text, at = operand(given, shown_name, argv, at)
  end
  set(opt, given, shown_name, text, true)
  return at
end

-- One word of letters; the first that takes a value takes the rest, or the
-- next word.
local function take_letters(opt, argv, at)
  local word, i = argv[at], 2
  while i <= #word do
    local name = word:sub(i, i)
    if name == "+" then
      name = word:sub(i, i + 1)
      i = i + 1
    end
    i = i + 1
    local given = flags.find(name)
    if not given then usage("%s: iozone has no such flag%s", shown(name), name == "h"
      and " here: -h stands alone" or "") end
    if given.refuse then usage("-%s is not supported: %s", name, given.refuse) end
    if given.operand == "FILES" then
      return files(opt, given, argv, at)
    elseif given.operand then
      local text = word:sub(i)
      if text == "" then text, at = operand(given, shown(name), argv, at) end
      set(opt, given, shown(name), text)
      return at
    end
    set(opt, given, shown(name))
  end
  return at
end

local function new_options()
  return { sizes = {}, records = {}, tests = {}, streams = {}, files = {}, flag_words = {},
           said = {}, path = rules.default_path, unit = "kb_s" }
end

--- Reads a command line; raises an error with the code "USAGE".
---@param argv string[]
---@return table opt as iozone.matrix takes it, and what is to be reported
function arguments.parse(argv)
  local opt, at = new_options(), 1
  while argv[at] do
    local word = argv[at]
    if word:find("^%-%-.") then
      at = take_long(opt, argv, at)
    elseif word:find("^%-.") then
      at = take_letters(opt, argv, at)
    else
      usage("unexpected argument '%s'%s", word,
        word:find("/") and ": the file is named by -f" or "")
    end
    at = at + 1
  end
  rules.apply(opt)
  opt.command = words.join(argv)
  return opt
end

--- The table of flags, for --help.
---@return string
function arguments.help()
  local help = require("storlua.cli.help")
  local lines = { "flags of iozone, and long options that mean the same:" }
  local function add(one)
    local left = one.flag and "  -" .. one.flag or "    "
    if one.long then left = left .. (one.flag and ", --" or "  --") .. one.long end
    if one.operand then left = left .. " " .. one.operand end
    local text = help.wrap(one.words, 50)
    lines[#lines + 1] = ("%-29s %s"):format(left, text[1])
    for i = 2, #text do lines[#lines + 1] = (" "):rep(30) .. text[i] end
  end
  for _, one in ipairs(flags.known) do add(one) end
  for _, one in ipairs(flags.ours) do add(one) end
  lines[#lines + 1] = ""
  local names = "tests, 0 to 12: " .. table.concat(tests.names(), ", ")
  table.move(help.wrap(names, 78), 1, 9, #lines + 1, lines)
  lines[#lines + 1] = "sizes of flags: 64, 64k, 16m, 2g, a bare number is kB as in iozone; of long"
  lines[#lines + 1] = "options as everywhere: 64k, 16M, 2G, a bare number is bytes"
  return table.concat(lines, "\n")
end

return arguments
