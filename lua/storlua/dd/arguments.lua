-- SPDX-License-Identifier: MIT
--- Reads a command line of dd. What dd would take for something else, or what
--- is no test of storage, is refused with the line that would be right.

local errors = require("storlua.errors")
local nearest = require("storlua.nearest")
local words = require("storlua.iozone.words")

local arguments = {}

local function usage(format, ...) errors.raise("USAGE", "dd: " .. format, ...) end

-- Suffixes of dd: a single letter is a power of 1024, with B behind it one of
-- 1000, with iB one of 1024.
local LETTERS = { k = 1, m = 2, g = 3, t = 4, p = 5, e = 6 }
local PLAIN = { [""] = 1, c = 1, w = 2, b = 512, B = 1 }

local function factor_of(suffix)
  if PLAIN[suffix] then return PLAIN[suffix] end
  local letter, rest = suffix:match("^(%a)(i?B?)$")
  local power = letter and LETTERS[letter:lower()]
  if not power or rest == "i" then return nil end
  return math.tointeger((rest == "B" and 1000 or 1024) ^ power)
end

-- "2x1M" and the like; returns the product.
local function number(name, text)
  local product = 1
  for part in (text .. "x"):gmatch("(.-)x") do
    local digits, suffix = part:match("^(%d+)(%a*)$")
    local value = digits and math.tointeger(tonumber(digits))
    local factor = digits and factor_of(suffix)
    if not value or not factor then
      usage("%s=%s: that is no number of dd (digits, then c w b kB K MB M GB G …)", name, text)
    end
    if value ~= 0 and product ~= 0 and product > math.maxinteger // factor // value then
      usage("%s=%s is too large", name, text)
    end
    product = product * value * factor
  end
  return product
end

local CONV = {
  fsync = true, fdatasync = true, notrunc = true, excl = true, nocreat = true, noerror = true,
  sync = true, -- pads what is short: nothing is, but the end of a file
}
-- As in dd, each flag on its own side.
local FLAGS = {
  iflag = { direct = true, sync = true, dsync = true, fullblock = true, count_bytes = true,
            skip_bytes = true },
  oflag = { direct = true, sync = true, dsync = true, seek_bytes = true },
}
local STATUS = { none = true, noxfer = true, progress = true, default = true }

