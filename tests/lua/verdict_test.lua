-- SPDX-License-Identifier: MIT
local lu = require("luaunit")
local judge = require("storlua.run.judge")
local verdict = require("storlua.verdict")

local test = {}

local function decide(found)
  local findings = verdict.new_findings()
  for status, value in pairs(found) do
    if status == "signal" then
      findings.signal = value
    else
      verdict.add(findings, status, value)
    end
  end
  local result = verdict.decide(findings)
  return result.status, result.exit_code, result.reasons
end

function test.nothing_found_is_a_pass()
  local status, code, reasons = decide {}
  lu.assertEquals({ status, code, #reasons }, { "passed", 0, 0 })
end

-- Each entry of the list wins over all that come after it.
function test.precedence()
  local order = { "refused", "raised", "failed", "signal", "cleanup_failed", "skipped" }
  local wanted = { refused = { "refused", 5 }, raised = { "raised", 3 }, failed = { "failed", 1 },
                   signal = { "interrupted", 130 }, cleanup_failed = { "cleanup_failed", 6 },
                   skipped = { "skipped", 4 } }
  for first = 1, #order do
    local found = {}
    for i = first, #order do
      found[order[i]] = order[i] == "signal" and 2 or "because " .. order[i]
    end
    local status, code, reasons = decide(found)
    lu.assertEquals({ status, code }, wanted[order[first]])
    lu.assertEquals(#reasons, #order - first + 1)
    if order[first] ~= "signal" then lu.assertEquals(reasons[1], "because " .. order[first]) end
  end
end

function test.signals_have_their_codes()
  for signal, code in pairs { [1] = 129, [2] = 130, [15] = 143 } do
    local status, got, reasons = decide { signal = signal }
    lu.assertEquals({ status, got }, { "interrupted", code })
    lu.assertStrContains(reasons[1], "SIG")
  end
end

function test.reasons_are_bounded()
  local findings = verdict.new_findings()
  for i = 1, 100000 do verdict.add(findings, "failed", "reason " .. i) end
  local result = verdict.decide(findings)
  lu.assertEquals(#result.reasons, verdict.reasons_max + 1)
  lu.assertEquals(result.reasons[1], "reason 1")
  lu.assertEquals(result.reasons[#result.reasons], "and 99980 more")
end

local function judged(change, options, spec)
  local result = { ["end"] = "complete", errors_total = 0, errors = {},
                   read = { operations = 5, bytes = 5 },
                   verify = { sectors = 5, bad_sectors = 0, damage = {} } }
  for key, value in pairs(change) do result[key] = value end
  local spec_used = spec or { operation = "read", verify = true }
  local word, reason = judge.result(result, spec_used, options or {})
  return word .. (reason and ": " .. reason or "")
end

function test.a_measurement_is_good_when_all_of_it_was_done()
  local bad = { sectors = 5, bad_sectors = 2, damage = { stale = 1, zero = 1 },
                bad = { { offset = 512 } } }
  local errors = { errors_total = 3, errors = { { op = "read", code = "EIO", offset = 9 } } }
  lu.assertEquals(judged {}, "pass")
  lu.assertEquals(judged { verify = bad },
    "fail: 2 bad sectors (1 stale, 1 zero), first at offset 512")
  lu.assertEquals(judged(errors), "fail: 3 failed operations, first: EIO read at offset 9")
  lu.assertStrContains(judged(errors, { expect_errors = true }), "expected_errors: 3 failed")
  lu.assertStrContains(judged({ verify = bad }, { expect_errors = true }), "expected_errors")
  lu.assertEquals(judged({}, { expect_errors = true }), "pass")
  for _, how in ipairs { "no_space", "end_of_device", "cancelled", "not_cold", "error", "odd" } do
    lu.assertStrContains(judged { ["end"] = how }, "fail: ")
  end
  lu.assertEquals(judged({ ["end"] = "end_of_device" }, { expect_end = "end_of_device" }), "pass")
  lu.assertStrContains(judged { read = { operations = 0 } }, "nothing was measured")
  lu.assertStrContains(judged { verify = { sectors = 0, bad_sectors = 0 } }, "nothing was verified")
  lu.assertEquals(judged({ verify = false }, {}, { operation = "read" }), "pass")
end

return test
