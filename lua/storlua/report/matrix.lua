-- SPDX-License-Identifier: MIT
--- The matrices of a run: one for each test, file sizes down, record sizes
--- across.

local closing = require("storlua.report.closing")
local iozone_table = require("storlua.iozone.table")
local results_of = require("storlua.iozone.results")

local report = {}

---@param write fun(text: string)
---@return table reporter
function report.new(write)
  local results = results_of.new()
  return {
    event = function(_, fields) results:add(fields) end,
    earlier = function(_, fields) results:add(fields) end,
    finish = function()
      if not results.plan then closing.refuse("no matrix of iozone") end
      local lines = results.plan.throughput and require("storlua.iozone.streams").matrix(results)
        or iozone_table.matrices(results)
      for _, line in ipairs(lines) do write(line .. "\n") end
      write("\n" .. table.concat(iozone_table.legend(results), "\n") .. "\n")
    end,
  }
end

return report
