-- SPDX-License-Identifier: MIT
--- The reporters of a run that goes on. They see each event after it is queued
--- for the log; what goes wrong in one of them loses no data, but is not
--- passed over either.

local errors = require("storlua.errors")
local event = require("storlua.event")
local reader = require("storlua.report.reader")
local report = require("storlua.report")

local reporters = {}

---@class storlua.Reporters
local Reporters = {}
Reporters.__index = Reporters
Reporters.__name = "storlua.Reporters"

--- Checks what is asked for; raises an error with the code "USAGE".
---@param settings table reports, quiet
---@return storlua.Reporters
function reporters.new(settings)
  local self = setmetatable({ streams = {}, files = {}, problems = {} }, Reporters)
  local on_stdout
  local formats = {} -- by file
  for _, asked in ipairs(settings.reports or {}) do
    report.check_format(asked.format)
    if asked.file then
      if formats[asked.file] then
        errors.raise("USAGE", "--report: %s and %s both write to %s", formats[asked.file],
          asked.format, asked.file)
      end
      formats[asked.file] = asked.format
      self.files[#self.files + 1] = asked
    elseif on_stdout then
      errors.raise("USAGE", "--report: %s and %s both write to stdout; give one a file: %s=FILE",
        on_stdout, asked.format, asked.format)
    else
      on_stdout = asked.format
    end
  end
  self.on_stdout = on_stdout
  self.quiet = settings.quiet
  return self
end

--- Refuses report files that could not be written at the end; the folder of
--- the run, in which they may lie, is there.
---@async
function Reporters:check_files()
  for _, asked in ipairs(self.files) do report.check_file(asked.file) end
end

local function problem(self, name, err)
  local text = ("the reporter %s failed: %s"):format(name, tostring(err))
  self.problems[#self.problems + 1] = text
  if errors.is(err) and err.code == "NO_READER" then return end -- ends quietly
  io.stderr:write("storlua: ", text, "\n")
end

-- A call into a reporter; one that raises is not called again.
local function call(self, stream, method, ...)
  if stream.broken or not stream.reporter[method] then return end
  local ok, err = pcall(stream.reporter[method], stream.reporter, ...)
  if ok then return end
  stream.broken = true
  problem(self, stream.name, err)
end

-- Reporters that tell all at the end know what the earlier parts of a run did.
local function tell_earlier(self, directory)
  local has_table = not self.live or not self.quiet
  for _, stream in ipairs(self.streams) do
    if has_table and stream.reporter.earlier then
      reader.read(directory, function(fields) call(self, stream, "earlier", fields) end)
    end
  end
end

---@param run table of storlua.run.opening
function Reporters:open(run)
  local function add(name, reporter)
    self.streams[#self.streams + 1] = { name = name, reporter = reporter }
  end
  if self.on_stdout == nil or self.on_stdout == "text" then
    local live = require("storlua.report.live").new {
      quiet = self.quiet, run_dir = run.folder.path,
    }
    add("live", live)
    self.live = live
  else
    local reporter = report.new(self.on_stdout, report.stdout_writer(), {
      run_dir = run.folder.path, live = true, quiet = self.quiet,
    })
    add(self.on_stdout, reporter)
    if reporter.display then self.live = reporter end
  end
  if run.settings.resume then tell_earlier(self, run.folder.path) end
end

--- The task that keeps the live display moving, or nil.
---@param live table what is going on: phase, handle, …
---@return function|nil
function Reporters:display(live)
  if not self.live or self.quiet then return nil end
  local display = self.live:display(live)
  if not display then return nil end
  return function()
    local ok, err = pcall(display)
    if ok or errors.is(err) and err.code == "CANCELLED" then return end
    problem(self, "live", err)
  end
end

function Reporters:event(fields, line)
  -- The same to a reporter now and to one that reads the log later.
  fields = self.streams[1] and event.as_read(fields)
  for _, stream in ipairs(self.streams) do call(self, stream, "event", fields, line) end
end

--- What went wrong so far, as reasons of the verdict.
---@param recorder storlua.Recorder
function Reporters:failures(recorder)
  for _, text in ipairs(self.problems) do recorder:find("failed", text) end
  self.told = #self.problems
end

--- The last words on stdout and the report files, when everything is on disk.
---@async
---@param run table
---@return boolean ok
function Reporters:close(run)
  for _, stream in ipairs(self.streams) do
    call(self, stream, "finish", { events = 0, torn_bytes = 0, lost_events = 0,
                                   is_discarded = run.is_discarded })
  end
  for _, asked in ipairs(run.is_discarded and {} or self.files) do
    local ok, err = false, "the event log does not answer"
    if run.is_answered then
      ok, err = pcall(report.write_file, run.folder.path, asked.format, asked.file)
    end
    if not ok then problem(self, asked.format .. "=" .. asked.file, err) end
  end
  return #self.problems == self.told
end

return reporters
