-- SPDX-License-Identifier: MIT
--- Turns samples into lines that say what was compared and how it came out.

local rounds = require("rounds")

local report = {}

local function best_of(samples, names, metric)
  local best = {}
  for _, name in ipairs(names) do
    for round, value in ipairs(samples[name] and samples[name][metric] or {}) do
      best[round] = math.max(best[round] or 0, value)
    end
  end
  return best
end

--- Judges the comparisons of a case.
---@param case table from io_cases
---@param samples table from rounds.measure
---@param missing table
---@return table[] lines
function report.compare(case, samples, missing)
  local lines = {}
  for _, c in ipairs(case.comparisons) do
    local metric = c.metric or "rate"
    local names = type(c.b) == "table" and c.b or { c.b }
    local a = samples[c.a] and samples[c.a][metric] or {}
    local b = best_of(samples, names, metric)
    local line = {
      id = c.id, case = case.title, metric = metric, a = c.a, b = table.concat(names, ", "),
      best = #names > 1, a_median = rounds.quantile(a, 0.5), b_median = rounds.quantile(b, 0.5),
      least = c.least, most = c.most, unit = c.unit or "x", note = c.note, rounds = #a,
    }
    if #a == 0 or (c.b and #b == 0) then
      line.missing = missing[c.a] or missing[names[1]] or "no value"
    elseif c.b then
      local ratio = rounds.ratio(a, b)
      line.value, line.low, line.high = ratio.median, ratio.low, ratio.high
    else
      line.value, line.low, line.high =
        line.a_median, rounds.quantile(a, 0.25), rounds.quantile(a, 0.75)
    end
    if line.value and (c.least or c.most) then
      line.ok = (not c.least or line.value >= c.least) and (not c.most or line.value <= c.most)
    end
    lines[#lines + 1] = line
  end
  return lines
end

local function number(value)
  if not value then return "-" end
  local text = ("%.0f"):format(value)
  if math.abs(value) < 1000 then return ("%.4g"):format(value) end
  return (text:reverse():gsub("(%d%d%d)(%f[%d])", "%1,"):reverse():gsub("^,", ""))
end

-- Nothing for a line that only shows what the machine leaves room for.
local function judgement(line)
  if line.ok == nil then return "" end
  return (", wanted %s %g: %s"):format(line.least and ">=" or "<=", line.least or line.most,
    line.ok and "met" or "MISSED")
end

--- Prints a case: what each variant did, then each comparison.
function report.print(case, samples, missing, lines)
  print(("\n%s"):format(case.title))
  for _, variant in ipairs(case.variants) do
    local parts, metrics = {}, {}
    for metric in pairs(samples[variant.name]) do metrics[#metrics + 1] = metric end
    table.sort(metrics)
    for _, metric in ipairs(metrics) do
      local values = samples[variant.name][metric]
      parts[#parts + 1] = ("%s%s (%s to %s)"):format(
        metric == "rate" and "" or metric .. " ", number(rounds.quantile(values, 0.5)),
        number(rounds.quantile(values, 0)), number(rounds.quantile(values, 1)))
    end
    if missing[variant.name] then parts = { "not measured: " .. missing[variant.name] } end
    print(("    %-18s %s"):format(variant.name, table.concat(parts, ", ")))
  end
  for _, line in ipairs(lines) do
    local what = (line.metric == "rate" or line.metric == "ns") and "" or line.metric .. " "
    local over = line.b ~= "" and (" / " .. (line.best and "best of " .. line.b
      or line.b)) or ""
    if line.missing then
      print(("  %-4s %s%s%s: not measured: %s"):format(line.id, what, line.a, over, line.missing))
    else
      print(("  %-4s %s%s%s = %s %s (%s to %s)%s%s"):format(
        line.id, what, line.a, over, ("%.3g"):format(line.value), line.unit,
        ("%.3g"):format(line.low), ("%.3g"):format(line.high), judgement(line),
        line.note and "; " .. line.note or ""))
    end
  end
end

return report
