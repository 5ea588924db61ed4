-- SPDX-License-Identifier: MIT
--- The tables of a raw-device run: in brief, severe against less severe, all
--- figures, and what the numbers rest on.

local format = require("storlua.report.format")
local quantity = require("storlua.quantity")
local statistics = require("storlua.statistics")

local rawblock_table = {}

local NAMES = {
  { "seq_write", "write" }, { "seq_read", "read" }, { "rand_write", "write" },
  { "rand_read", "read" },
}
local number, median = format.number, statistics.median

local function significant(x)
  return number(x, x < 10 and 2 or x < 1000 and 1 or 0)
end

local function name_of(row)
  if row.test:find("^rand") then
    return ("%s random %s"):format(quantity.size_text(row.record_bytes), row.operation)
  end
  return "Sequential " .. row.operation
end

-- MiB/s of a sequential test, IOPS first of a random one.
local function headline(row)
  local mib_s = median(row.mib_s)
  local text = significant(mib_s) .. " MiB/s"
  if not row.test:find("^rand") then return text end
  return ("%s IOPS / %s"):format(number(median(row.iops), 0), text)
end

local function spread_text(row)
  local spread = statistics.spread_percent(row.mib_s)
  return spread and number(spread) .. " %" or "-"
end

-- Syncing does not touch reads: the runs of both severities are of one test.
local function pooled(severe, less)
  if not severe or not less then return severe or less end
  local row = { test = severe.test, operation = "read", record_bytes = severe.record_bytes }
  for _, key in ipairs { "mib_s", "iops" } do
    row[key] = table.move(severe[key], 1, #severe[key], 1, {})
    table.move(less[key], 1, #less[key], #row[key] + 1, row[key])
  end
  return row
end

local function brief(add, results)
  local rows = {}
  local function put(row, sync)
    if not row then return end
    rows[#rows + 1] = {
      ("%s%s:"):format(name_of(row), sync), "~" .. headline(row),
      ("%s MB/s"):format(significant(median(row.mib_s) * 1.048576)),
      "spread " .. spread_text(row),
    }
  end
  for _, name in ipairs(NAMES) do
    local severe, less = results:row("severe", name[1]), results:row("less_severe", name[1])
    if name[2] == "read" then
      put(pooled(severe, less), "")
    else
      put(severe, ", severe sync")
      put(less, ", less severe")
    end
  end
  add("In brief (median of the runs, the flush counted; spread: largest less smallest)")
  for _, line in ipairs(format.table(rows, 1)) do add("  " .. line) end
end

-- How the less severe test differs, as far as the runs can tell.
local function change_text(severe, less)
  if severe.operation == "read" then
    return ("the same test twice: %s %% apart"):format(number(math.abs(
      median(less.mib_s) / median(severe.mib_s) - 1) * 100))
  end
  local ratio = median(less.mib_s) / median(severe.mib_s)
  local judged = statistics.compare(severe.mib_s, less.mib_s)
  local text = ratio >= 1 and ("%sx faster"):format(number(ratio, ratio < 1.1 and 2 or 1))
    or ("%sx slower"):format(number(1 / ratio, 1 / ratio < 1.1 and 2 or 1))
  if judged.verdict == "not judged" then return text .. " (too few runs to judge)" end
  return judged.verdict == "same" and "no difference beyond noise" or text
end

local function severities(add, results)
  local rows = {}
  for _, name in ipairs(NAMES) do
    local severe, less = results:row("severe", name[1]), results:row("less_severe", name[1])
    if severe and less then
      rows[#rows + 1] = { name_of(severe), headline(severe), headline(less),
                          change_text(severe, less) }
    end
  end
  if not rows[1] then return end
  table.insert(rows, 1, { "Test", "Severe", "Less severe", "Change" })
  add("")
  add("Severe against less severe (syncing does not touch reads)")
  for _, line in ipairs(format.table(rows, 1)) do add("  " .. line) end
end

local function range_text(values)
  local min, max = statistics.range(values)
  return #values > 1 and ("%s-%s"):format(significant(min), significant(max)) or "-"
end

local function figures(add, list)
  local speed = { { "test", "runs", "MB/s", "MiB/s", "all runs MiB/s", "IOPS", "last third",
                    "coverage" } }
  local phases = { { "test", "I/O phase", "flush", "total", "MiB/s without flush" } }
  local latency = { { "test", "p50", "p90", "p95", "p99", "p99.9", "p99.99", "max" } }
  for _, row in ipairs(list) do
    local mib_s, l = median(row.mib_s), row.latency
    speed[#speed + 1] = {
      row.id, ("%d"):format(#row.mib_s), significant(mib_s * 1.048576), significant(mib_s),
      range_text(row.mib_s), number(median(row.iops), 0), number(median(row.sustained_mib_s)),
      number(row.coverage_percent, 2) .. " %",
    }
    latency[#latency + 1] = {
      row.id, format.ns(l.p50_ns), format.ns(l.p90_ns), format.ns(l.p95_ns), format.ns(l.p99_ns),
      format.ns(l.p999_ns), format.ns(l.p9999_ns), format.ns(l.max_ns),
    }
    if row.operation == "write" then
      phases[#phases + 1] = {
        row.id, format.ns(median(row.io_ns)), format.ns(median(row.flush_ns)),
        format.ns(median(row.total_ns)), significant(median(row.phase_mib_s)),
      }
    end
  end
  local function put(title, rows)
    if not rows[2] then return end
    add("")
    add(title)
    for _, line in ipairs(format.table(rows, 1)) do add("  " .. line) end
  end
  put("Speed", speed)
  put("System call, all runs together", latency)
  put("Writing", phases)
end

-- A last third that is slower than this share of the mean: a cache ran out.
local CLIFF = 0.8

local SAID = {
  ram_backed = "lies in memory: no medium was measured",
  cached = "a read was served from the page cache",
  not_cold = "the cache could not be dropped",
  cache_unknown = "nobody tells what was in the page cache",
  holes = "a part that was read lies on no medium",
  compressing_fs = "the file system compresses",
  direct_may_be_buffered = "btrfs may have copied the direct writes",
  not_flushed = "the page cache was measured: nothing was flushed",
}

local function truth_of(row)
  local parts = {}
  if row.reason then
    parts[1] = ("%s issued; %s"):format(format.bytes(row.issued_bytes), row.reason)
  else
    parts[1] = ("%s issued, the device counted %s (%s %%)"):format(
      format.bytes(row.issued_bytes), format.bytes(row.counted_bytes),
      number(row.counted_bytes / row.issued_bytes * 100))
    if row.flushes > 0 then parts[2] = row.flushes .. " flushes" end
  end
  local late, mean = median(row.sustained_mib_s), median(row.phase_mib_s)
  if late and late < mean * CLIFF then
    parts[#parts + 1] = ("the last third of the time was slower: %s MiB/s, %s in the mean"):format(
      significant(late), significant(mean))
  end
  if (row.unbacked_bytes or 0) > 0 then
    parts[#parts + 1] = format.bytes(row.unbacked_bytes) .. " of it in holes or unwritten extents"
  end
  local said = {}
  for note in pairs(row.notes) do said[#said + 1] = SAID[note] end
  table.sort(said)
  table.move(said, 1, #said, #parts + 1, parts)
  return table.concat(parts, "; ")
end

local function truth(add, results, list)
  local target = results.target or {}
  add("")
  add("What these numbers rest on")
  add(("  target      %s, %s, %s%s"):format(format.line(target.path or "?"),
    format.line(target.label or "?"), format.bytes(target.range_bytes),
    target.held_alone and ", held alone" or ""))
  add("  sync means  " .. format.line(target.sync_meaning or "not known"))
  if target.backing_path then
    local hole = (target.backing_bytes or 0) - (target.backing_allocated_bytes or 0)
    add(("  behind it   %s, %s%s"):format(format.line(target.backing_path),
      target.backing_direct and "read past the page cache" or "cached once more",
      hole > 4096 and ("; %s of it are holes: reading them is no I/O"):format(format.bytes(hole))
        or ""))
  end
  for _, row in ipairs(list) do add(("  %s: %s"):format(row.id, truth_of(row))) end
  if results.left_out > 0 then
    add(("  tests that failed or were interrupted, and are left out: %d"):format(results.left_out))
  end
end

--- All tables as lines.
---@param results storlua.RawblockResults
---@return string[]
function rawblock_table.lines(results)
  local lines = {}
  local function add(line) lines[#lines + 1] = line end
  local list = results:rows()
  brief(add, results)
  severities(add, results)
  figures(add, list)
  truth(add, results, list)
  return lines
end

return rawblock_table
