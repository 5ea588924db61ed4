-- SPDX-License-Identifier: MIT
--- The report a person reads: the verdict at a glance, why, the numbers, and
--- where the evidence lies.

local format = require("storlua.report.format")
local model = require("storlua.report.model")
local truths = require("storlua.report.truths")

local text = {}

local TITLES = { passed = "PASSED", failed = "FAILED", raised = "FAILED: the script raised",
                 usage = "NOT RUN", skipped = "SKIPPED", refused = "REFUSED",
                 cleanup_failed = "CLEAN-UP FAILED", interrupted = "INTERRUPTED" }

local function measure_rows(cases)
  local rows = {}
  for _, case in ipairs(cases) do
    for _, name in ipairs { "read", "write", "trim" } do
      local sum = case[name]
      if sum then
        local mib_s = sum.io_ns > 0 and sum.bytes / 1048576 / (sum.io_ns / 1e9) or nil
        rows[#rows + 1] = {
          format.line(case.id), name, ("%d"):format(sum.runs),
          format.number(mib_s and mib_s * 1.048576), format.number(mib_s),
          format.number(sum.slowest_mib_s),
          format.number(sum.io_ns > 0 and sum.operations / (sum.io_ns / 1e9) or nil, 0),
          format.ns(sum.p99_ns), format.ns(sum.max_ns),
        }
      end
    end
  end
  return rows
end

-- Above the tables: what they do not show.
local function add_coverage(add, m)
  local covers = m.coverage:text()
  if not covers then return end
  add("")
  add("  " .. covers)
end

local function add_table(add, m)
  local rows = measure_rows(m.cases)
  if not rows[1] then return end
  table.insert(rows, 1, { "measure", "", "runs", "MB/s", "MiB/s", "slowest MiB/s", "op/s",
                          "worst p99", "slowest op" })
  if m.coverage.hidden == 0 then add("") end
  for _, line in ipairs(format.table(rows, 2)) do add("  " .. line) end
end

local function add_memory(add, m)
  local rows = { { "memory", "unit", "median", "best", "iqr %", "spread %", "level", "kernel" } }
  for _, case in ipairs(m.cases) do
    local one = case.memory
    if one and one.value then
      rows[#rows + 1] = { format.line(case.id), one.unit, format.number(one.value),
                          format.number(one.best), format.number(one.iqr_percent),
                          format.number(one.spread_percent),
                          one.level or "-", one.kernel or "-" }
    end
  end
  if not rows[2] then return end
  add("")
  for _, line in ipairs(format.table(rows, 2)) do add("  " .. line) end
end

