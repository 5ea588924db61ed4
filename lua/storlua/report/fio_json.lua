-- SPDX-License-Identifier: MIT
--- fio's JSON document, and nothing else on stdout.

local fio_json = require("storlua.fio.json")
local fio_results = require("storlua.fio.results")

local report = {}

---@param write fun(text: string)
---@return table reporter
function report.new(write)
  local results = fio_results.new()
  return {
    event = function(_, fields) results:add(fields) end,
    earlier = function(_, fields) results:add(fields) end,
    finish = function() write(fio_json.text(results) .. "\n") end,
  }
end

return report
