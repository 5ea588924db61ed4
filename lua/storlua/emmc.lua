-- SPDX-License-Identifier: MIT
--- The eMMC procedures of a board vendor's manual: a matrix of iozone in loops
--- until the time is up, with its options, log and file names.

local arguments = require("storlua.iozone.arguments")
local device = require("storlua.device")
local iozone = require("storlua.iozone")
local loop_files = require("storlua.emmc.files")
local quantity = require("storlua.quantity")
local storlua = require("storlua")
local task = require("storlua.task")
local watch = require("storlua.watch")

local emmc = {}

local FAILED_LOOPS_MAX = 3 -- in a row: then the device only wears

local function duration(name, text, bare_is_seconds)
  if not bare_is_seconds and text:find("^%d+$") then
    storlua.usage(("%s: '%s' of what? 2h, 30m and 90s are durations"):format(name, text))
  end
  local value, why = quantity.parse("duration", text)
  if not value then storlua.usage(("%s: '%s': %s"):format(name, text, why)) end
  return value
end

local OPTIONS = {
  ["-t"] = function(opt, text) opt.seconds = duration("-t", text) end,
  ["-d"] = function(opt, text) opt.pause = duration("-d", text, true) end,
  ["-o"] = function(opt, text) opt.dir = text end,
  ["--loops"] = function(opt, text)
    opt.loops = math.tointeger(tonumber(text:match("^%d+$") or ""))
    if not opt.loops or opt.loops < 1 then storlua.usage("--loops: a count of 1 or more") end
  end,
  ["--largest"] = function(opt, text)
    local bytes, why = quantity.parse("size", text)
    if not bytes then storlua.usage(("--largest: '%s': %s"):format(text, why)) end
    opt.largest = bytes
  end,
}

local function parse(argv)
  local opt, i = { seconds = 48 * 3600, pause = 30 }, 1
  while argv[i] do
    local take = OPTIONS[argv[i]]
    if not take then storlua.usage(("unknown option '%s'; -h tells"):format(argv[i])) end
    if not argv[i + 1] or argv[i + 1] == "" then storlua.usage(argv[i] .. ": needs a value") end
    take(opt, argv[i + 1])
    i = i + 2
  end
  return opt
end

local HELP = [[
options:
  -t TIME            how long: 2h, 30m (48h)
  -d SECONDS         rest between loops (30)
  -o DIR             folder of the log, the results and the file under test
                     (../output beside the script, or ./output)
  -h                 print this and end
      --loops N      end after so many loops
      --largest SIZE leave out larger files]]

-- The manual's folder lies beside the script's; a bundled script has none.
local function folder_of(t, opt)
  if opt.dir then return opt.dir end
  return t.dir and t.dir ~= "." and t.dir .. "/../output" or "output"
end

local function matrix_of(kind, opt, dir, round)
  local o = arguments.parse(kind.command(dir, round))
  if opt.largest then
    local sizes = {}
    for _, size in ipairs(o.sizes) do
      if size <= opt.largest then sizes[#sizes + 1] = size end
    end
    -- no size at all would mean all those of auto mode
    if o.sizes[1] and not sizes[1] then
      storlua.usage(("--largest: %s leaves no file: the smallest has %s"):format(
        quantity.size_text(opt.largest), quantity.size_text(math.min(table.unpack(o.sizes)))))
    end
    o.sizes = sizes
    if o.max_size then o.max_size = math.min(o.max_size, opt.largest) end
    if o.min_size then o.min_size = math.min(o.min_size, opt.largest) end
  end
  -- the loop's own files take the place of the outputs on the command line
  o.matrices, o.workbook = false, nil
  for i = #o.flag_words, 1, -1 do
    if o.flag_words[i]:find("^%-[Rb]") then table.remove(o.flag_words, i) end
  end
  return iozone.matrix(o)
end

local function arguments_of(kind, argv)
  local opt = parse(argv)
  if opt.largest then matrix_of(kind, opt, ".", 1) end -- refuses what leaves no cell
  return opt
end

local function note_limits(t, dir)
  local found, board = device.try_of_path(dir), t.board
  local role = found and board:role_of(found)
  if role and board:limits_for(role)[1] then return end
  local why
  if board.name == "generic" then
    why = "no board is named (--board NAME)"
  elseif role then
    why = ("board %s sets none for its role %s"):format(board.name, role)
  else
    why = ("board %s does not know the device of %s (storlua devices.lua shows what it is)"):format(
      board.name, dir)
  end
  t:note("speed_limits", "speeds are not judged: " .. why)
end

local function one_loop(t, kind, opt, dir, round, files)
  local before = t:problems()
  local matrix = matrix_of(kind, opt, dir, round)
  files:line("loop_test: " .. round)
  local results = matrix:run(t, {
    round = round,
    on_plan = function(r) files:plan(r) end,
    on_row = function(row, r) files:row(row, r) end,
  })
  files:results(round, results)
  local ok = t:problems() == before
  files:say(("Test loop %d %s"):format(round, ok and "succeeded!" or "failed!"))
  if results.is_evidence_kept then
    t:abort("bad sectors: %s is kept as evidence, so no further loop may write it",
      matrix.options.path)
  end
  return ok
end

local function run(t, opt, kind)
  local dir = folder_of(t, opt)
  local files <close> = loop_files.open(t, dir, kind.name)
  files:say(("eMMC %s test starting..."):format(kind.title))
  files:say("Test configuration:")
  files:say(("  Test duration: %d minutes"):format(opt.seconds // 60 // 1 | 0))
  files:say(("  Sleep duration: %d seconds"):format(opt.pause // 1 | 0))
  files:say("  Output directory: " .. dir)
  note_limits(t, dir)
  local watchers <close> = task.scope()
  watch.device(t, watchers, dir .. "/iozone_data")
  if t.resume then
    t:check("no_reboot", not t.resume.rebooted, "the machine was started anew during the test")
  end
  local failed = 0
  for round in t:rounds { seconds = opt.seconds, count = opt.loops, pause = opt.pause } do
    failed = one_loop(t, kind, opt, dir, round, files) and 0 or failed + 1
    if failed == FAILED_LOOPS_MAX then t:abort("%d loops in a row failed", failed) end
  end
end

--- A procedure of the manual.
---@param kind table name, title, summary, command (fun(dir, round) → words of iozone)
---@return storlua.Procedure
function emmc.procedure(kind)
  return storlua.procedure {
    summary = kind.summary,
    description = kind.description,
    usage = HELP,
    arguments = function(argv) return arguments_of(kind, argv) end,
    reports = function() return { { format = "iozone" } } end,
    thresholds = { "kernel.errors count == 0" },
    run = function(t, opt) run(t, opt, kind) end,
  }
end

return emmc
