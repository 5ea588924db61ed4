-- SPDX-License-Identifier: MIT
--- The flags of iozone as data: what each takes, which option it sets, what it
--- means in words; and those that are refused, with the reason.
---
---   flag      operand  long name      sets            words
--- A flag whose operand is "FILES" takes all words up to the next flag.

local flags = {}

---@class storlua.IozoneFlag
---@field flag string without the minus
---@field operand? string
---@field long? string
---@field sets? string option
---@field list? boolean repeats add up
---@field value? any what the flag sets when it has no operand
---@field words string
---@field refuse? string why it is not supported

local function flag(name, long, sets, value, words)
  return { flag = name, long = long, sets = sets, value = value, words = words }
end

local function takes(name, operand, long, sets, words)
  return { flag = name, operand = operand, long = long, sets = sets, words = words }
end

local function several(name, operand, long, sets, words)
  return { flag = name, operand = operand, long = long, sets = sets, words = words, list = true }
end

flags.known = {
  flag("a", "auto", "auto", true,
    "auto mode: unless said otherwise files 64k to 512m, records 4k to 16m, doubling"),
  flag("A", nil, "auto_two", true, "as -az -i 0 -i 1"),
  flag("z", "all-records", "no_crossover", true,
    "files above 16m are measured with records below 64k too; it fills nothing"),
  several("s", "SIZE", "size", "sizes", "size of the file; several are a list"),
  several("r", "SIZE", "record", "records", "size of a record; several are a list"),
  takes("n", "SIZE", "min-size", "min_size", "smallest file of auto mode"),
  takes("g", "SIZE", "max-size", "max_size", "largest file of auto mode"),
  takes("y", "SIZE", "min-record", "min_record", "smallest record of auto mode"),
  takes("q", "SIZE", "max-record", "max_record", "largest record of auto mode"),
  takes("+x", "COUNT", "multiplier", "multiplier", "factor between sizes of auto mode"),
  several("i", "TEST", "test", "tests", "tests to run; all of 0 to 7 when none is named"),
  flag("E", "extended", "extended", true, "adds pwrite, pread, pwritev and preadv (9 to 12)"),
  flag("+n", "no-retest", "no_retest", true, "no second passes: rewrite, reread and the like"),
  takes("j", "COUNT", "stride", "stride", "stride of the stride read, in records"),
  takes("f", "FILE", "file", "path",
    "the scratch file under test: created, overwritten, removed; no results go there"),
  flag("w", "keep", "keep", true, "the file stays"),
  flag("I", "direct", "direct", true,
    "O_DIRECT; not for fwrite, frewrite, fread, freread, which stay in the page cache"),
  flag("o", "sync", "open_sync", "full", "O_SYNC on writes"),
  flag("+D", "dsync", "open_sync", "data", "O_DSYNC on writes"),
  flag("+r", "rsync", "sync_all", true,
    "O_RSYNC|O_SYNC: on Linux writes are synced; reads still come from the page cache"),
  flag("e", "flush", "include_flush", true,
    "the flush at the end of a write counts as part of it; no further tests"),
  flag("c", "close", "include_close", true, "closing the file counts too"),
  takes("U", "MOUNTPOINT", "remount", "remount", "umount and mount before each test"),
  flag("B", "mmap", "engine", "mmap", "mmap for the tests 0 to 5"),
  flag("G", "msync", "map_sync", "record", "mmap with msync(MS_SYNC) after each record"),
  flag("D", "msync-async", "map_sync", "async", "mmap with msync(MS_ASYNC) after each record"),
  takes("H", "DEPTH", "aio", "aio", "POSIX asynchronous I/O with DEPTH operations under way"),
  takes("k", "DEPTH", "aio-no-copy", "aio_no_copy",
    "as -H; here no copy is made in either case"),
  flag("O", "operations", "unit", "ops_s", "results in operations per second"),
  flag("N", "microseconds", "unit", "us_op", "results in microseconds per operation"),
  takes("V", "PATTERN", nil, "pattern",
    "verification: here stamps in every sector, whatever the pattern"),
  flag("+d", "verify", "stamp", true, "stamps in every sector, and every read is verified"),
  flag("+u", "cpu", "cpu", true, "how busy the processors are"),
  takes("S", "KIB", "cache-size", "cache_kib", "size of the processor cache: recorded only"),
  takes("L", "BYTES", "cache-line", "cache_line_bytes",
    "line of the processor cache: recorded only"),
  flag("R", "matrices", "matrices", true, "matrices of all results at the end"),
  takes("b", "FILE", "workbook", "workbook", "a workbook of all results (.xlsx)"),
  flag("M", nil, "machine", true, "the machine is part of every report anyway"),
  flag("x", "no-stonewall", "no_stonewall", true, "throughput: the slower streams are not cut"),
  flag("C", "streams-shown", "show_streams", true, "throughput: a line for each stream"),
  several("t", "COUNT", "streams", "streams", "throughput mode with so many streams"),
  takes("l", "COUNT", "min-streams", "min_streams", "throughput: fewest streams"),
  takes("u", "COUNT", "max-streams", "max_streams", "throughput: most streams"),
  several("F", "FILES", "files", "files", "throughput: the file of each stream"),
  flag("T", "threads", "threads", true, "threads instead of processes: here always"),
}

