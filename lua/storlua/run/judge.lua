-- SPDX-License-Identifier: MIT
--- Whether one measurement is good: from the result of a workload to a verdict
--- and the reason a person reads.

local judge = {}

local ENDS = {
  cancelled = "it was cut off before its end",
  error = "it was ended by an error",
  no_space = "the file system or device is full",
  end_of_device = "the target ended before the range did",
  too_slow = "an operation took longer than the limit of latency",
  not_cold = "the cache was not cold, and a cold read was required",
}

local function operations_of(result)
  local n = 0
  for _, direction in ipairs { "read", "write", "trim" } do
    n = n + (result[direction] and result[direction].operations or 0)
  end
  return n
end

local function error_text(result)
  local first = result.errors and result.errors[1]
  if result.error and result.error.message then
    return ("%d failed operations, first: %s"):format(result.errors_total, result.error.message)
  elseif first then
    return ("%d failed operations, first: %s %s at offset %s"):format(result.errors_total,
      first.code, first.op, first.offset)
  end
  return ("%d failed operations"):format(result.errors_total)
end

local function damage_text(verify)
  local kinds = {}
  for kind, count in pairs(verify.damage or {}) do
    if count > 0 then kinds[#kinds + 1] = ("%d %s"):format(count, kind) end
  end
  table.sort(kinds)
  local first = verify.bad and verify.bad[1]
  return ("%d bad sectors%s%s"):format(verify.bad_sectors,
    kinds[1] and " (" .. table.concat(kinds, ", ") .. ")" or "",
    first and ", first at offset " .. first.offset or "")
end

-- The first thing that is wrong; second value true when it is an I/O or
-- verification error, which a script may expect.
local function problem(result, spec, expected_end)
  if result.verify and result.verify.bad_sectors > 0 then
    return damage_text(result.verify), true
  elseif (result.errors_total or 0) > 0 then
    return error_text(result), true
  elseif result["end"] ~= "complete" and result["end"] ~= expected_end then
    local text = ENDS[result["end"]] or "it ended as " .. tostring(result["end"])
    if result.error then text = text .. ": " .. tostring(result.error.message) end
    return text, result["end"] == "error" or result["end"] == "no_space"
  elseif operations_of(result) == 0 then
    return "nothing was measured: no operation was done", false
  elseif spec.verify and spec.operation ~= "write"
    and (not result.verify or result.verify.sectors == 0) then
    return "nothing was verified", false
  end
end

--- True when the result holds an I/O or verification error.
---@param result table
---@return boolean
function judge.has_errors(result)
  return (result.errors_total or 0) > 0
    or (result.verify ~= nil and result.verify.bad_sectors > 0)
end

--- Judges a result.
---@param result table of storlua.workload.run
---@param spec table
---@param options table expect_errors, expect_end
---@return string verdict pass, fail, expected_errors
---@return string|nil reason
function judge.result(result, spec, options)
  local reason, may_be_expected = problem(result, spec, options.expect_end)
  if not reason then return "pass" end
  if may_be_expected and options.expect_errors then return "expected_errors", reason end
  return "fail", reason
end

return judge
