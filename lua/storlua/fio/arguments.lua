-- SPDX-License-Identifier: MIT
--- Reads a command line of fio: options that make one job, or several by
--- --name, or job files.

local event = require("storlua.event")
local jobfile = require("storlua.fio.jobfile")
local nearest = require("storlua.nearest")
local options = require("storlua.fio.options")
local words = require("storlua.fio.words")

local arguments = {}

-- Of fio as a program, not of a job. true: with a value.
local PROGRAM = {
  output = true, ["output-format"] = true, readonly = "switch", section = true,
  ["parse-only"] = "switch", ["max-jobs"] = true, ["alloc-size"] = true, ["aux-path"] = true,
  warnings_fatal = "switch", ["warnings-fatal"] = "switch",
}
-- With a value, --overwrite=1 is fio's: it lays the file out first.
local OURS = { overwrite = "switch", destroy = true, ["force-signature"] = "switch" }
local FORMATS = { normal = "fio", json = "fio_json", ["json+"] = "fio_json" }

local function new_job(global)
  local job = { given = {}, without_effect = {} }
  for _, option in ipairs(global) do options.take(job, option[1], option[2]) end
  return job
end

local function program_option(opt, name, text)
  if name == "output" then
    if not text or text == "" then words.usage("--output needs a file") end
    opt.output = text
  elseif name == "output-format" then
    opt.formats = {}
    for word in ((text or "") .. ","):gmatch("([^,]*),") do
      local format = FORMATS[word]
      if not format then
        words.usage("--output-format=%s: there are normal, json, json+", word)
      end
      opt.formats[#opt.formats + 1] = format
      opt.bins = opt.bins or word == "json+"
    end
  elseif name == "readonly" or name == "parse-only" then
    opt[name:gsub("-", "_")] = words.switch("--" .. name, text)
  elseif name == "section" then
    opt.sections[#opt.sections + 1] = text
  elseif name == "destroy" then
    opt.destroy[#opt.destroy + 1] = text
  elseif OURS[name] then
    opt[name:gsub("-", "_")] = words.switch("--" .. name, text)
  end
end

-- The jobs of a file: [global] holds for the sections after it.
local function file_jobs(opt, path)
  local global = table.move(opt.before, 1, #opt.before, 1, {})
  for _, section in ipairs(jobfile.read(path)) do
    if section.section == "global" then
      table.move(section.options, 1, #section.options, #global + 1, global)
    else
      local job = new_job(global)
      job.name, job.section = section.section, section.section
      for _, option in ipairs(section.options) do options.take(job, option[1], option[2]) end
      opt.jobs[#opt.jobs + 1] = job
    end
  end
end

-- One word of the command line: option, value, and how many words it took.
-- fio takes one dash as well as two, and a blank for the =.
local function split(argv, i)
  local name, equals, text = argv[i]:match("^%-%-?([^=-][^=]*)(=?)(.*)$")
  if not name then
    if argv[i]:find("^%-.") then words.usage("unknown option %s", argv[i]) end
    return nil
  end
  if equals == "=" then return name, text, 1 end
  local kind, following = PROGRAM[name] or OURS[name], argv[i + 1]
  local is_value = following and not following:find("^%-")
  if kind == "switch" or not kind and options.is_switch(name) then
    is_value = is_value and options.may_follow(name, following)
  end
  if is_value then return name, following, 2 end
  return name, nil, 1
end

local function take_words(opt, argv)
  local job, i = nil, 1
  while argv[i] do
    local name, text, used = split(argv, i)
    if not name then
      opt.files[#opt.files + 1] = argv[i]
    elseif (PROGRAM[name] or OURS[name]) and not (name == "overwrite" and text) then
      program_option(opt, name, text)
    elseif name == "name" then
      if text == "global" then
        job = { is_global = true }
      else
        job = new_job(opt.before)
        options.take(job, "name", text)
        opt.jobs[#opt.jobs + 1] = job
      end
    elseif job and not job.is_global then
      options.take(job, name, text)
    else
      -- Before the first --name: for all that follow.
      options.take({ given = {}, without_effect = {} }, name, text)
      opt.before[#opt.before + 1] = { name, text }
    end
    i = i + (used or 1)
  end
end

local function choose_sections(opt)
  if not opt.sections[1] then return end
  local kept = {}
  for _, job in ipairs(opt.jobs) do
    for _, name in ipairs(opt.sections) do
      if (job.section or job.name) == name then kept[#kept + 1] = job end
    end
  end
  if not kept[1] then
    local names = {}
    for i, job in ipairs(opt.jobs) do names[i] = job.section or job.name end
    words.usage("--section=%s: there is no such job%s", opt.sections[1],
      nearest.hint(opt.sections[1], names))
  end
  opt.jobs = kept
end

--- Reads a command line; raises an error with the code "USAGE".
---@param argv string[]
---@return table opt jobs (checked, docs/fio.md), output?, formats, bins, readonly, overwrite,
--- force_signature, destroy
function arguments.parse(argv)
  local opt = { jobs = {}, files = {}, before = {}, sections = {}, destroy = {},
                formats = { "fio" } }
  take_words(opt, argv)
  for _, path in ipairs(opt.files) do
    file_jobs(opt, path == "-" and "/dev/stdin" or path)
  end
  if not opt.jobs[1] and opt.before[1] then
    words.usage("--name= is missing: it begins a job")
  end
  if not opt.jobs[1] then words.usage("no job: options with --name=, or a job file") end
  choose_sections(opt)
  require("storlua.fio.job").check_all(opt)
  opt.before, opt.files, opt.sections = nil, nil, nil
  event.list(opt.jobs)
  return opt
end

arguments.HELP = [[
fio's command lines and job files, for example
  --name=seqwrite --filename=/dev/mmcblk2p1 --rw=write --bs=1M --sync=1
  --ioengine=psync --runtime=30 --time_based --direct=1 --output=seqwrite.txt
  JOBFILE [--section=NAME]
docs/fio.md lists the options that are taken, those that change nothing here,
and those that are refused.

of fio itself: --output=FILE --output-format=normal|json|json+[,…]
  --readonly[=1] --section=NAME --parse-only
and of storlua:
  --overwrite             replace files that were not written by storlua
  --destroy UNIT          consent to overwrite this device
  --force-signature       also when something known lies on it]]

return arguments
