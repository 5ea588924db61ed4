-- SPDX-License-Identifier: MIT
--- JUnit XML in the strict subset that GitLab, Jenkins and openQA read: one
--- suite, one test case per case id and threshold, and one for the run itself.

local event = require("storlua.event")
local format = require("storlua.report.format")
local model = require("storlua.report.model")

local junit = {}

local ESCAPES = { ["&"] = "&amp;", ["<"] = "&lt;", [">"] = "&gt;", ["\""] = "&quot;",
                  ["'"] = "&apos;", ["\n"] = "&#10;", ["\t"] = "&#9;" }

-- XML 1.0 has no control characters, surrogates or U+FFFE, not even escaped.
local function escape(value)
  local text = event.clean(tostring(value)):gsub("[%z\1-\8\11-\31\127]", "?")
  text = text:gsub("\xef\xbf[\xbe\xbf]", "?")
  return (text:gsub("[&<>\"'\n\t]", ESCAPES))
end

local function seconds(ns) return format.number((ns or 0) / 1e9, 3) end

local function rate_line(name, sum)
  local mib_s = sum.io_ns > 0 and sum.bytes / 1048576 / (sum.io_ns / 1e9) or nil
  return ("%s: %s MB/s (%s MiB/s), %d bytes in %d operations, worst p99 %s"):format(name,
    format.number(mib_s and mib_s * 1.048576), format.number(mib_s), sum.bytes, sum.operations,
    format.ns(sum.p99_ns))
end

local function case_of(case)
  local one = { name = case.id, ns = case.total_ns, output = {} }
  for _, name in ipairs { "read", "write", "trim" } do
    if case[name] then one.output[#one.output + 1] = rate_line(name, case[name]) end
  end
  if case.checks_failed + case.measures_failed > 0 then
    one.status, one.message = "failure", case.message or "failed"
    one.detail = ("%d of %d checks and %d of %d measures failed"):format(case.checks_failed,
      case.checks, case.measures_failed, case.measures)
  elseif case.interrupted > 0 then
    one.status, one.message = "skipped", "interrupted"
  else
    one.status = "success"
  end
  return one
end

local RUN_STATUS = { passed = "success", failed = "failure", skipped = "skipped" }

-- What the other cases do not tell.
local function run_output(m)
  local output = { m.coverage:text() }
  if m.failures_unnamed > 0 then
    output[#output + 1] = ("%d failures of cases that the log does not name any more"):format(
      m.failures_unnamed)
  end
  return output
end

-- The run as a case of its own, so that a crash or a script error fails too.
local function run_case(m, state)
  local v = m.verdict
  if not v then
    return { name = "run", status = "error", message = model.incomplete_text(state),
             output = run_output(m) }
  end
  local one = { name = "run", ns = v.elapsed_ns, status = RUN_STATUS[v.status] or "error",
                output = run_output(m) }
  if one.status ~= "success" then
    one.message = (v.reasons or {})[1] or v.status
    one.detail = table.concat(v.reasons or {}, "\n")
  end
  if m.errors[1] then one.detail = (one.detail or "") .. "\n" .. (m.errors[1].traceback or "") end
  return one
end

local function all_cases(m, state)
  local cases, taken = {}, {}
  local function add(one)
    local name, n = one.name, 1
    while taken[one.name] do
      n = n + 1
      one.name = name .. "-" .. n
    end
    taken[one.name] = true
    cases[#cases + 1] = one
  end
  for _, case in ipairs(m.cases) do add(case_of(case)) end
  for _, one in ipairs(m.thresholds) do
    local name = ("threshold.%s.%s"):format(one.metric, one.statistic)
    local excused = one.ok == nil
      or one.value == nil and m.verdict and m.verdict.status == "interrupted"
    add { name = name:gsub("[^%w_.-]", "_"),
          status = one.ok and "success" or excused and "skipped" or "failure",
          message = not one.ok and one.text or nil, output = { one.text } }
  end
  add(run_case(m, state))
  return cases
end

local ELEMENTS = { failure = "failure", error = "error", skipped = "skipped" }

local function put_case(write, one, classname)
  local element = ELEMENTS[one.status]
  write(("  <testcase classname=\"%s\" name=\"%s\" time=\"%s\" status=\"%s\">\n"):format(
    escape(classname), escape(one.name), seconds(one.ns), one.status))
  if element then
    local message = one.message or one.status
    write(("    <%s message=\"%s\" type=\"%s\">%s</%s>\n"):format(element, escape(message),
      one.status, escape(message .. (one.detail and "\n" .. one.detail or "")), element))
  end
  if one.output[1] then
    write(("    <system-out>%s</system-out>\n"):format(escape(table.concat(one.output, "\n"))))
  end
  write("  </testcase>\n")
end

local function put_properties(write, start)
  local function put(name, value)
    if value == nil or type(value) == "table" then return end
    write(("    <property name=\"%s\" value=\"%s\"/>\n"):format(escape(name), escape(value)))
  end
  write("  <properties>\n")
  put("version", start.version)
  put("board", start.board)
  put("seed", start.seed)
  local conditions = start.conditions or {}
  for _, name in ipairs { "kernel", "machine", "model", "device", "filesystem", "mount_options",
                          "governor", "write_cache", "sync_meaning" } do
    put(name, conditions[name])
  end
  write("  </properties>\n")
end

local function put_suite(write, m, state)
  local start = m.start or {}
  local script = (start.script or "run"):gsub("[^%w_-]", "_")
  local classname = "storlua." .. script
  local cases = all_cases(m, state)
  local counts = { failure = 0, error = 0, skipped = 0, success = 0 }
  for _, one in ipairs(cases) do counts[one.status] = counts[one.status] + 1 end
  local elapsed = m.verdict and m.verdict.elapsed_ns
    or m.first_ns and m.last.t_boot_ns - m.first_ns or 0
  local wall = ((m.first or {}).wall or "1970-01-01T00:00:00"):sub(1, 19)
  local numbers = ("tests=\"%d\" failures=\"%d\" errors=\"%d\" skipped=\"%d\" time=\"%s\""):format(
    #cases, counts.failure, counts.error, counts.skipped, seconds(elapsed))
  write("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n")
  write(("<testsuites name=\"%s\" %s>\n"):format(escape(classname), numbers))
  write((" <testsuite name=\"%s\" package=\"storlua\" %s timestamp=\"%s\""):format(
    escape(classname), numbers, escape(wall)))
  write((" hostname=\"%s\">\n"):format(escape((start.conditions or {}).hostname or "localhost")))
  put_properties(write, start)
  for _, one in ipairs(cases) do put_case(write, one, classname) end
  write(" </testsuite>\n</testsuites>\n")
end

---@param write fun(text: string)
---@return table reporter
function junit.new(write)
  local m = model.new()
  return {
    event = function(_, fields) m:add(fields) end,
    earlier = function(_, fields) m:add_earlier(fields) end,
    finish = function(_, state) put_suite(write, m:told(), state) end,
  }
end

return junit
