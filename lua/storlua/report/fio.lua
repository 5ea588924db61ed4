-- SPDX-License-Identifier: MIT
--- fio's text for people, at the end of a run or later; live with our own
--- progress before and the verdict after it.

local fio_results = require("storlua.fio.results")
local fio_text = require("storlua.fio.text")
local live = require("storlua.report.live")

local report = {}

local function put(write, results)
  if not results.jobs[1] then
    write("This run holds no job of fio.\n")
    return
  end
  write(table.concat(fio_text.lines(results), "\n") .. "\n")
end

local function new_live(write, options)
  local display = live.new { run_dir = options.run_dir, write = write, quiet = options.quiet }
  local results = fio_results.new()
  local show, finish = display.event, display.finish
  function display.event(self, fields, line)
    show(self, fields, line)
    results:add(fields)
  end
  function display.finish(self, state)
    if self.drawn then write("\r\27[K") end
    self.drawn = false
    if results.jobs[1] and not self.quiet then
      write("\n")
      put(write, results)
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
  local results = fio_results.new()
  return {
    event = function(_, fields) results:add(fields) end,
    finish = function() put(write, results) end,
  }
end

return report