--- Long options without a letter in iozone.
flags.ours = {
  flag(nil, "overwrite", "overwrite", true, "FILE may exist: it is removed first"),
  flag(nil, "cold", "cold", true, "reads begin with an empty page cache (rereads do not)"),
  flag(nil, "keep-going", "keep_going", true, "after a failed cell go on with the next row"),
  flag(nil, "ignore-space", "ignore_space", true, "start although the file will not fit"),
  takes(nil, "ENGINE", "engine", "engine", "engine of the tests 0 to 5"),
  takes(nil, "COUNT", "queue-depth", "queue_depth", "operations under way at once"),
  takes(nil, "FILE", "csv", "csv", "all results as CSV"),
}

local function refused(names, operand, reason)
  for name in names:gmatch("%S+") do
    flags.refused[name] = { flag = name, operand = operand, refuse = reason }
  end
end

flags.refused = {}
refused("Q", nil, "no file for each operation is kept: every result has its histogram of "
  .. "latencies and its course over time (report --to json)")
refused("+z", nil, "every result has a histogram of latencies anyway (report --to json)")
refused("p", nil, "the processor cache is not purged between operations: a record is filled before "
  .. "each write")
refused("m", nil, "one buffer is enough: its data is new for each record")
refused("K", nil, "no jitter is added to reads")
refused("J X Y +b +O", "VALUE", "think time, replay and bursts are not part of this procedure; "
  .. "fio.lua paces")
refused("P +S", "VALUE", "streams are not pinned; start storlua under taskset")
refused("+m +h +i +t +s +c +H +P +v", "VALUE", "there is no cluster mode: start storlua on each "
  .. "machine and compare the runs")
refused("+w +y +C +a +Q +M +e +W", "VALUE", "the data never compresses or deduplicates: shaping "
  .. "it is not supported")
refused("+k +L +l +V +K +p +B +F +T +R", nil, "this kind of throughput run is not supported")
refused("W", nil, "files are not locked")
refused("+A", "VALUE", "no advice is given for mappings")
refused("+E", nil, "a file that exists is only read when no test writes: no flag is needed")
refused("+N", nil, "the first write test truncates: it measures allocation")
refused("+J +q d", "VALUE", "there are no pauses whose time would have to be taken out")
refused("Z", nil, "mixing mapped and plain I/O on one file is not supported")

local by_flag, by_long = {}, {}
for _, one in ipairs(flags.known) do
  by_flag[one.flag] = one
  if one.long then by_long[one.long] = one end
end
for _, one in ipairs(flags.ours) do by_long[one.long] = one end

--- A flag of iozone by its letters: "e", "+r"; also one that is refused.
---@param name string
---@return storlua.IozoneFlag|nil
function flags.find(name) return by_flag[name] or flags.refused[name] end

--- A long option.
---@param name string
---@return storlua.IozoneFlag|nil
function flags.find_long(name) return by_long[name] end

--- All long names, sorted.
---@return string[]
function flags.long_names()
  local names = {}
  for name in pairs(by_long) do names[#names + 1] = name end
  table.sort(names)
  return names
end

return flags
