-- SPDX-License-Identifier: MIT
--- One line of dd as a workload: what it measures, said plainly.

local dd_lines = require("storlua.dd.lines")
local format = require("storlua.report.format")
local fs = require("storlua.fs")
local own_file = require("storlua.own_file")
local storlua = require("storlua")
local target_of = require("storlua.target")
local task = require("storlua.task")

local dd = {}

local function usage(format_text, ...) storlua.usage("dd: " .. format_text:format(...)) end

local function say(t, key, format_text, ...)
  local text = format_text:format(...)
  io.stderr:write("storlua: ", text, "\n")
  t:note(key, text)
end

local function check_output(opt, stat)
  local path = opt.path
  if not stat then
    if opt.conv.nocreat then usage("conv=nocreat: %s is not there", path) end
    if not opt.count_bytes then
      usage("count= is missing: the line would fill the file system of %s", path)
    end
    return
  end
  if opt.conv.excl then usage("conv=excl: %s is there", path) end
  if not opt.count_bytes then
    usage("count= is missing: the line would fill the file system of %s", path)
  end
  if fs.try_stat(path .. ".owner") then
    usage("%s belongs to a run: %s.owner lies beside it", path, path)
  end
  if opt.seek_bytes > 0 and not opt.conv.notrunc then
    usage("seek= on %s would cut the file there: say conv=notrunc, or remove it", path)
  end
  if stat.size_bytes == 0 or opt.overwrite then return end
  if own_file.is_ours(path, opt.seek_bytes, opt.conv.notrunc and opt.count_bytes or nil) then
    return
  end
  usage("%s holds %s that storlua did not write: another name, or --overwrite", path,
    format.bytes(stat.size_bytes))
end

-- Direct I/O moves whole sectors.
local function check_direct(opt, it)
  local name, at = "oflag", "seek"
  if not opt.writes then name, at = "iflag", "skip" end
  if not opt[name].direct then return end
  local sector = it:direct_bytes()
  local count = opt.count_bytes
  local whole = opt.writes or not it.size_bytes
    or opt.skip_bytes + (count or math.huge) < it.size_bytes
  for _, given in ipairs {
    { "bs", opt.block_bytes < (count or math.huge) and opt.block_bytes or 0 },
    { at, opt[at .. "_bytes"] }, { "count", whole and count or 0 },
  } do
    if given[2] % sector ~= 0 then
      usage("%s=direct needs multiples of %d bytes on %s: %s= comes to %d", name, sector, opt.path,
        given[1], given[2])
    end
  end
end

--- What is under test, checked before anything is made.
---@async
---@param opt table of storlua.dd.arguments
---@return string path
function dd.check(opt)
  local path = opt.path
  local stat, err = fs.try_stat(path)
  if not stat and (not opt.writes or err.code ~= "ENOENT") then usage("%s", err.message) end
  if stat and stat.is_directory then usage("%s is a directory", path) end
  if stat and stat.kind ~= "file" and stat.kind ~= "block" then
    usage("%s is neither a file nor a block device", path)
  end
  if not stat then target_of.resolve(path, storlua.board.select("generic"), "") end
  local it = target_of.look(path)
  it:need_medium()
  check_direct(opt, it)
  if opt.writes and (not stat or stat.kind == "file") then check_output(opt, stat) end
  return path
end

local function write_spec(opt, it)
  local room = it.is_device and it.size_bytes - opt.seek_bytes or math.huge
  if room <= 0 then usage("seek= is beyond the end of %s", opt.path) end
  local record = math.min(opt.block_bytes, room, opt.count_bytes or math.huge)
  local spec = {
    path = opt.path, operation = "write", record_bytes = record, range_offset = opt.seek_bytes,
    direct = opt.oflag.direct, limit_bytes = opt.count_bytes,
    open_sync = opt.oflag.sync and "full" or opt.oflag.dsync and "data" or "none",
    flush = (opt.conv.fsync or opt.conv.fdatasync) and "end" or "none",
    stamp = record % 512 == 0 and opt.seek_bytes % 512 == 0
      and (opt.count_bytes or 0) % 512 == 0,
  }
  if it.is_device then
    spec.range_bytes = math.min(room, opt.count_bytes or room)
    spec.limit_bytes = spec.range_bytes
  else
    local needed = opt.seek_bytes + opt.count_bytes
    spec.truncate = not opt.conv.notrunc
    spec.size_bytes = opt.conv.notrunc and math.max(needed, it.size_bytes) or needed
    if opt.seek_bytes > 0 or opt.conv.notrunc then spec.range_bytes = opt.count_bytes end
  end
  return spec
end

