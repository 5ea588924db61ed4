-- SPDX-License-Identifier: MIT
--- What is derived from the numbers of a workload: rates, and the notes that
--- say what a number really measured.

local result = {}

local MIB = 1048576

local function mib_s(bytes, ns)
  if bytes == 0 or ns <= 0 then return nil end
  return bytes / MIB / (ns / 1e9)
end

local function add_rates(r)
  for _, name in ipairs { "read", "write", "trim" } do
    local tally = r[name]
    if tally and tally.io_ns > 0 and tally.operations > 0 then
      tally.mib_s = mib_s(tally.bytes, tally.io_ns)
      tally.iops = tally.operations / (tally.io_ns / 1e9)
    end
  end
  if r.flush and r.write then
    r.flush.mib_s_with_flush = mib_s(r.write.bytes, r.write.io_ns + r.flush.ns)
  end
end

--- Median rate of the last third of the whole intervals: what is left when a
--- cache is full. The last interval is cut off, so it does not count.
local function sustained(series)
  local whole = #series.bytes - 1
  if whole < 3 then return nil end
  local rates = {}
  for i = whole - whole // 3 + 1, whole do rates[#rates + 1] = series.bytes[i] end
  table.sort(rates)
  local middle = rates[(#rates + 1) // 2]
  if #rates % 2 == 0 then middle = (middle + rates[#rates // 2 + 1]) / 2 end
  return middle / MIB / (series.interval_ns / 1e9)
end

local compressing = {
  squashfs = true, erofs = true, ubifs = true, jffs2 = true, zfs = true, cramfs = true,
}

local function add_place_notes(note, r, found)
  local mount, disk = found.mount, found.single
  local kind = mount and mount.type
  r.target.filesystem = kind
  if r.target.ram_backed or (disk and (disk.kind == "zram" or disk.kind == "ram")) then
    note("ram_backed")
  end
  if disk and disk.loop and disk.loop.direct == false then note("buffered_loop") end
  local options = mount and ("%s,%s"):format(mount.options or "", mount.super_options or "") or ""
  if compressing[kind] or options:find("compress", 1, true) then note("compressing_fs") end
  -- Since Linux 6.15 btrfs copies direct writes to files with checksums.
  if kind == "btrfs" and r.write and r.target.direct then note("direct_may_be_buffered") end
end

local function add_cache_notes(note, r, spec)
  local resident, cache = r.cache.resident_before_bytes, r.cache
  -- Cold is what was seen to be: nothing resident, or the cache passed by.
  cache.cold = r.read ~= nil and (resident == 0 or r.target.direct) or false
  if r.read and not cache.cold then
    if spec.cold then note("not_cold") end
    note(resident and "cached" or "cache_unknown")
  end
  if (cache.unbacked_before_bytes or 0) > 0 then note("holes") end
  local flushed = r.flush and spec.flush ~= "after" or spec.open_sync ~= "none"
  if r.write and not flushed and not r.target.direct then
    note("not_flushed")
  end
end

-- What a trim is worth here: what is no whole multiple of the granularity is
-- kept, and whether the rest reads as zeros is the device's promise.
local function add_trim_notes(note, r, spec)
  if not r.trim then return end
  local granularity = r.target.trim_granularity_bytes or 1
  local odd = spec.record_bytes % granularity ~= 0 or spec.range_offset % granularity ~= 0
  for _, one in ipairs(spec.size_mix or {}) do
    odd = odd or one.record_bytes % granularity ~= 0
  end
  if odd then note("trim_below_granularity") end
  if not r.target.trim_reads_zero then note("trim_zero_not_promised") end
end

--- Adds rates, the sustained rate, and notes to the table of the C side.
---@param r table what storlua.core.workload gave
---@param spec table complete spec
---@param found? storlua.PathDevice where the path lies, nil when not known
---@return table r
function result.complete(r, spec, found)
  add_rates(r)
  r.sustained_mib_s = sustained(r.series)
  r.notes = r.notes or {} -- those of the engine
  local function note(name) r.notes[#r.notes + 1] = name end
  if not r.target then return r end
  add_place_notes(note, r, found or {})
  add_cache_notes(note, r, spec)
  add_trim_notes(note, r, spec)
  if r.target.huge_pages then note("huge_pages") end
  return r
end

return result