local function add_checks(add, m)
  local passed, failed = 0, {}
  for _, case in ipairs(m.cases) do
    if case.checks > 0 and case.checks_failed == 0 then passed = passed + 1 end
    if case.checks_failed + case.measures_failed > 0 then failed[#failed + 1] = case end
  end
  if passed > 0 then add(("  checks passed: %d"):format(passed)) end
  for i, case in ipairs(failed) do
    if i > 20 then
      add(("  … and %d more that failed"):format(#failed - 20))
      break
    end
    local times = case.checks_failed + case.measures_failed
    add(("  FAIL  %s: %s%s"):format(format.line(case.id), format.line(case.message or "failed"),
      times > 1 and (" (%d times)"):format(times) or ""))
  end
  if m.failures_unnamed > 0 then
    add(("  FAIL  … and %d failures that the log does not name any more"):format(
      m.failures_unnamed))
  end
end

local function add_thresholds(add, m)
  for _, one in ipairs(m.thresholds) do
    local word = one.ok and "ok  " or one.ok == nil and "-   " or "FAIL"
    add(("  %s  threshold %s"):format(word, format.line(one.text)))
  end
end

local function add_totals(add, v)
  local parts = {}
  local rounds = v.rounds or 0
  if rounds > 0 then parts[1] = ("%d round%s"):format(rounds, rounds == 1 and "" or "s") end
  parts[#parts + 1] = format.duration(v.soaked_ns)
  if (v.bytes_written or 0) > 0 then
    parts[#parts + 1] = format.bytes(v.bytes_written) .. " written"
  end
  if (v.bytes_read or 0) > 0 then parts[#parts + 1] = format.bytes(v.bytes_read) .. " read" end
  if (v.verified_bytes or 0) > 0 then
    parts[#parts + 1] = ("%s verified, %d bad sectors"):format(format.bytes(v.verified_bytes),
      v.bad_sectors or 0)
  end
  add("  " .. table.concat(parts, ", "))
end

local function add_notes(add, m)
  local keys = {}
  for key, value in pairs(m.notes) do
    if type(value) ~= "table" then keys[#keys + 1] = key end
  end
  table.sort(keys)
  for _, key in ipairs(keys) do
    add(("  note  %s: %s"):format(format.line(key), format.line(m.notes[key])))
  end
end

local function add_truths(add, m)
  local names = {}
  for name in pairs(m.truths) do
    if truths[name] then names[#names + 1] = name end
  end
  table.sort(names)
  for _, name in ipairs(names) do
    add(("  note  %d of %d measures: %s (%s)"):format(m.truths[name], m.measures, truths[name],
      name))
  end
end

local function add_incidents(add, m)
  for _, one in ipairs(m.kernel) do add("  kernel  " .. format.line(one.text)) end
  if m.kernel_total > #m.kernel then
    add(("  kernel  … and %d more lines"):format(m.kernel_total - #m.kernel))
  end
  for _, one in ipairs(m.stuck) do
    add(("  stuck  %s in %s%s"):format(format.line(one.job),
      format.line(one.what or "its own work"),
      one.seconds and " for " .. format.number(one.seconds) .. " s" or ""))
  end
  if m.boots > 1 then add(("  the machine was started %d times during the run"):format(m.boots)) end
end

--- The lines of the report.
---@param m storlua.Model
---@param options table run_dir, paint (fun(text, status) → text), state
---@return string[]
function text.lines(m, options)
  local lines = {}
  local function add(line) lines[#lines + 1] = line end
  local start, v = m.start or {}, m.verdict
  local paint = options.paint or function(title) return title end
  local name = format.line(start.script or "run")
  if v then
    add(("%s: %s"):format(name, paint(TITLES[v.status] or v.status, v.status)))
    for _, reason in ipairs(v.reasons or {}) do add("  because  " .. format.line(reason)) end
    add_totals(add, v)
  else
    add(("%s: %s"):format(name, paint("INCOMPLETE", "failed")))
    add("  " .. model.incomplete_text(options.state or {}))
    if m.first_ns and m.last then
      add(("  %d events over %s, the last one: %s"):format(m.events,
        format.duration(m.last.t_boot_ns - m.first_ns), m.last.wall or "-"))
    end
  end
  local state = options.state or {}
  if (state.torn_bytes or 0) > 0 then
    add(("  the last line of the log is torn (%d bytes)"):format(state.torn_bytes))
  end
  if (state.lost_events or 0) > 0 then
    add(("  %d events are missing from the log"):format(state.lost_events))
  end
  add_coverage(add, m)
  add_table(add, m)
  add_memory(add, m)
  if m.cases[1] or m.thresholds[1] or m.failures_unnamed > 0 then add("") end
  add_checks(add, m)
  add_thresholds(add, m)
  add_notes(add, m)
  add_truths(add, m)
  add_incidents(add, m)
  for _, one in ipairs(m.errors) do
    add("  error  " .. format.line(one.message))
    for line in tostring(one.traceback or ""):gmatch("[^\n]+") do
      add("    " .. format.line(line))
    end
  end
  if not state.is_discarded then
    add("  events: " .. format.line((options.run_dir or ".") .. "/events.jsonl"))
  end
  return lines
end

---@param write fun(text: string)
---@param options table run_dir
---@return table reporter
function text.new(write, options)
  local m = model.new()
  return {
    event = function(_, fields) m:add(fields) end,
    finish = function(_, state)
      local lines = text.lines(m, { run_dir = options.run_dir, state = state })
      write(table.concat(lines, "\n") .. "\n")
    end,
  }
end

return text
