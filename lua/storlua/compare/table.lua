-- SPDX-License-Identifier: MIT
--- A comparison as text: the runs, what differs between them, the cases.

local event = require("storlua.event")
local format = require("storlua.report.format")

local compare_table = {}

local CONDITIONS_SHOWN = 40
local CONDITION_WIDTH = 40 -- longer ones stand below each other

local function letter(i) return i <= 26 and string.char(64 + i) or ("#%d"):format(i) end

local function known(value) return value ~= event.null and value or nil end

local function value_text(value, unit)
  value = known(value)
  if not value then return "-" end
  if unit == "ns" then
    local is_small = math.type(value) == "float" and value < 100 -- one load of memory
    return is_small and format.number(value, 2) .. " ns" or format.ns(value)
  end
  return format.number(value, value < 10 and 2 or value < 1000 and 1 or 0)
end

local function put_table(add, rows, left)
  for _, line in ipairs(format.table(rows, left)) do add("  " .. line) end
end

local function runs(add, result)
  local rows = {}
  for i, run in ipairs(result.runs) do
    rows[i] = { letter(i), format.line(run.path), format.line(run.script), run.status,
                run.kernel_errors > 0 and run.kernel_errors .. " kernel errors" or "",
                known(run.wall) or "" }
  end
  put_table(add, rows, 6)
  for i, run in ipairs(result.runs) do
    if known(run.coverage) then add(("  %s %s"):format(letter(i), run.coverage)) end
  end
end

local function conditions(add, result)
  add("")
  if not result.conditions[1] then
    add("Conditions: no difference is known")
    return
  end
  add("Conditions that differ; look here first")
  local rows, long = {}, {}
  for i, one in ipairs(result.conditions) do
    if i > CONDITIONS_SHOWN then
      rows[#rows + 1] = { ("… and %d more"):format(#result.conditions - CONDITIONS_SHOWN) }
      break
    end
    local row, widest = { format.line(one.name) }, 0
    for k = 1, #result.runs do
      row[k + 1] = ("%s: %s"):format(letter(k), one.values[k] and format.line(one.values[k])
        or "not known")
      widest = math.max(widest, #row[k + 1])
    end
    local list = widest > CONDITION_WIDTH and long or rows
    list[#list + 1] = row
  end
  put_table(add, rows, #result.runs + 1)
  -- Side by side, sentences would make all columns as wide.
  for _, row in ipairs(long) do
    for i, text in ipairs(row) do add((i == 1 and "  " or "      ") .. text) end
  end
end

-- Labels are shown where one id stands for several cases.
local function names(result)
  local times = {}
  for _, case in ipairs(result.cases) do
    times[case.case_id] = (times[case.case_id] or 0) + 1
  end
  return function(case)
    if times[case.case_id] == 1 or case.labels == "" then return case.case_id end
    return case.case_id .. " " .. case.labels
  end
end

local function change_text(judged)
  local change = known(judged.change_percent)
  if not change then return "-" end
  return (change >= 0 and "+" or "") .. format.number(change) .. " %"
end

local function verdict_text(judged)
  if judged.verdict == "not judged" or judged.verdict == "missing"
    or judged.verdict == "another test" then
    return ("%s (%s)"):format(judged.verdict, format.line(judged.reason))
  end
  local p = known(judged.p)
  return p and ("%s (p = %s)"):format(judged.verdict, format.number(p, 3)) or judged.verdict
end

local function cases(add, result)
  if not result.cases[1] then return end
  local unit = result.unit == "ns" and "" or " " .. result.unit
  local head = { "case" }
  for i = 1, #result.runs do
    table.move({ "n", letter(i) .. unit, "spread" }, 1, 3, #head + 1, head)
    if i > 1 then table.move({ "change", "" }, 1, 2, #head + 1, head) end
  end
  local rows, name_of = { head }, names(result)
  local failed = 0
  for _, case in ipairs(result.cases) do
    local row = { name_of(case) }
    for i, side in ipairs(case.sides) do
      local spread = known(side.spread_percent)
      failed = failed + side.failed
      table.move({ ("%d"):format(side.count), value_text(side.median, result.unit),
                   spread and format.number(spread) .. " %" or "-" }, 1, 3, #row + 1, row)
      local judged = case.against_first[i - 1]
      if judged then
        table.move({ change_text(judged), verdict_text(judged) }, 1, 2, #row + 1, row)
      end
    end
    rows[#rows + 1] = row
  end
  add("")
  add(("Medians of %s; the spread is largest less smallest"):format(result.metric))
  put_table(add, rows, 1)
  if failed > 0 then add(("  %d measures that did not pass are left out"):format(failed)) end
end

local function samples(add, result)
  if not result.samples[1] then return end
  local rows = { { "sample" } }
  for i = 1, #result.runs do rows[1][i + 1] = letter(i) end
  table.insert(rows[1], "")
  for _, sample in ipairs(result.samples) do
    local row = { format.line(sample.metric) }
    for i = 1, #result.runs do row[i + 1] = value_text(sample.medians[i], sample.unit) end
    row[#row + 1] = sample.unit == "ns" and "" or sample.unit or ""
    rows[#rows + 1] = row
  end
  add("")
  add("Medians of samples; those of one run are not independent, so they are not judged")
  put_table(add, rows, 1)
end

local function summary(add, result)
  local parts = {}
  for _, verdict in ipairs { "faster", "slower", "no difference beyond noise", "not judged",
    "missing", "another test" } do
    if result.counts[verdict] then
      parts[#parts + 1] = ("%d %s"):format(result.counts[verdict], verdict)
    end
  end
  add("")
  if parts[1] then add(table.concat(parts, ", ")) end
  add(("Mann-Whitney U test, both sides, at %g; too few values for that: no overlap, and medians "
    .. "farther apart"):format(result.alpha))
  add(("than either side is wide. A change below %s %% is not called one."):format(
    format.number(result.min_change_percent)))
end

--- The lines of a comparison.
---@param result table of storlua.compare.runs
---@return string[]
function compare_table.lines(result)
  local lines = {}
  local function add(line) lines[#lines + 1] = (line:gsub("%s+$", "")) end
  runs(add, result)
  conditions(add, result)
  cases(add, result)
  samples(add, result)
  summary(add, result)
  return lines
end

return compare_table
