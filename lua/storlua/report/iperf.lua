-- SPDX-License-Identifier: MIT
--- The lines of a network run: each interval, then what was moved, with bits,
--- bytes and rates kept apart.

local closing = require("storlua.report.closing")
local format = require("storlua.report.format")
local live = require("storlua.report.live")

local report = {}

local HEAD = ("%-15s %12s %12s %11s %9s %10s"):format("interval", "moved", "Mbit/s", "MB/s",
  "retransm.", "window")

local function seconds_text(fields)
  return ("%s-%s s"):format(format.number(fields.start_s, 2), format.number(fields.end_s, 2))
end

local function whole(value) return value and ("%d"):format(value) or "-" end

local function interval_line(fields)
  local mbit_s = tonumber(fields.mbit_s)
  return ("%-15s %12s %12s %11s %9s %10s%s"):format(seconds_text(fields),
    format.bytes(tonumber(fields.bytes)), format.number(mbit_s),
    format.number(mbit_s and mbit_s / 8), whole(fields.retransmits),
    format.bytes(tonumber(fields.window_bytes)), fields.omitted and "  (omitted)" or "")
end

local function live_line(fields)
  return ("%-15s %12s %12s %11s   on the wire"):format(
    format.duration(fields.elapsed_ns), format.bytes(fields.bytes), format.number(fields.mbit_s),
    format.number(fields.mbit_s / 8))
end

local function total_line(name, total)
  local parts = { ("%-9s %s (%d bytes) in %s s: %s Mbit/s = %s MB/s"):format(name,
    format.bytes(total.bytes), total.bytes, format.number(total.seconds, 2),
    format.number(total.mbit_s), format.number(total.mbit_s and total.mbit_s / 8, 2)) }
  if total.retransmits then parts[#parts + 1] = total.retransmits .. " retransmits" end
  if total.lost_packets then
    parts[#parts + 1] = ("%d of %d packets lost"):format(total.lost_packets, total.packets or 0)
  end
  if total.jitter_ms then
    parts[#parts + 1] = format.number(total.jitter_ms, 3) .. " ms jitter"
  end
  return table.concat(parts, ", ")
end

local function end_lines(fields)
  local lines = {}
  for _, name in ipairs { "sent", "received" } do
    if type(fields[name]) == "table" and fields[name].bytes then
      lines[#lines + 1] = total_line(name, fields[name])
    end
  end
  if fields.problem then
    lines[#lines + 1] = "iperf3 failed: " .. format.line(fields.problem)
  end
  return lines
end

local function new_lines(put)
  local run
  return function(fields)
    if fields.continued then return end
    if fields.kind == "x_iperf_interval" then
      if run ~= fields.run then put(HEAD) end
      run = fields.run
      put(interval_line(fields))
    elseif fields.kind == "x_iperf_end" then
      for _, line in ipairs(end_lines(fields)) do put(line) end
    end
  end
end

local function new_live(write, options)
  local display = live.new { run_dir = options.run_dir, write = write, quiet = options.quiet }
  local function put(line) display:put("      " .. line .. "\n") end
  local take, show = new_lines(put), display.event
  function display.event(self, fields, line)
    show(self, fields, line)
    take(fields)
    -- iperf3 before 3.17 tells its intervals at the end only
    if fields.kind == "x_iperf_live" then put(live_line(fields)) end
  end
  return display
end

---@param write fun(text: string)
---@param options table run_dir, live
---@return table reporter
function report.new(write, options)
  if options.live then return new_live(write, options) end
  local is_told = false
  local take = new_lines(function(line)
    is_told = true
    write(line .. "\n")
  end)
  return {
    event = function(_, fields) take(fields) end,
    finish = function() if not is_told then closing.refuse("no result of iperf3") end end,
  }
end

return report
