-- SPDX-License-Identifier: MIT
--- What iperf3 printed, in one shape, also when it is no good JSON: nan in
--- numbers, two errors, text around it, half of it.

local dkjson = require("dkjson")

local iperf_json = {}

local function number(value)
  if type(value) ~= "number" or value ~= value or math.abs(value) == math.huge then return nil end
  return value
end

local function integer(value)
  value = number(value)
  return value and math.tointeger(value) or value and math.floor(value + 0.5) or nil
end

-- C prints what is not a number as words that JSON does not know.
local function repaired(text)
  return (text:gsub("([:,%[]%s*)[+-]?([nN][aA][nN])%f[%A]", "%1null")
    :gsub("([:,%[]%s*)[+-]?([iI][nN][fF])%f[%A]", "%1null"))
end

-- Errors by text: JSON keeps one of several keys of the same name.
local function errors_of(text)
  local list, seen = {}, {}
  for message in text:gmatch("\"error\"%s*:%s*(\"[^\"]*\")") do
    message = dkjson.decode(message)
    if message and not seen[message] then list[#list + 1] = message end
    seen[message or ""] = true
  end
  return list
end

-- The sum over the streams of one interval.
local function interval_of(one)
  local sum, first = one.sum or {}, one.streams and one.streams[1] or {}
  local window
  for _, stream in ipairs(one.streams or {}) do
    local cwnd = integer(stream.snd_cwnd)
    window = cwnd and (window or 0) + cwnd or window
  end
  return {
    start_s = number(sum.start), end_s = number(sum["end"]), seconds = number(sum.seconds),
    bytes = integer(sum.bytes), bits_s = number(sum.bits_per_second),
    retransmits = integer(sum.retransmits), window_bytes = window, rtt_us = integer(first.rtt),
    omitted = sum.omitted == true, lost_packets = integer(sum.lost_packets),
    packets = integer(sum.packets), jitter_ms = number(sum.jitter_ms),
  }
end

local function total_of(sum)
  if type(sum) ~= "table" or not number(sum.bytes) then return nil end
  return {
    bytes = integer(sum.bytes), seconds = number(sum.seconds),
    bits_s = number(sum.bits_per_second), retransmits = integer(sum.retransmits),
    lost_packets = integer(sum.lost_packets), packets = integer(sum.packets),
    jitter_ms = number(sum.jitter_ms),
  }
end

--- Brings one interval of iperf3 into our shape.
---@param one table
---@return table
function iperf_json.interval(one) return interval_of(one) end

local function whole(document, text)
  local finish = type(document["end"]) == "table" and document["end"] or {}
  local start = type(document.start) == "table" and document.start or {}
  local intervals = {}
  for _, one in ipairs(type(document.intervals) == "table" and document.intervals or {}) do
    local last, this = intervals[#intervals], interval_of(one)
    -- A test that is broken off repeats its last one.
    local is_same = last and this.start_s and last.start_s == this.start_s
      and last.end_s == this.end_s and last.omitted == this.omitted
    if not is_same then intervals[#intervals + 1] = this end
  end
  local cpu = finish.cpu_utilization_percent or {}
  return {
    errors = errors_of(text), intervals = intervals, version = start.version,
    sent = total_of(finish.sum_sent) or total_of(finish.sum),
    received = total_of(finish.sum_received) or total_of(finish.sum),
    cpu_percent = number(cpu.host_total), remote_cpu_percent = number(cpu.remote_total),
    mss_bytes = integer(start.tcp_mss_default or start.tcp_mss),
    congestion = finish.sender_tcp_congestion,
  }
end

-- Documents of --json-stream: one event in each line.
local function streamed(text)
  local document = { intervals = {} }
  for line in text:gmatch("[^\n]+") do
    local event = dkjson.decode(repaired(line))
    if type(event) ~= "table" or not event.event then return nil end
    if event.event == "interval" then
      table.insert(document.intervals, event.data)
    else
      document[event.event] = event.data
    end
  end
  if type(document.error) == "string" then
    text = ("%s\n\"error\": %s"):format(text, dkjson.encode(document.error))
  end
  return whole(document, text)
end

--- Reads all that iperf3 printed. `problem` is set when there was no document
--- in it; `text` is what stood around it.
---@param text string
---@return table errors, intervals, sent?, received?, cpu_percent?, problem?, text?
function iperf_json.read(text)
  if text:find("^%s*{\"event\"") then
    local result = streamed(text)
    if result then return result end
  end
  local at = text:find("{", 1, true)
  local document, next_at = nil, nil
  if at then document, next_at = dkjson.decode(repaired(text):sub(at), 1, nil) end
  if type(document) ~= "table" then
    local result = whole({}, text)
    result.problem = at and "its JSON does not parse" or "it printed no JSON"
    result.text = text:match("^%s*(%S.-)%s*$")
    return result
  end
  local result = whole(document, text)
  local around = (text:sub(1, at - 1) .. repaired(text):sub(at):sub(next_at)):match("^%s*(.-)%s*$")
  result.text = around ~= "" and around or nil
  return result
end

return iperf_json
