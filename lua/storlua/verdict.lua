-- SPDX-License-Identifier: MIT
--- How a run ends: from what was recorded to a status, an exit code and the
--- reasons. Nothing here depends on whether the script returned.

local verdict = {
  reasons_max = 20,
}

-- In order of precedence. `signal` gets 128 + its number.
local ORDER = {
  { "refused", 5 }, { "raised", 3 }, { "usage", 2 }, { "failed", 1 }, { "interrupted" },
  { "cleanup_failed", 6 }, { "skipped", 4 },
}

local SIGNALS = { [1] = "SIGHUP", [2] = "SIGINT", [15] = "SIGTERM" }

---@class storlua.Findings
---@field refused string[] by the safety gate
---@field raised string[] errors of the script
---@field usage string[] nothing was touched
---@field failed string[] checks, thresholds, measurements, incomplete
---@field cleanup_failed string[]
---@field skipped string[]
---@field signal? integer that stopped the run

---@return storlua.Findings
function verdict.new_findings()
  return { refused = {}, raised = {}, usage = {}, failed = {}, cleanup_failed = {}, skipped = {} }
end

local function texts_of(findings, status)
  if status ~= "interrupted" then return findings[status] end
  if not findings.signal then return {} end
  return { "stopped by " .. (SIGNALS[findings.signal] or "signal " .. findings.signal) }
end

--- Decides. The reasons of the status come first, then those that lost.
---@param findings storlua.Findings
---@return {status: string, exit_code: integer, reasons: string[]}
function verdict.decide(findings)
  local result = { status = "passed", exit_code = 0, reasons = {} }
  local left_out = 0
  for _, entry in ipairs(ORDER) do
    local status, code = entry[1], entry[2]
    local texts = texts_of(findings, status)
    if texts[1] and result.status == "passed" then
      result.status = status
      result.exit_code = code or 128 + findings.signal
    end
    for _, text in ipairs(texts) do
      if #result.reasons < verdict.reasons_max then
        result.reasons[#result.reasons + 1] = text
      else
        left_out = left_out + 1
      end
    end
    left_out = left_out + (texts.left_out or 0)
  end
  if left_out > 0 then
    result.reasons[#result.reasons + 1] = ("and %d more"):format(left_out)
  end
  return result
end

--- Adds a reason; a long run keeps the first ones and counts the rest.
---@param findings storlua.Findings
---@param status string
---@param text string
function verdict.add(findings, status, text)
  local texts = findings[status]
  if #texts < verdict.reasons_max then
    texts[#texts + 1] = text
  else
    texts.left_out = (texts.left_out or 0) + 1
  end
end

return verdict
