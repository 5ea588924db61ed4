-- SPDX-License-Identifier: MIT
--- fio's JSON document, and nothing else on stdout.

local closing = require("storlua.report.closing")
local fio_json = require("storlua.fio.json")
local fio_results = require("storlua.fio.results")

local report = {}

---@param write fun(text: string)
---@param options table live
---@return table reporter
function report.new(write, options)
  local results = fio_results.new()
  return {
    event = function(_, fields) results:add(fields) end,
    earlier = function(_, fields) results:add(fields) end,
    finish = function()
      if not results.jobs[1] and not options.live then closing.refuse("no job of fio") end
      write(fio_json.text(results) .. "\n")
    end,
  }
end

return report
