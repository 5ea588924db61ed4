-- SPDX-License-Identifier: MIT
--- Figures that are told in one piece, at the end of a run or later; live with
--- the progress before and the verdict after them.

local errors = require("storlua.errors")
local live = require("storlua.report.live")

local closing = {}

---@class storlua.Closing
---@field results table add(self, fields) takes an event
---@field lines fun(results: table): string[]
---@field is_empty fun(results: table): boolean nothing to tell at the end of a run
---@field nothing string what is missing then, such as "no job of fio"
---@field tidy? fun(model: table) what the verdict need not tell again

--- Refuses a report of a run that is of another kind: an empty report would
--- look as if the run had measured nothing.
---@param nothing string such as "no job of fio"
function closing.refuse(nothing)
  errors.raise("USAGE", "this run holds %s; storlua report RUN_DIR tells what it holds", nothing)
end

---@param write fun(text: string)
---@param options table run_dir, live, quiet
---@param of storlua.Closing
---@return table reporter
function closing.new(write, options, of)
  local results = of.results
  local function text() return table.concat(of.lines(results), "\n") .. "\n" end
  if not options.live then
    return {
      event = function(_, fields) results:add(fields) end,
      finish = function()
        if of.is_empty(results) then closing.refuse(of.nothing) end
        write(text())
      end,
    }
  end
  local display = live.new { run_dir = options.run_dir, write = write, quiet = options.quiet }
  local show, finish, before = display.event, display.finish, display.earlier
  function display.earlier(self, fields)
    before(self, fields)
    results:add(fields)
  end
  function display.event(self, fields, line)
    show(self, fields, line)
    results:add(fields)
  end
  function display.finish(self, state)
    -- a resume that was refused has no figures of its own
    if not of.is_empty(results) and self.model:told() == self.model then
      self:put("\n" .. text())
      if of.tidy then of.tidy(self.model) end
    end
    finish(self, state)
  end
  return display
end

return closing
