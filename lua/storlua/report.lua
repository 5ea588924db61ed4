-- SPDX-License-Identifier: MIT
--- Reports of a run: folds over its events. Each format is one module
--- storlua.report.<format> with new(write, options) → reporter, which has
--- event(fields, line) and finish(state).

local core = require("storlua.core.run_dir")
local coverage = require("storlua.report.coverage")
local errors = require("storlua.errors")
local fs = require("storlua.fs")
local job = require("storlua.job")
local model = require("storlua.report.model")
local reader = require("storlua.report.reader")

local report = {
  formats = { "text", "json", "csv", "junit", "iozone", "matrix", "rawblock", "iperf", "fio",
              "fio_json" },
  -- only where the module for it is, and only of runs that have a matrix
  on_use = { "xlsx" },
}

-- What a run keeps in its folder; a report in its place would destroy it.
local OF_A_RUN = { ["events.jsonl"] = true, ["events.1.jsonl"] = true, ["summary.json"] = true,
                   lock = true, reserve = true }

-- These say themselves which part of the run they cover, or show it.
local TELL_COVERAGE = { text = true, json = true, csv = true, junit = true }

--- Raises an error with the code "USAGE" for a format that there is not.
---@param format string
function report.check_format(format)
  local all = table.move(report.on_use, 1, #report.on_use, #report.formats + 1,
    { table.unpack(report.formats) })
  for _, known in ipairs(all) do
    if known == format then return end
  end
  errors.raise("USAGE", "no report format '%s': there are %s", tostring(format),
    table.concat(all, ", "))
end

--- Makes a reporter.
---@param format string
---@param write fun(text: string)
---@param options table run_dir, live (it sees events as they happen)
---@return table
function report.new(format, write, options)
  report.check_format(format)
  return require("storlua.report." .. format).new(write, options)
end

--- A writer to stdout that raises when nobody reads any more.
---@return fun(text: string)
function report.stdout_writer()
  return function(text)
    local ok, message, number = io.stdout:write(text)
    if ok then ok, message, number = io.stdout:flush() end
    if ok then return end
    error(errors.new { code = number == 32 and "NO_READER" or "EIO",
                       message = "standard output: " .. tostring(message) }, 0)
  end
end

local function fold(directory, format, write)
  local reporter = report.new(format, write, { run_dir = directory })
  local ended, before = false, nil -- `before`: the part that was resumed
  local covered = coverage.new()
  local state = reader.read(directory, function(fields, line)
    if fields.kind == "verdict" then
      ended = before == nil or not model.is_refused(fields) or before
    elseif fields.kind == "start" and fields.resumed then
      before, ended = ended, false
    end
    covered:add(fields)
    reporter:event(fields, line)
  end)
  local covers = not TELL_COVERAGE[format] and covered:text()
  if covers then
    io.stderr:write(("storlua: the report %s of %s %s\n"):format(format, directory, covers))
  end
  reporter:finish(state)
  return ended
end

--- Writes one report into a file: all of it or nothing.
---@async
---@param directory string folder of a run
---@param format string
---@param file string
---@return boolean ended the run has a verdict
function report.write_file(directory, format, file)
  local parts = {}
  local ended = fold(directory, format, function(text) parts[#parts + 1] = text end)
  job.wait_on(file, core.replace(file, table.concat(parts)))
  return ended
end

--- Refuses a file that write_file could not write. A run asks at its start:
--- after two days it is too late to name another.
---@async
---@param file string
function report.check_file(file)
  local ok, err = errors.try(job.wait_on, file, core.can_replace(file))
  if not ok then errors.raise("USAGE", "a report cannot be written: %s", err.message) end
  local folder, name = (fs.try_realpath(file) or file):match("^(.-)([^/]*)$")
  if OF_A_RUN[name] and fs.exists(folder .. "lock") then
    errors.raise("USAGE", "a report cannot be written: %s is a file of the run itself", file)
  end
end

local function make(directory, formats, output)
  for _, format in ipairs(formats) do report.check_format(format) end
  if output and #formats > 1 then
    errors.raise("USAGE", "--output takes one format, not %d", #formats)
  end
  if output then report.check_file(output) end
  local ended = true
  for _, format in ipairs(formats) do
    local this
    if output then
      this = report.write_file(directory, format, output)
    else
      this = fold(directory, format, report.stdout_writer())
    end
    ended = ended and this
  end
  return ended
end

--- Writes reports of a run that goes on, has ended or was cut off. 0: the run
--- has a verdict; 1: it has none, or the log is damaged; 2: usage.
---@param directory string folder of a run
---@param formats string[]
---@param options? table output (a file)
---@return integer exit code
function report.main(directory, formats, options)
  local ended, err = errors.try(make, directory, formats, (options or {}).output)
  if ended == nil then
    if err.code == "NO_READER" then return 1 end
    io.stderr:write("storlua: ", err.message, "\n")
    return err.code == "USAGE" and 2 or 1
  end
  return ended and 0 or 1
end

return report
