-- SPDX-License-Identifier: MIT
--- The tables of a raw-device run, at its end or later; live with the progress
--- before and the verdict after them.

local live = require("storlua.report.live")
local rawblock_table = require("storlua.rawblock.table")
local results_of = require("storlua.rawblock.results")

local report = {}

local function put(write, results)
  for _, line in ipairs(rawblock_table.lines(results)) do write(line .. "\n") end
end

local function new_live(write, options)
  local display = live.new { run_dir = options.run_dir, write = write, quiet = options.quiet }
  local results = results_of.new()
  local show, finish = display.event, display.finish
  function display.event(self, fields, line)
    show(self, fields, line)
    results:add(fields)
  end
  function display.finish(self, state)
    if self.drawn then
      write("\r\27[K")
      self.drawn = false
    end
    if results.ids[1] and not self.quiet then
      write("\n")
      put(write, results)
      -- the tables have the numbers already
      for _, case in ipairs(self.model.cases) do case.read, case.write = nil, nil end
    end
    finish(self, state)
  end
  return display
end

---@param write fun(text: string)
---@param options table run_dir, live
---@return table reporter
function report.new(write, options)
  if options.live then return new_live(write, options) end
  local results = results_of.new()
  return {
    event = function(_, fields) results:add(fields) end,
    finish = function() put(write, results) end,
  }
end

return report
