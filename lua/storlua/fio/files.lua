-- SPDX-License-Identifier: MIT
--- The files or devices of a job: nrfiles=, filename=a:b, and how a job goes
--- from one to the other.

local words = require("storlua.fio.words")

local FILES_MAX = 1024
local QUEUED = { io_uring = true, libaio = true, posixaio = true }

local files = { QUEUED = QUEUED }

--- The paths of a clone; nil for the null engine.
---@param job table
---@param clone integer
---@return string[]|nil
function files.paths(job, clone)
  if job.engine == "null" then return nil end
  local paths = {}
  if (job.nrfiles or 1) > FILES_MAX then
    words.usage("job %s: %d files are more than %d", job.name, job.nrfiles, FILES_MAX)
  end
  if job.path then
    for path in (job.path:gsub("\\:", "\0") .. ":"):gmatch("([^:]*):") do
      paths[#paths + 1] = path:gsub("%z", ":")
    end
  else
    -- fio's own names for files that have none
    for i = 1, job.nrfiles or 1 do
      paths[i] = ("%s.%d.%d"):format(job.name:gsub("/", "_"), clone - 1, i - 1)
    end
  end
  for i, path in ipairs(paths) do
    if path == "" then words.usage("job %s: filename=%s names nothing", job.name, job.path) end
    if job.directory and not path:find("^/") then paths[i] = job.directory .. "/" .. path end
  end
  if #paths > FILES_MAX then
    words.usage("job %s: %d files are more than %d", job.name, #paths, FILES_MAX)
  end
  return paths
end

-- A queue of fio is spread over all files; here each file has a part of it.
local function check_queued(job, count)
  local engine = ("job %s: %d files with ioengine=%s"):format(job.name, count, job.engine)
  if job.one_after_other then
    words.usage("%s: one after the other is for psync, sync, vsync and mmap", engine)
  elseif job.iodepth % count ~= 0 then
    words.usage("%s: iodepth=%d is no multiple of them", engine, job.iodepth)
  end
  for _, option in ipairs { "number_ios", "rate", "rate_iops", "thinktime", "verify" } do
    local key = option == "thinktime" and "think" or option
    if job[key] then words.usage("%s: without %s=, or with psync", engine, option) end
  end
  job.many = ("%d files at once, each with a queue of %d"):format(count, job.iodepth // count)
end

--- Checks how a job goes through its files.
---@param job table with paths
function files.check(job)
  local count = job.paths and #job.paths or 1
  if count == 1 then return end
  local seen = {}
  for _, path in ipairs(job.paths) do
    if seen[path] then words.usage("job %s: %s is named twice", job.name, path) end
    seen[path] = true
  end
  if QUEUED[job.engine] then check_queued(job, count) end
end

--- What a workload says about them.
---@param job table
---@param spec table to be filled in: limits and depth are those of the job
function files.into(job, spec)
  local count = job.paths and #job.paths or 1
  if count == 1 then return end
  spec.paths = job.paths
  if job.many then
    spec.streams, spec.queue_depth = count, job.iodepth // count
    spec.limit_bytes = spec.limit_bytes and spec.limit_bytes // count
  else
    spec.one_after_other = job.one_after_other
  end
end

return files