local function read_spec(opt, it)
  local room = it.size_bytes - opt.skip_bytes
  if room <= 0 then
    usage("%s: cannot skip to specified offset: it has %d bytes", opt.path, it.size_bytes)
  end
  local bytes = math.min(room, opt.count_bytes or room)
  return {
    path = opt.path, operation = "read", record_bytes = math.min(opt.block_bytes, bytes),
    range_offset = opt.skip_bytes, range_bytes = bytes, direct = opt.iflag.direct,
    continue_on_error = opt.conv.noerror, cold = opt.cold and "require" or nil,
  }
end

-- What the line is taken for and what it is.
local function say_read(t, opt, result)
  local cache, direct = result.cache, result.target.direct
  if opt.conv.fsync or opt.conv.fdatasync then
    say(t, "dd.flush", "conv=fsync syncs the output, which is /dev/null: it does nothing for a "
      .. "read")
  end
  if cache.cold and not cache.from_medium then
    say(t, "dd.medium", "%s: %s", cache.from_medium == false and "it did not come from the medium"
      or "whether it came from the medium is not shown", cache.medium_reason or "not known")
  end
  if direct then return end
  local resident = cache.resident_before_bytes
  if cache.cold then
    say(t, "dd.cache", "cold read: nothing of the range was in the page cache")
  elseif resident then
    say(t, "dd.cache", "%s of %s were in the page cache: this line measures memory, not the "
      .. "medium; --cold drops them, iflag=direct passes them by", format.bytes(resident),
      format.bytes(result.read.bytes))
  else
    say(t, "dd.cache", "nobody tells how much was in the page cache; iflag=direct passes it by")
  end
end

local function say_write(t, opt, result)
  say(t, "dd.data", "the data does not compress and was made outside the time; dd copies %s and "
    .. "counts that in", opt.input)
  if result.flush or opt.oflag.sync or opt.oflag.dsync then return end
  if opt.conv.fsync or opt.conv.fdatasync then
    say(t, "dd.flush", "it ended before the flush: what was counted may not be on the medium")
  elseif result.target.direct then
    say(t, "dd.flush", "oflag=direct without a flush: the device may hold the data in its own "
      .. "cache; conv=fsync waits for the medium")
  else
    say(t, "dd.flush", "nothing was flushed: this line measures the page cache; conv=fsync or "
      .. "oflag=direct reaches the device")
  end
end

local function say_result(t, opt, result)
  local tally = result.read or result.write
  local flush_ns = result.flush and result.flush.ns or 0
  local ns = tally.io_ns + flush_ns
  for _, line in ipairs(dd_lines.closing(tally.bytes, ns, opt.block_bytes, opt.status)) do
    io.stderr:write(line, "\n")
  end
  if ns > 0 and tally.bytes > 0 then
    local mb_s, mib_s = tally.bytes / 1e6 / (ns / 1e9), tally.bytes / 1048576 / (ns / 1e9)
    say(t, "dd.rate", "%s MB/s (10^6), %s MiB/s (2^20)%s", format.number(mb_s, 2),
      format.number(mib_s, 2), flush_ns > 0 and ("; %s writing, %s flushing"):format(
        format.ns(tally.io_ns), format.ns(flush_ns)) or "")
  end
  if opt.writes then say_write(t, opt, result) else say_read(t, opt, result) end
  local unbacked = result.cache.unbacked_before_bytes
  if unbacked and unbacked > 0 then
    say(t, "dd.holes", "%s of the range are holes or unwritten extents: reading them is no I/O",
      format.bytes(unbacked))
  end
  if result.target.ram_backed then
    say(t, "dd.memory", "%s lies in memory: no medium was measured", opt.path)
  end
end

-- status=progress: as dd, a line that overwrites itself, once a second.
local function progress(t)
  for _ in task.every(1) do
    for handle in pairs(t.live.active) do
      local p = handle:progress()
      if p and p.bytes > 0 then
        io.stderr:write("\r", dd_lines.copied(p.bytes, p.elapsed_ns), "\27[K")
      end
    end
  end
end

--- Runs the line.
---@async
---@param t storlua.Run
---@param opt table of storlua.dd.arguments
function dd.run(t, opt)
  local it = target_of.look(opt.path)
  local spec = opt.writes and write_spec(opt, it) or read_spec(opt, it)
  if opt.writes and it.is_device then
    table.move(opt.destroy, 1, #opt.destroy, #t.destroy + 1, t.destroy)
    it:open(t, opt)
  end
  local _ <close> = task.defer(function() it:close() end)
  local scope <close> = task.scope()
  if opt.status == "progress" then scope:spawn("progress", progress, t) end
  -- Also for a line that is cut off: dd closes with its numbers on a Ctrl-C.
  t:measure(opt.writes and "write" or "read", spec, { on_result = function(result)
    if opt.status == "progress" then io.stderr:write("\n") end
    say_result(t, opt, result)
  end })
end

return dd
