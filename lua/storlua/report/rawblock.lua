-- SPDX-License-Identifier: MIT
--- The tables of a raw-device run.

local closing = require("storlua.report.closing")
local rawblock_table = require("storlua.rawblock.table")
local results_of = require("storlua.rawblock.results")

local report = {}

---@param write fun(text: string)
---@param options table run_dir, live
---@return table reporter
function report.new(write, options)
  return closing.new(write, options, {
    results = results_of.new(), lines = rawblock_table.lines,
    is_empty = function(results) return not results.ids[1] end,
    nothing = "no finished test of a raw device",
    -- the tables have the numbers already
    tidy = function(model)
      for _, case in ipairs(model.cases) do case.read, case.write = nil, nil end
    end,
  })
end

return report
