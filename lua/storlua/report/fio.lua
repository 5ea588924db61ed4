-- SPDX-License-Identifier: MIT
--- fio's text for people.

local closing = require("storlua.report.closing")
local fio_results = require("storlua.fio.results")
local fio_text = require("storlua.fio.text")

local report = {}

local function is_empty(results) return not results.jobs[1] end

---@param write fun(text: string)
---@param options table run_dir, live
---@return table reporter
function report.new(write, options)
  return closing.new(write, options, {
    results = fio_results.new(), is_empty = is_empty,
    lines = function(results)
      return is_empty(results) and { "This run holds no job of fio." } or fio_text.lines(results)
    end,
  })
end

return report
