-- SPDX-License-Identifier: MIT
--- What goes together on an iozone command line, and what follows from it.

local tests = require("storlua.iozone.tests")
local words = require("storlua.iozone.words")

local rules = { default_path = "iozone.tmp" }

local usage = words.usage

local function shorthand(opt)
  if opt.auto_two then
    opt.auto, opt.no_crossover = true, true
    if not opt.tests[1] then opt.tests = { 0, 1 } end
  end
  if not opt.tests[1] then
    opt.tests = table.move(tests.usual, 1, #tests.usual, 1, {})
  end
  if opt.extended then
    table.move(tests.extended, 1, #tests.extended, #opt.tests + 1, opt.tests)
  end
  if opt.pattern then opt.stamp = true end
  if opt.workbook then opt.matrices = true end
  if opt.sync_all then opt.open_sync, opt.sync_reads = "full", true end
end

-- What iozone would have ignored without a word.
local function ranges(opt)
  local auto = opt.auto or #opt.sizes > 1 or #opt.records > 1
  local function only_auto(name, key, lists, list_name)
    if not opt[key] then return end
    if not auto then usage("%s is for auto mode: add -a (iozone ignores it)", name) end
    if lists[1] then
      usage("%s and %s: one names a range, the other a list; give one of them", name, list_name)
    end
  end
  only_auto("-n", "min_size", opt.sizes, "-s")
  only_auto("-g", "max_size", opt.sizes, "-s")
  only_auto("-y", "min_record", opt.records, "-r")
  only_auto("-q", "max_record", opt.records, "-r")
  if opt.multiplier and opt.multiplier < 2 then usage("-+x: a factor of 1 leads nowhere") end
  local function in_order(low, high, low_name, high_name)
    if low and high and low > high then
      usage("%s is larger than %s: no size lies between", low_name, high_name)
    end
  end
  in_order(opt.min_size or 65536, opt.max_size, "-n", "-g")
  in_order(opt.min_size, opt.max_size or 512 << 20, "-n", "-g")
  in_order(opt.min_record or 4096, opt.max_record, "-y", "-q")
  in_order(opt.min_record, opt.max_record or 16 << 20, "-y", "-q")
  if not auto and opt.sizes[1] and opt.sizes[1] < (opt.records[1] or 4096) then
    usage("the record is larger than the file")
  end
end

local function engines(opt)
  local depth = opt.aio or opt.aio_no_copy
  if opt.aio and opt.aio_no_copy then usage("-H and -k are the same test: give one of them") end
  if opt.map_sync and not opt.engine then
    opt.engine = "mmap"
    table.insert(opt.said, "-G and -D work on mappings: -B was added (iozone ignores -G alone)")
  end
  if opt.map_sync and opt.engine ~= "mmap" then usage("-G and -D work on mappings: -B") end
  if depth then
    if opt.engine then usage("-H and -k cannot be joined with engine %s", opt.engine) end
    opt.engine, opt.queue_depth = "posixaio", depth
  end
  if opt.engine == "mmap" and opt.direct then
    usage("-B with -I: a mapping lies in the page cache, there is no direct I/O past it")
  end
  if opt.queue_depth and (opt.engine or "psync") == "psync" and opt.queue_depth > 1 then
    usage("--queue-depth: needs an engine that queues: -H, or --engine io_uring")
  end
end

-- Throughput mode takes one size and one record, and files of its own.
local function check_throughput(opt)
  local only_auto = opt.auto and "-a" or opt.min_size and "-n" or opt.max_size and "-g"
    or opt.min_record and "-y" or opt.max_record and "-q"
  if only_auto then
    usage("%s and -t: throughput mode has one file size and one record size", only_auto)
  end
  if #opt.sizes > 1 then usage("-s: throughput mode has one file size") end
  if #opt.records > 1 then usage("-r: throughput mode has one record size") end
  if opt.path ~= rules.default_path then usage("-f and -t: -F names the files of the streams") end
  if opt.remount then usage("-U and -t: the streams share the file system; remount by hand") end
  if opt.unit == "us_op" then
    usage("-N and -t: throughput is given in kB/s or, with -O, in operations per second")
  end
end

local function throughput(opt)
  local low, high = opt.min_streams, opt.max_streams
  if low or high then
    low, high = low or 1, high or low
    if low > high then usage("-l is larger than -u") end
    for n = low, high do table.insert(opt.streams, n) end
  end
  if not opt.streams[1] then
    local only = opt.files[1] and "-F" or opt.no_stonewall and "-x" or opt.show_streams and "-C"
    if only then usage("%s is for throughput mode: add -t or -l and -u", only) end
    return
  end
  check_throughput(opt)
  local most, seen, counts = math.max(table.unpack(opt.streams)), {}, {}
  for _, n in ipairs(opt.streams) do
    if not seen[n] then counts[#counts + 1] = n end
    seen[n] = true
  end
  opt.streams = counts
  if most > 1024 then usage("-t: at most 1024 streams") end
  if opt.files[1] and #opt.files < most then
    usage("-F: %d names for %d streams", #opt.files, most)
  end
  for i = #opt.files + 1, opt.files[1] and 0 or most do
    opt.files[i] = ("iozone.DUMMY.%d"):format(i - 1)
  end
  seen = {}
  for _, name in ipairs(opt.files) do
    local plain = name:sub(1, 1) == "/" and "" or "."
    for segment in name:gmatch("[^/]+") do
      if segment ~= "." then plain = plain .. "/" .. segment end
    end
    if seen[plain] then usage("-F: %s is named twice", name) end
    seen[plain] = true
  end
  if not opt.tests[1] then
    opt.tests = table.move(tests.of_streams, 1, #tests.of_streams, 1, {})
  end
end

--- Completes the options; raises an error with the code "USAGE".
---@param opt table of storlua.iozone.arguments
function rules.apply(opt)
  throughput(opt)
  shorthand(opt)
  ranges(opt)
  engines(opt)
end

return rules
