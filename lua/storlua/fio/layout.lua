-- SPDX-License-Identifier: MIT
--- Files that are there before they are read: one that is missing or too short
--- is written first, whole, so that no read hits an extent that nobody wrote.

local fs = require("storlua.fs")
local own_file = require("storlua.own_file")

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
  t:phase("layout " .. path, 0, bytes)
  t:measure(job.case_id .. ".layout" .. (#job.paths > 1 and "." .. i or ""),
    layout.spec(path, bytes))
  t:phase(nil)
  it.size_bytes = bytes
end

return layout
