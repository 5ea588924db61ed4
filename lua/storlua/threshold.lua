-- SPDX-License-Identifier: MIT
--- Rules about metrics: "<metric> <statistic> <operator> <number>".

local errors = require("storlua.errors")
local event = require("storlua.event")

local threshold = {}

local STATISTICS = { min = true, max = true, mean = true, last = true, count = true, rate = true }

local COMPARE = {
  ["<"] = function(a, b) return a < b end,
  ["<="] = function(a, b) return a <= b end,
  [">"] = function(a, b) return a > b end,
  [">="] = function(a, b) return a >= b end,
  ["=="] = function(a, b) return a == b end,
}

---@class storlua.Threshold
---@field text string as it was written, blanks made even
---@field metric string
---@field statistic string min, max, mean, last, count, rate (per hour), p0 to p100
---@field operator string
---@field limit number
---@field abort boolean ends the run as soon as it is broken
---@field after_seconds number an abort is not judged before

local function refuse(text, why)
  errors.raise("USAGE", "threshold \"%s\": %s; it is <metric> <statistic> <operator> <number>, "
    .. "for example \"read.mib_s p50 >= 90\"", tostring(text), why)
end

local function is_metric(name)
  if name:find("^%.") or name:find("%.$") or name:find("..", 1, true) then return false end
  return name:find("^[%w_.%-]+$") ~= nil
end

local function is_statistic(name)
  local percent = tonumber(name:match("^p(%d+%.?%d*)$"))
  return STATISTICS[name] or (percent ~= nil and percent <= 100)
end

local function parse_text(text)
  if type(text) ~= "string" then refuse(text, "not a text") end
  local words = {}
  for word in text:gmatch("%S+") do words[#words + 1] = word end
  if #words ~= 4 then refuse(text, ("%d words instead of 4"):format(#words)) end
  local metric, statistic, operator, number = table.unpack(words)
  if not is_metric(metric) then refuse(text, metric .. " is not the name of a metric") end
  if not is_statistic(statistic) then
    refuse(text, statistic .. " is not one of min max mean last count rate pNN")
  end
  if not COMPARE[operator] then refuse(text, operator .. " is not one of < <= > >= ==") end
  local limit = number:find("^[-+]?%d*%.?%d+$") and tonumber(number)
    or number:find("^[-+]?%d+%.?$") and tonumber(number)
  if not limit then refuse(text, number .. " is not a number") end
  return { text = table.concat(words, " "), metric = metric, statistic = statistic,
           operator = operator, limit = limit, abort = false, after_seconds = 0 }
end

--- Parses a rule, or raises an error with the code "USAGE".
---@param rule string|table a text, or {metric, rule, abort = bool, after = seconds}
---@return storlua.Threshold
function threshold.parse(rule)
  if type(rule) ~= "table" then return parse_text(rule) end
  local metric, text = rule.metric or rule[1], rule.rule or rule[2]
  if rule[1] and not text then metric, text = nil, rule[1] end
  if metric then text = ("%s %s"):format(metric, tostring(text)) end
  local parsed = parse_text(text)
  parsed.abort = rule.abort == true
  parsed.after_seconds = tonumber(rule.after) or 0
  return parsed
end

--- Judges a rule by the metrics of a run. No data fails.
---@param rule storlua.Threshold
---@param metrics storlua.Metrics
---@param elapsed_ns integer of the whole run, in which its occurrences were counted
---@return table judged fields of a threshold event
function threshold.judge(rule, metrics, elapsed_ns)
  local value = metrics:value(rule.metric, rule.statistic, elapsed_ns)
  local ok = value ~= nil and COMPARE[rule.operator](value, rule.limit)
  local text = rule.text
  if value == nil then
    text = text .. ": no data"
  else
    -- six digits of a float are enough for a person
    local shown = math.type(value) == "float" and tonumber(("%.6g"):format(value)) or value
    text = ("%s: %s"):format(text, (event.number_text(shown):gsub("%.0$", "")))
  end
  return { metric = rule.metric, statistic = rule.statistic, operator = rule.operator,
           limit = rule.limit, value = value == nil and event.null or value, ok = ok,
           text = text }
end

--- What stands for the judgement of a metric that cannot be had.
---@param rule storlua.Threshold
---@param reason string
---@return table judged fields of a threshold event
function threshold.not_judged(rule, reason)
  return { metric = rule.metric, statistic = rule.statistic, operator = rule.operator,
           limit = rule.limit, value = event.null, ok = event.null,
           text = ("%s: not judged (%s)"):format(rule.text, reason) }
end

--- True when a rule that may abort the run is broken now. A metric that has no
--- data yet does not break it.
---@param rule storlua.Threshold
---@param metrics storlua.Metrics
---@param elapsed_ns integer since the start or the resume
---@param whole_ns? integer with the parts before a resume, whose metrics are these too
---@return table|nil judged
function threshold.broken(rule, metrics, elapsed_ns, whole_ns)
  if not rule.abort or elapsed_ns < rule.after_seconds * 1e9 then return nil end
  local judged = threshold.judge(rule, metrics, whole_ns or elapsed_ns)
  if judged.ok or judged.value == event.null then return nil end
  return judged
end

return threshold
