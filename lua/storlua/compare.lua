-- SPDX-License-Identifier: MIT
--- Compares runs, the first being the base: which conditions differ, and for
--- each case whether the difference is more than noise.

local event = require("storlua.event")
local statistics = require("storlua.statistics")

local compare = {}

-- More is better, or less.
compare.METRICS = {
  rate = { unit = "MiB/s", better = "higher" }, iops = { unit = "1/s", better = "higher" },
  p50 = { unit = "ns", better = "lower" }, p99 = { unit = "ns", better = "lower" },
  p999 = { unit = "ns", better = "lower" }, max = { unit = "ns", better = "lower" },
}

compare.SAME = "no difference beyond noise"

local TEMPERATURE_C = 5 -- nearer temperatures are the same

local function keys_of(list, field)
  local keys, seen = {}, {}
  for _, run in ipairs(list) do
    for _, key in ipairs(run[field]) do
      if not seen[key] then keys[#keys + 1] = key end
      seen[key] = true
    end
  end
  return keys
end

local function equal(name, a, b)
  if a == b then return true end
  local x, y = tonumber(a), tonumber(b)
  return name:find("celsius") ~= nil and x ~= nil and y ~= nil
    and math.abs(x - y) < TEMPERATURE_C
end

--- The conditions that are not the same in all runs: a list of {name, values},
--- values by run, nil where a run does not say.
---@param runs storlua.CompareRun[]
---@return table[]
function compare.conditions(runs)
  local names, seen = {}, {}
  for _, run in ipairs(runs) do
    for name in pairs(run.conditions) do
      if not seen[name] then names[#names + 1] = name end
      seen[name] = true
    end
  end
  table.sort(names)
  local differing = {}
  for _, name in ipairs(names) do
    local values, differ = {}, false
    for i, run in ipairs(runs) do
      values[i] = run.conditions[name] or false
      differ = differ or not equal(name, values[1] or "", values[i] or "")
    end
    if differ then differing[#differing + 1] = { name = name, values = values } end
  end
  return differing
end

-- What makes two cases of one name different tests.
local function spec_difference(a, b)
  local parts = {}
  if not a.spec or not b.spec then return nil end
  for name, value in pairs(a.spec) do
    if b.spec[name] ~= nil and b.spec[name] ~= value then
      parts[#parts + 1] = ("%s %s, %s"):format(name, value, b.spec[name])
    end
  end
  table.sort(parts)
  return parts[1] and table.concat(parts, "; ") or nil
end

local function side_of(case, metric)
  local values = case and case.values[metric] or {}
  local min, max = statistics.range(values)
  return {
    count = #values, values = event.list(values), median = statistics.median(values) or event.null,
    min = min or event.null, max = max or event.null,
    spread_percent = statistics.spread_percent(values) or event.null,
    failed = case and case.failed or 0,
  }
end

-- "higher" and "lower" in the words of a tester.
local function verdict_of(metric, verdict)
  if verdict == "same" then return compare.SAME end
  if verdict == "not judged" then return verdict end
  return verdict == compare.METRICS[metric].better and "faster" or "slower"
end

local function missing(where, run)
  local rest = run.coverage and ", which " .. run.coverage or ""
  return { verdict = "missing", reason = where .. rest, change_percent = event.null,
           p = event.null }
end

-- Two cases of one key; `runs` are what they are of.
local function against(base, other, options, runs)
  if not base then return missing("not in the first run", runs[1]) end
  if not other then return missing("not in this run", runs[2]) end
  local a, b = base.values[options.metric], other.values[options.metric]
  if not a and b and base.failed > 0 then
    return missing("none of it passed in the first run", runs[1])
  end
  if a and not b and other.failed > 0 then
    return missing("none of it passed in this run", runs[2])
  end
  local difference = spec_difference(base, other)
  local metric = options.metric
  local judged = statistics.compare(a or {}, b or {}, options)
  local result = {
    verdict = verdict_of(metric, judged.verdict), reason = judged.reason,
    change_percent = judged.change_percent or event.null, p = judged.p or event.null,
  }
  if difference then result.verdict, result.reason = "another test", difference end
  return result
end

--- Compares. The result is what --json prints (docs/compare.md).
---@param runs storlua.CompareRun[] the first is the base
---@param options table metric, alpha, min_percent
---@return table
function compare.runs(runs, options)
  local result = {
    v = 1, kind = "compare", metric = options.metric, unit = compare.METRICS[options.metric].unit,
    alpha = options.alpha, min_change_percent = options.min_percent, runs = event.list {},
    conditions = event.list(compare.conditions(runs)), cases = event.list {},
    samples = event.list {}, counts = event.object {},
  }
  for i, run in ipairs(runs) do
    result.runs[i] = { path = run.path, script = run.script, status = run.status,
                       wall = run.wall or event.null, kernel_errors = run.kernel_errors,
                       coverage = run.coverage or event.null }
  end
  for _, key in ipairs(keys_of(runs, "keys")) do
    local base = runs[1].cases[key]
    local case = { sides = event.list {}, against_first = event.list {} }
    for i, run in ipairs(runs) do
      local mine = run.cases[key]
      if mine then case.case_id, case.labels = mine.id, mine.labels end
      case.sides[i] = side_of(mine, options.metric)
      if i > 1 then
        local judged = against(base, mine, options, { runs[1], run })
        case.against_first[i - 1] = judged
        result.counts[judged.verdict] = (result.counts[judged.verdict] or 0) + 1
      end
    end
    result.cases[#result.cases + 1] = case
  end
  for _, name in ipairs(keys_of(runs, "sample_names")) do
    local sample = { metric = name, medians = event.list {} }
    for i, run in ipairs(runs) do
      local mine = run.samples[name]
      sample.unit = sample.unit or mine and mine.unit
      sample.medians[i] = mine and statistics.median(mine.values) or event.null
    end
    result.samples[#result.samples + 1] = sample
  end
  return result
end

--- Exit code and, when it is not 0, why.
---@param result table of compare.runs
---@param fail_on string[] "slower", "faster", "missing"
---@return integer exit_code
---@return string|nil why
function compare.exit_code(result, fail_on)
  if not fail_on[1] then return 0 end
  local counts = result.counts
  for _, word in ipairs(fail_on) do
    local n = (counts[word] or 0) + (word == "missing" and counts["another test"] or 0)
    if n > 0 then return 1, ("%d cases are %s"):format(n, word) end
  end
  local judged = (counts.faster or 0) + (counts.slower or 0) + (counts[compare.SAME] or 0)
  if judged == 0 then return 1, "no case could be judged" end
  return 0
end

return compare
