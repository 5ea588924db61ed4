-- SPDX-License-Identifier: MIT
--- Reads a command line against declared options. argparse does the parsing;
--- what it words badly, or takes for something else (`--size -1`), is found
--- before, so that each message names the option.

local nearest = require("storlua.nearest")
local option_types = require("storlua.cli.option_types")
local options = require("storlua.cli.options")

local command_line = {}

local usage = options.usage
local quote = option_types.quote

local function long_names(declaration)
  local names = {}
  for _, option in ipairs(declaration.list) do
    if not option.positional then names[#names + 1] = option.name end
  end
  return names
end

local function unknown(declaration, name, hint)
  local bare = name:gsub("^%-+", "")
  local near = nearest.hint(bare, long_names(declaration), "--")
  usage("unknown option %s%s", quote(name), near ~= "" and near or hint or "")
end

-- Checks the value that follows option `name`; returns how many words it uses.
local function check_following(option, name, following)
  local metavar = option_types.metavar(option)
  if not following then usage("%s: needs a value: %s %s", name, name, metavar) end
  if following:find("^%-.") then
    if option_types.is_quantity(option.type) then
      usage("%s: the value %s begins with a minus, but a %s has no sign", name,
        quote(following), option.type)
    end
    local word = following:find("[^%w%-_./]") and quote(following) or following
    usage("%s: the value %s begins with a minus; if it is meant, write --%s=%s", name,
      quote(following), option.name, word)
  end
  return 1
end

local function check_long(declaration, word, following, hint)
  local name, equals = word:match("^%-%-([^=]*)(=?)")
  local option = declaration.by_name[name]
  if not option or option.positional then unknown(declaration, "--" .. name, hint) end
  if option.type == "flag" then
    if equals == "=" then usage("--%s: takes no value", name) end
    return 0
  end
  return equals == "=" and 0 or check_following(option, "--" .. name, following)
end

local function check_short(declaration, word, following, hint)
  local long = word:match("^%-([^=]+)")
  if #long > 1 and declaration.by_name[long] then
    usage("%s: a long option has two minuses: --%s", quote("-" .. long), long)
  end
  for i = 2, #word do
    local letter = word:sub(i, i)
    local option = declaration.by_short[letter]
    if not option then
      unknown(declaration, i == 2 and word or "-" .. letter, hint)
    elseif option.type ~= "flag" then
      return i < #word and 0 or check_following(option, "-" .. letter, following)
    end
  end
  return 0
end

--- Walks over the options at the head of `argv`.
---@param declaration storlua.Options
---@param argv string[]
---@param hint? string added to an unknown option that resembles no known one
---@return integer first index of the first word that is no option
function command_line.skip_options(declaration, argv, hint)
  local i = 1
  while argv[i] do
    local word = argv[i]
    if word == "--" then return i + 1 end
    if word:sub(1, 2) == "--" then
      i = i + check_long(declaration, word, argv[i + 1], hint)
    elseif word:find("^%-.") then
      i = i + check_short(declaration, word, argv[i + 1], hint)
    else
      return i
    end
    i = i + 1
  end
  return i
end

local function check_positionals(declaration, argv)
  local allowed, used, i = #declaration.positionals, 0, 1
  local last = declaration.positionals[allowed]
  if last and last.type == "list" then allowed = math.maxinteger end
  while argv[i] do
    local rest = table.move(argv, i, #argv, 1, {})
    local first = command_line.skip_options(declaration, rest)
    local ended = rest[first - 1] == "--"
    i = i + first - 1
    repeat
      if not argv[i] then return end
      used = used + 1
      if used > allowed then usage("unexpected argument %s", quote(argv[i])) end
      i = i + 1
    until not ended
  end
end

local function build_parser(declaration)
  local parser = require("argparse")("storlua"):add_help(false)
  for _, option in ipairs(declaration.list) do
    local is_list = option.type == "list"
    if option.positional then
      parser:argument(option.key):args(is_list and "*" or "?")
    else
      local short = declaration.by_short[option.short] == option and "-" .. option.short .. " "
      local names = (short or "") .. "--" .. option.name
      if option.type == "flag" then
        parser:flag(names):target(option.key)
      else
        parser:option(names):target(option.key):args(1):count(is_list and "*" or "0-1")
      end
    end
  end
  return parser
end

--- Parses all of `argv`.
---@param declaration storlua.Options
---@param argv string[]
---@return table<string, any> given checked values by key, only of what was given
function command_line.parse(declaration, argv)
  check_positionals(declaration, argv)
  local ok, result = build_parser(declaration):pparse(argv)
  if not ok then usage("%s", (result:gsub("\n.*", ""))) end
  local given = {}
  for _, option in ipairs(declaration.list) do
    local value = result[option.key]
    local absent = value == nil or option.type == "list" and #value == 0
    if not absent then given[option.key] = options.value(option, value) end
  end
  return given
end

--- Tells whether `word` (or `-letter`, when free) stands among the options.
---@param declaration storlua.Options
---@param argv string[]
---@param word string "--help"
---@param letter? string
---@return boolean
function command_line.asks(declaration, argv, word, letter)
  if letter and declaration.by_short[letter] then letter = nil end
  for _, argument in ipairs(argv) do
    if argument == "--" then return false end
    if argument == word or letter and argument == "-" .. letter then return true end
  end
  return false
end

return command_line
