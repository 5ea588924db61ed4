-- SPDX-License-Identifier: MIT
--- fio's text for people.

local closing = require("storlua.report.closing")
local fio_results = require("storlua.fio.results")
local fio_text = require("storlua.fio.text")

local report = {}

---@param write fun(text: string)
---@param options table run_dir, live
---@return table reporter
function report.new(write, options)
  return closing.new(write, options, {
    results = fio_results.new(), is_empty = function(results) return not results.jobs[1] end,
    nothing = "no job of fio", lines = fio_text.lines,
  })
end

return report
