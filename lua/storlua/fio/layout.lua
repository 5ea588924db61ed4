-- SPDX-License-Identifier: MIT
--- Files that are there before they are read: one that is missing or too short
--- is written first, whole, so that no read hits an extent that nobody wrote.

local fs = require("storlua.fs")
local job_of_thread = require("storlua.job")
local own_file = require("storlua.own_file")
local task = require("storlua.task")

local layout = {}

--- Whether a file may be written and removed without being asked for.
---@param path string
---@param size_bytes integer
---@param opt table of storlua.fio.arguments
---@return boolean
function layout.may_write(path, size_bytes, opt)
  if fs.try_stat(path .. ".owner") then return false end -- a run is at it
  return size_bytes == 0 or opt.overwrite or own_file.is_ours(path, 0)
end

--- How much of a file has to be there before a job begins: nil when it is, or
--- when the job makes it grow.
---@param job table
---@param is_device boolean
---@param has_bytes integer
---@param needed integer end of the job's range
---@return integer|nil bytes
function layout.missing(job, is_device, has_bytes, needed)
  local grows = job.operation == "write" and not job.file_overwrite
  if is_device or grows or has_bytes >= needed then return nil end
  return needed
end

--- The workload that writes it.
---@param path string
---@param bytes integer
---@return table spec
function layout.spec(path, bytes)
  return {
    path = path, operation = "write", record_bytes = math.min(bytes, 1 << 20),
    size_bytes = bytes, flush = "end", stamp = bytes % 512 == 0,
  }
end

--- Removes a file, unless a job was given up: its device may not answer.
---@param path string
function layout.remove(path)
  if job_of_thread.given_up == 0 then fs.try_remove(path) end
end

--- Lays out the file number `i` of a job, where that is needed.
---@async
---@param t storlua.Run
---@param job table
---@param i integer
---@param it table target, with may_write
---@param needed integer
function layout.write(t, job, i, it, needed)
  local path, bytes = job.paths[i], layout.missing(job, it.is_device, it.size_bytes, needed)
  if not bytes then return end
  -- It was long enough when all was checked.
  if not it.may_write then
    t:abort("job %s: %s has shrunk to %d bytes, up to %d are read", job.name, path, it.size_bytes,
      needed)
  end
  local made = not fs.try_stat(path)
  local is_whole = false
  local _ <close> = task.defer(function()
    if made and not is_whole then layout.remove(path) end
  end)
  t:phase("layout " .. path, 0, bytes)
  local result = t:measure(job.case_id .. ".layout" .. (#job.paths > 1 and "." .. i or ""),
    layout.spec(path, bytes))
  t:phase(nil)
  if result["end"] ~= "complete" then
    t:abort("job %s: %s could not be laid out%s", job.name, path, made and ": removed again" or "")
  end
  is_whole = true
  it.size_bytes = bytes
end

return layout
