-- SPDX-License-Identifier: MIT
--- tools/bench iozone: the same matrix by storlua and by an iozone binary that
--- the user names, in turn. The distribution has none.

local loop = require("storlua.core.loop")
local process = require("storlua.process")
local rounds = require("rounds")
local storlua = require("storlua")
local task = require("storlua.task")

local COLUMNS <const> = {
  "write", "rewrite", "read", "reread", "random_read", "random_write", "backward_read",
  "record_rewrite", "stride_read", "fwrite", "frewrite", "fread", "freread",
}

-- The rows of the table that both print: kB, reclen, then one rate a column.
local function cells_of(text)
  local cells, count = {}, 0
  for line in text:gmatch("[^\n]+") do
    local numbers = {}
    if line:match("^%s+%d+%s+%d+%s+%d") then
      for number in line:gmatch("%d+") do numbers[#numbers + 1] = math.tointeger(number) end
    end
    if #numbers == #COLUMNS + 2 then
      for i, column in ipairs(COLUMNS) do
        local key = ("%s %dk/%dk"):format(column, numbers[1], numbers[2])
        cells[key] = { column = column, rate = numbers[i + 2] }
        count = count + 1
      end
    end
  end
  return cells, count
end

local function run_matrix(command, cwd)
  local begin_ns = loop.monotonic_ns()
  local result = process.try_run { cwd = cwd, timeout = 3600, table.unpack(command) }
  local seconds = (loop.monotonic_ns() - begin_ns) / 1e9
  if not result or result.code ~= 0 then
    return nil, ("%s ended with %s: %s"):format(command[1], result and result.code or "no start",
      result and result.stderr or "")
  end
  local cells, count = cells_of(result.stdout)
  if count == 0 then return nil, command[1] .. " printed no full rows" end
  return { seconds = seconds, cells = cells, count = count }
end

-- Ratios of all cells of a round, by column.
local function compare(ours, theirs, ratios)
  for key, cell in pairs(ours.cells) do
    local peer = theirs.cells[key]
    if peer and peer.rate > 0 then
      local list = ratios[cell.column]
      list[#list + 1] = cell.rate / peer.rate
    end
  end
end

local function print_ratios(opt, ours, theirs, ratios)
  local time = rounds.ratio(ours, theirs)
  print(("\nwhole matrix, storlua / iozone = %.3g times the time (%.3g to %.3g), "
    .. "wanted <= 1: %s"):format(time.median, time.low, time.high,
    time.median <= 1 and "met" or "MISSED"))
  print("rate of each cell, storlua / iozone, wanted >= 1 where memory serves it:")
  for _, column in ipairs(COLUMNS) do
    local list = ratios[column]
    print(("  %-15s %5.3g  (quartiles %.3g to %.3g of %d cells)"):format(column,
      rounds.quantile(list, 0.5) or 0, rounds.quantile(list, 0.25) or 0,
      rounds.quantile(list, 0.75) or 0, #list))
  end
  print(("%d rounds in %s"):format(opt.rounds, opt.dir))
end

return storlua.procedure {
  summary = "Compare the matrix of iozone.lua with an iozone binary, cell by cell.",
  tool = true,
  options = {
    { name = "iozone", type = "string", required = true, metavar = "PATH",
      help = "the iozone program to compare with" },
    { name = "dir", type = "string", default = "/dev/shm", help = "folder under test" },
    { name = "largest", type = "size", default = "16M", help = "largest file of the matrix" },
    { name = "rounds", type = "count", default = 3, min = 1, help = "how often each runs" },
    { name = "direct", type = "flag", help = "with O_DIRECT (-I)" },
  },
  run = function(_, opt)
    local folder = process.run { "mktemp", "-d", opt.dir .. "/storlua-bench.XXXXXX" }.stdout
      :gsub("\n", "")
    local _ <close> = task.defer(function() process.run { "rm", "-rf", folder } end)
    local flags = { "-a", "-n", "64k", "-g", ("%dk"):format(opt.largest >> 10) }
    if opt.direct then flags[#flags + 1] = "-I" end
    local function command(first, file)
      local list = table.move(flags, 1, #flags, #first + 1, first)
      return table.move({ "-f", folder .. "/" .. file }, 1, 2, #list + 1, list)
    end
    local ours_s, theirs_s, ratios = {}, {}, {}
    for _, column in ipairs(COLUMNS) do ratios[column] = {} end
    for round = 1, opt.rounds do
      local function storlua_run()
        return assert(run_matrix(command({ os.getenv("STORLUA_RELEASE"), "--output",
          ("%s/run-%d"):format(folder, round), "iozone.lua" }, "storlua.data")))
      end
      local function iozone_run()
        return assert(run_matrix(command({ opt.iozone }, "iozone.data"), folder))
      end
      local ours, theirs
      if round % 2 == 1 then
        ours, theirs = storlua_run(), iozone_run()
      else
        theirs, ours = iozone_run(), storlua_run()
      end
      ours_s[round], theirs_s[round] = ours.seconds, theirs.seconds
      compare(ours, theirs, ratios)
      print(("round %d: storlua %.1f s, iozone %.1f s, %d cells"):format(round, ours.seconds,
        theirs.seconds, theirs.count))
    end
    print_ratios(opt, ours_s, theirs_s, ratios)
  end,
}