local function names_of(set)
  local names = {}
  for name in pairs(set) do names[#names + 1] = name end
  table.sort(names)
  return names
end

local function set_of(key, text, allowed)
  local set = {}
  for word in (text .. ","):gmatch("([^,]*),") do
    if not allowed[word] then
      local names = names_of(allowed)
      usage("%s=%s is not taken here%s; there are %s", key, word, nearest.hint(word, names),
        table.concat(names, ", "))
    end
    set[word] = true
  end
  return set
end

local OPERANDS = { "if", "of", "bs", "ibs", "obs", "count", "seek", "skip", "oseek", "iseek",
                   "conv", "oflag", "iflag", "status" }

local function is_operand(key)
  for _, name in ipairs(OPERANDS) do
    if name == key then return true end
  end
  return false
end

-- A blank inside an operand makes words of their own: "count= 500",
-- "conv = fsync". Returns the words as they were meant.
local function joined(argv)
  local list, blank = {}, nil
  local i = 1
  while argv[i] do
    local word = argv[i]:gsub("^\\", "") -- of a line that was broken there
    local following = argv[i + 1]
    local opens = word:find("^%l+=$") or word:find("^%l+$") and following
      and following:find("^=")
    local shown = word
    while opens and argv[i + 1] and not argv[i + 1]:find("^%l+=") do
      shown = shown .. " " .. argv[i + 1]
      word, i = word .. argv[i + 1], i + 1
      opens = word:find("=$")
    end
    if shown ~= word then blank = blank or shown end
    list[#list + 1], i = word, i + 1
  end
  return list, blank
end

local OURS = { ["--overwrite"] = "overwrite", ["--cold"] = "cold",
               ["--force-signature"] = "force_signature" }

local function take(opt, seen, key, text)
  if not is_operand(key) then
    usage("unknown operand '%s='%s", key, nearest.hint(key, OPERANDS))
  end
  if seen[key] then usage("%s= is given twice", key) end
  seen[key] = true
  if key == "ibs" or key == "obs" then
    usage("%s= is not taken: one block size for reading or writing, bs=%s", key, text)
  elseif key == "if" or key == "of" then
    if text == "" then usage("%s= is empty", key) end
    opt[key == "if" and "input" or "output"] = text
  elseif key == "bs" then
    opt.block_bytes = number(key, text)
    if opt.block_bytes == 0 then usage("bs=0: a block has at least one byte") end
  elseif key == "conv" then
    opt.conv = set_of(key, text, CONV)
  elseif key == "oflag" or key == "iflag" then
    opt[key] = set_of(key, text, FLAGS[key])
  elseif key == "status" then
    if not STATUS[text] then usage("status=%s: there are none, noxfer, progress", text) end
    opt.status = text
  else
    local plain = key:gsub("^i(s)", "%1"):gsub("^os", "s")
    opt[plain] = { text = text, value = number(key, text) }
  end
end

-- Blocks, or bytes where the number ends in B or a flag says so.
local function in_bytes(opt, key, by_flag)
  local given = opt[key]
  if not given then return nil end
  if by_flag or given.text:find("B$") then return given.value end
  if given.value > math.maxinteger // opt.block_bytes then usage("%s=%s is too large", key,
    given.text) end
  return given.value * opt.block_bytes
end

local SOURCES = { ["/dev/zero"] = true, ["/dev/urandom"] = true, ["/dev/random"] = true }

local function finish(opt)
  if not opt.input then usage("if= is missing: standard input is no storage") end
  if not opt.output then usage("of= is missing: of=/dev/null, or a file or device to write") end
  opt.writes = SOURCES[opt.input] ~= nil
  if opt.writes and opt.output == "/dev/null" then
    usage("if=%s of=/dev/null: no storage is in this line", opt.input)
  end
  if not opt.writes and opt.output ~= "/dev/null" then
    usage("if=%s of=%s: one side at a time is measured: of=/dev/null to read, if=/dev/zero to "
      .. "write", opt.input, opt.output)
  end
  local other = opt.writes and "iflag" or "oflag"
  if opt[other].direct then
    usage("%s=direct is for %s, which has no direct I/O: %s=direct is meant", other,
      opt.writes and opt.input or opt.output, opt.writes and "oflag" or "iflag")
  end
  if opt.conv.excl and opt.conv.nocreat then usage("conv=excl,nocreat exclude each other") end
  opt.count_bytes = in_bytes(opt, "count", opt.iflag.count_bytes)
  opt.skip_bytes = in_bytes(opt, "skip", opt.iflag.skip_bytes) or 0
  opt.seek_bytes = in_bytes(opt, "seek", opt.oflag.seek_bytes) or 0
  opt.count, opt.skip, opt.seek = nil, nil, nil
  if opt.count_bytes == 0 then usage("count=0 moves nothing") end
  opt.path = opt.writes and opt.output or opt.input
  return opt
end

--- Reads a command line; raises an error with the code "USAGE".
---@param argv string[]
---@return table opt path, writes, input, output, block_bytes, count_bytes?, skip_bytes,
--- seek_bytes, conv, iflag, oflag (sets), status, overwrite, cold, force_signature, destroy
function arguments.parse(argv)
  local list, blank = joined(argv)
  if blank then
    usage("there is a blank inside '%s'; the line that is meant: dd.lua %s", blank,
      words.join(list))
  end
  local opt = { block_bytes = 512, conv = {}, iflag = {}, oflag = {}, status = "default",
                destroy = {}, command = words.join(list) }
  local seen, i = {}, 1
  while list[i] do
    local word = list[i]
    local key, text = word:match("^(%l+)=(.*)$")
    if key then
      take(opt, seen, key, text)
    elseif OURS[word] then
      opt[OURS[word]] = true
    elseif word == "--destroy" and list[i + 1] then
      i = i + 1
      table.insert(opt.destroy, list[i])
    elseif word:find("^%-%-destroy=.") then
      table.insert(opt.destroy, word:match("=(.*)$"))
    else
      usage("'%s' is no operand: they are written key=value; ours are --overwrite, --cold, "
        .. "--destroy UNIT, --force-signature", word)
    end
    i = i + 1
  end
  return finish(opt)
end

arguments.HELP = [[
operands of dd:
  if=FILE|DEVICE          read it (with of=/dev/null)
  if=/dev/zero|/dev/urandom
                          write of= with data that does not compress
  of=FILE|DEVICE          what is written; of=/dev/null for reading
  bs=N                    block size (512); suffixes as in dd: K M G, kB MB GB
  count=N seek=N skip=N   in blocks; with a B at the end in bytes
  conv=fsync,fdatasync    flush at the end, inside the time
  conv=notrunc,excl,nocreat,noerror,sync
  oflag=direct,sync,dsync,seek_bytes
  iflag=direct,fullblock,count_bytes,skip_bytes,sync,dsync
  status=none|noxfer|progress

and of storlua:
  --overwrite             replace a file that was not written by storlua
  --cold                  drop the file's cache first; fail when that is impossible
  --destroy UNIT          consent to overwrite this device
  --force-signature       also when something known lies on it]]

return arguments
