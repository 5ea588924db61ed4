-- SPDX-License-Identifier: MIT
--- Reads a command line of iperf3's client, and a few options of ours.

local errors = require("storlua.errors")
local nearest = require("storlua.nearest")

local arguments = {}

local function usage(format, ...) errors.raise("USAGE", "iperf: " .. format, ...) end

-- iperf3's own: long name, short name, kind of value (nil: a flag).
local THEIRS = {
  { "client", "c", "text" }, { "port", "p", "count" }, { "interval", "i", "number" },
  { "time", "t", "count0" }, { "bytes", "n", "text" }, { "parallel", "P", "count" },
  { "reverse", "R" }, { "udp", "u" }, { "bitrate", "b", "text" }, { "window", "w", "text" },
  { "set-mss", "M", "count" }, { "bind", "B", "text" }, { "version4", "4" }, { "version6", "6" },
  { "omit", "O", "count0" }, { "zerocopy", "Z" }, { "congestion", "C", "text" },
  { "length", "l", "text" }, { "no-delay", "N" }, { "connect-timeout", nil, "count" },
  { "affinity", "A", "text" }, { "format", "f", "text" }, { "json", "J" }, { "verbose", "V" },
}
local OURS = {
  { "self-test" }, { "runs", nil, "count" }, { "min-mbit", nil, "number" },
  { "max-retransmits", nil, "count0" }, { "iperf3", nil, "text" },
}
local REFUSED = {
  server = "iperf3 -s runs on the other side; --self-test starts one of its own here",
  s = "iperf3 -s runs on the other side; --self-test starts one of its own here",
  bidir = "both ways at once hide which one is slow: run once without and once with -R",
}

local by_long, by_short, long_names = {}, {}, {}
for _, list in ipairs { THEIRS, OURS } do
  for _, option in ipairs(list) do
    local name, short, kind = option[1], option[2], option[3]
    local entry = { name = name, short = short, kind = kind, ours = list == OURS }
    by_long[name] = entry
    if short then by_short[short] = entry end
    long_names[#long_names + 1] = name
  end
end

local function value_of(shown, kind, text)
  if text == nil then usage("%s needs a value", shown) end
  if kind == "text" then
    if text == "" then usage("%s: the value is empty", shown) end
    return text
  end
  local number = text:find("^%d+%.?%d*$") and tonumber(text)
  if kind ~= "number" then number = number and math.tointeger(number) end
  local least = (kind == "count0" or kind == "number") and 0 or 1
  if not number or number < least or number > 1e9 then
    usage("%s: '%s' is no %s", shown, text, kind == "number" and "number" or "count")
  end
  return number
end

local function unknown(name)
  usage("%s is not taken (--help lists what is)%s", name,
    nearest.hint(name:gsub("^%-+", ""), long_names, "--"))
end

-- One word of the command line: its option, the value that is attached to it,
-- and letters that follow a flag ("-RZ").
local function split(word)
  local name, equals, text = word:match("^%-%-([^=]+)(=?)(.*)$")
  if name then
    if REFUSED[name] then usage("--%s: %s", name, REFUSED[name]) end
    return by_long[name] or unknown("--" .. name), equals == "=" and text or nil
  end
  local letter, rest = word:match("^%-(.)(.*)$")
  if not letter then usage("unexpected argument '%s'; the host is named by -c", word) end
  if REFUSED[letter] then usage("-%s: %s", letter, REFUSED[letter]) end
  local entry = by_short[letter] or unknown("-" .. letter)
  if entry.kind then return entry, rest ~= "" and rest or nil end
  return entry, nil, rest ~= "" and "-" .. rest or nil
end

--- Reads a command line; raises an error with the code "USAGE".
---@param argv string[]
---@return table opt host?, self_test, runs, min_mbit?, max_retransmits?, iperf3, seconds,
--- interval, bytes?, udp, reverse, command (words for iperf3 besides host and port), port?
function arguments.parse(argv)
  local opt = { runs = 1, iperf3 = "iperf3", command = {}, given = {}, self_test = false }
  local words = table.move(argv, 1, #argv, 1, {})
  local i = 1
  while words[i] do
    local entry, text, rest = split(words[i])
    local shown = entry.short and words[i]:sub(1, 2) ~= "--" and "-" .. entry.short
      or "--" .. entry.name
    local value = true
    if rest then table.insert(words, i + 1, rest) end
    if entry.kind then
      if text == nil then
        i = i + 1
        text = words[i]
      end
      value = value_of(shown, entry.kind, text)
    elseif text then
      usage("%s takes no value", shown)
    end
    opt.given[entry.name:gsub("-", "_")] = value
    i = i + 1
  end
  return arguments.finish(opt)
end

-- What decides about the run; the rest is passed on as it is.
local KEPT = { client = true, port = true, format = true, json = true, verbose = true }

---@package
function arguments.finish(opt)
  local given = opt.given
  opt.host, opt.port = given.client, given.port
  opt.self_test, opt.runs = given.self_test or false, given.runs or 1
  opt.iperf3, opt.min_mbit = given.iperf3 or "iperf3", given.min_mbit
  opt.max_retransmits = given.max_retransmits
  opt.udp, opt.reverse, opt.bytes = given.udp or false, given.reverse or false, given.bytes
  -- how long a number of bytes takes nobody knows
  opt.seconds = given.time or given.bytes and 86400 or 10
  opt.seconds = opt.seconds + (given.omit or 0)
  if given.time == 0 then usage("-t 0 would never end") end
  if given.time and given.bytes then usage("-t and -n exclude each other") end
  if opt.udp and opt.max_retransmits then
    usage("--max-retransmits and -u exclude each other: UDP sends nothing again")
  end
  if opt.self_test and opt.host then usage("--self-test and -c exclude each other") end
  if not opt.self_test and not opt.host then usage("which host? -c HOST, or --self-test") end
  for _, option in ipairs(THEIRS) do
    local name, short, kind = option[1], option[2], option[3]
    local value = given[name:gsub("-", "_")]
    if value ~= nil and not KEPT[name] then
      local command = opt.command
      command[#command + 1] = short and "-" .. short or "--" .. name
      if kind then
        command[#command + 1] = math.type(value) == "float" and ("%g"):format(value)
          or tostring(value)
      end
    end
  end
  opt.given = nil
  return opt
end

arguments.HELP = [[
options of iperf3's client, as it has them:
  -c HOST  -p PORT  -t SECONDS  -i SECONDS  -n BYTES  -P STREAMS  -R  -u
  -b RATE  -w WINDOW  -M MSS  -l LENGTH  -B ADDRESS  -O SECONDS  -C ALGORITHM
  -A CPUS  -4  -6  -N  -Z  --connect-timeout MS       (-f -J -V are not needed)

and of storlua:
  --self-test           against a server of its own on 127.0.0.1
  --runs N              so many times, one after the other (1)
  --min-mbit MBIT       fail below this rate of what was received, in 10^6 bit/s
  --max-retransmits N   fail when a run needs more
  --iperf3 PATH         the program]]

return arguments
