-- SPDX-License-Identifier: MIT
--- A procedure: data first, then one function. The table is checked when the
--- script is loaded, before anything runs; see docs/procedure.md.

local errors = require("storlua.errors")
local options = require("storlua.cli.options")
local run_options = require("storlua.cli.run_options")
local script = require("storlua.script")
local shape = require("storlua.shape")

local procedure = {}

---@class storlua.Procedure
---@field summary string
---@field description? string
---@field usage? string help of a procedure with a foreign command line
---@field options? storlua.Options nil when `arguments` is a function
---@field arguments? fun(argv: string[]): table
---@field thresholds? table|fun(opt: table, board: table, resume: table?): table
---@field cases? string[]|fun(opt: table): string[]
---@field informational boolean
---@field tool? boolean it prints and ends: no folder of results, no events, no verdict
---@field reports? fun(opt: table): table
---@field target? false|fun(opt: table, board: table): string
---@field run fun(t: table, opt: table)
local Procedure = {}
Procedure.__index = Procedure
Procedure.__name = "storlua.Procedure"

local function check_case_id(id, where)
  if type(id) ~= "string" then shape.fail(where, "must be a text") end
  for segment in (id .. "."):gmatch("(.-)%.") do
    if not segment:find("^[%w_-]+$") then
      shape.fail(where, "'%s' is no case id: letters, digits, _ and - joined by dots", id)
    end
  end
end

local function check_cases(cases, where)
  if type(cases) == "function" then return end
  shape.list(cases, where, check_case_id)
end

local function check_threshold(entry, where)
  if type(entry) == "table" then
    shape.check(entry, where, {
      metric = "!string", rule = "!string", abort = "boolean", after = "number",
    })
  elseif type(entry) ~= "string" then
    shape.fail(where, "must be a text or a table, not %s", type(entry))
  end
  local ok, err = errors.try(function()
    return require("storlua.threshold").parse(entry)
  end)
  if not ok then shape.fail(where, "%s", err.message) end
end

local function check_thresholds(thresholds, where)
  if type(thresholds) == "function" then return end
  shape.list(thresholds, where, check_threshold)
end

local function check_arguments(arguments, where)
  if arguments ~= "declared" and type(arguments) ~= "function" then
    shape.fail(where, "must be \"declared\" or a function")
  end
end

local function check_target(target, where)
  if target ~= false and type(target) ~= "function" then
    shape.fail(where, "must be a function, or false where no storage is tested")
  end
end

local FIELDS = {
  summary = "!string", description = "string", usage = "string", options = "table",
  arguments = check_arguments, thresholds = check_thresholds, cases = check_cases,
  informational = "boolean", tool = "boolean", reports = "function", target = check_target,
  run = "!function",
}

local function build(fields)
  shape.check(fields, "", FIELDS)
  if fields.summary == "" or fields.summary:find("\n") then
    shape.fail("summary", "must be one line of text")
  end
  local self = {}
  for name, value in pairs(fields) do self[name] = value end
  if type(fields.arguments) == "function" then
    if fields.options then shape.fail("options", "is not used when arguments is a function") end
  else
    if fields.usage then shape.fail("usage", "is for procedures whose arguments is a function") end
    self.arguments = nil
    self.options = options.declare(fields.options or {}, "options", run_options.taken)
  end
  self.informational = fields.informational or false
  return setmetatable(self, Procedure)
end

--- Checks the table of a procedure; an error names the script and the field,
--- and ends in exit code 2. (There is no line to name: `return
--- storlua.procedure {…}` is a tail call.)
---@param fields table
---@return storlua.Procedure
function procedure.new(fields)
  local ok, result = pcall(build, fields)
  if ok then return result end
  if not errors.is(result) then error(result, 0) end
  errors.raise("DECLARATION", "%s: procedure: %s", script.current or "?", result.message)
end

--- Tells whether a script returned a procedure.
---@param value any
---@return boolean
function procedure.is(value)
  return getmetatable(value) == Procedure
end

-- What a function of the procedure returns; one that forgot its `return` is
-- told, or there would be no limits and no reports.
local function result_of(name, wanted, fn, ...)
  local value = fn(...)
  if type(value) ~= "table" then
    shape.fail(name, "returned %s, not %s", value == nil and "nothing" or tostring(value), wanted)
  end
  return value
end

--- The entries of `thresholds` for these options and this board, checked.
---@param opt table
---@param board? table
---@param resume? table what the earlier part of a run that goes on has left
---@return table list of texts and tables as declared
function Procedure:thresholds_for(opt, board, resume)
  local list = self.thresholds or {}
  if type(list) ~= "function" then return list end
  list = result_of("thresholds", "a list; {} is none", list, opt, board, resume)
  check_thresholds(list, "thresholds")
  return list
end

--- The options that `arguments` reads from a foreign command line.
---@param argv string[]
---@return table opt
function Procedure:options_of(argv)
  return result_of("arguments", "a table of options", self.arguments, argv)
end

--- The reports that the procedure brings along, checked.
---@param opt table
---@return table[] list of {format, file}
function Procedure:reports_for(opt)
  local list = self.reports and result_of("reports", "a list; {} is none", self.reports, opt) or {}
  shape.list(list, "reports", function(entry, where)
    shape.check(entry, where, { format = "!string", file = "string" })
  end)
  return list
end

--- The thing under test as `target` names it; nil where it leaves that to us.
---@param opt table
---@param board? table
---@return string|nil
function Procedure:target_for(opt, board)
  local path = self.target(opt, board)
  if path ~= nil and type(path) ~= "string" then
    shape.fail("target", "returned %s, not a path", tostring(path))
  end
  return path
end

--- The ids that are known before the run, checked.
---@param opt table
---@return string[]
function Procedure:cases_for(opt)
  local cases = self.cases or {}
  if type(cases) == "function" then
    cases = result_of("cases", "a list; {} is none", cases, opt)
  end
  check_cases(cases, "cases")
  return cases
end

--- A threshold as one text.
---@param entry string|table
---@return string
function procedure.threshold_text(entry)
  if type(entry) == "string" then return entry end
  return entry.metric .. " " .. entry.rule .. (entry.abort and " (ends the run)" or "")
end

return procedure
