-- SPDX-License-Identifier: MIT
--- What can be refused of the jobs of fio before anything is touched.

local errors = require("storlua.errors")
local fio_job = require("storlua.fio.job")
local format = require("storlua.report.format")
local fs = require("storlua.fs")
local layout = require("storlua.fio.layout")
local logs = require("storlua.fio.logs")
local quantity = require("storlua.quantity")
local room = require("storlua.room")
local target_of = require("storlua.target")
local verify = require("storlua.fio.verify")
local words = require("storlua.fio.words")
local workload = require("storlua.workload")

local preflight = {}

local function check_path(job, path)
  local stat, err = fs.try_stat(path)
  if stat and stat.kind ~= "file" and stat.kind ~= "block" then
    words.usage("job %s: %s is neither a file nor a block device", job.name, path)
  end
  if not stat and err.code ~= "ENOENT" then words.usage("%s", err.message) end
  if stat then return end
  if path:find("^/dev/") and not path:find("^/dev/shm/") then
    words.usage("job %s: there is no device %s", job.name, path)
  end
  local folder = path:match("^(.*)/[^/]*$") or "."
  local above, why = fs.try_stat(folder == "" and "/" or folder)
  if not above then words.usage("job %s: %s", job.name, why.message) end
end

-- A file of others is only read, and only where it is all there.
local function check_file(job, file, missing, opt)
  local path, size_bytes = file.path, file.it.size_bytes
  if missing and opt.readonly then
    words.usage("--readonly: job %s reads up to %d and %s has %d bytes: it would be written first; "
      .. "give size= within it", job.name, missing, path, size_bytes)
  end
  local unlinks = job.unlink and size_bytes > 0
  if job.operation == "read" and not missing and not unlinks or file.may_write then return end
  if fs.try_stat(path .. ".owner") then
    words.usage("%s belongs to a run: %s.owner lies beside it", path, path)
  end
  local what = ("job %s: %s holds %s that storlua did not write"):format(job.name, path,
    format.bytes(size_bytes))
  if job.operation ~= "read" then
    words.usage("%s: another name, or --overwrite", what)
  elseif missing then
    words.usage("%s, and the job reads up to %d: it would be written first, from its beginning; "
      .. "give size= and offset= within it, another name, or --overwrite", what, missing)
  end
  words.usage("%s, and unlink=1 would remove it: leave that out, or --overwrite", what)
end

-- What a message about a workload calls by another name.
local OPTIONS = {
  queue_depth = "iodepth", record_bytes = "bs", range_bytes = "size", range_offset = "offset",
  limit_bytes = "io_size", limit_records = "number_ios", limit_seconds = "runtime",
  ramp_seconds = "ramp_time", seed = "randseed", rate_bytes_s = "rate",
  rate_operations_s = "rate_iops", limit_latency_seconds = "max_latency",
  think_seconds = "thinktime", think_spin_seconds = "thinktime_spin",
  think_after_seconds = "thinktime_iotime", think_every = "thinktime_blocks",
  flush_every = "fsync", open_sync = "sync", size_mix = "bssplit", read_percent = "rwmixread",
}

local function check_workload(job, spec)
  local ok, err = pcall(workload.complete, spec)
  if ok then return end
  local text = errors.is(err) and (err.hint or err.message) or tostring(err)
  text = text:gsub("^.-field '([%w_]+)'", "%1"):gsub("^workload: ", ""):gsub("[%w_]+", OPTIONS)
  words.usage("job %s: %s", job.name, text)
end

-- What direct I/O needs is known of a device, and of memory that it has none.
local function check_direct(job, it, offset)
  if not job.direct then return end
  local kind = not it.is_device and it.found and it.found.mount and it.found.mount.type
  if kind == "tmpfs" or kind == "ramfs" then
    words.usage("job %s: direct=1: %s keeps %s in memory, there is no direct I/O; leave it out",
      job.name, kind, it.path)
  end
  local unit, least = job.sector_bytes, job.least_bytes or job.block_bytes
  if least % unit == 0 and offset % unit == 0 then return end
  words.usage("job %s: direct=1: %s moves sectors of %d bytes, bs=%d and offset=%d are no "
    .. "multiples of that", job.name, it.path, unit, least, offset)
end

-- All that the job is going to do, as it will be asked for.
local function check_workloads(job, offset, size, is_device)
  local spec = fio_job.spec(job, offset, size, is_device, 1)
  check_workload(job, spec)
  if job.pre_read then check_workload(job, fio_job.pre_read_spec(job, offset, size)) end
  if job.verify and job.do_verify ~= false then
    check_workload(job, verify.spec(spec, { visits = 1 }))
  end
end

-- What is known of a path, over all jobs.
local function file_of(files, path, opt)
  local file = files[path]
  if file then return file end
  local it = target_of.look(path)
  it:need_medium()
  file = { path = path, it = it, has_bytes = it.size_bytes, after_bytes = it.size_bytes, group = 0,
           may_write = not it.is_device and layout.may_write(path, it.size_bytes, opt) }
  files[path] = file
  return file
end

-- What it lacks when the job begins: earlier jobs may have written it.
local function take_missing(job, file, needed)
  if file.group ~= job.group then file.group, file.has_bytes = job.group, file.after_bytes end
  local missing = layout.missing(job, file.it.is_device, file.has_bytes, needed)
  if missing then file.laid_out_bytes, file.by = missing, job.name end
  file.has_bytes = missing or file.has_bytes
  local writes = job.operation == "write" or job.operation == "mixed"
  file.after_bytes = math.max(file.after_bytes, file.has_bytes, writes and needed or 0)
  return missing
end

local function check_job(job, files, opt)
  local first
  if not job.path then check_workloads(job, fio_job.extent(job, 1 << 40, false)) end
  for _, path in ipairs(job.paths or {}) do
    check_path(job, path)
    local file = file_of(files, path, opt)
    local it = file.it
    job.sector_bytes = math.max(job.sector_bytes or 1, it:direct_bytes())
    local offset, size = fio_job.extent(job, it.size_bytes, it.is_device)
    first = first or size
    if size ~= first then
      words.usage("job %s: %s has another size than %s: size= says how much of each", job.name,
        path, job.path)
    end
    if path == job.path then check_workloads(job, offset, size, it.is_device) end
    check_direct(job, it, offset)
    local missing = take_missing(job, file, offset + size)
    if not it.is_device then check_file(job, file, missing, opt) end
  end
end

-- All that is laid out must fit, beside what the files have already.
local function check_room(files)
  local list, most = {}, nil
  for path, file in pairs(files) do
    if file.laid_out_bytes then
      local stat, dir = fs.try_stat(path), path:match("^(.*)/[^/]*$") or "."
      list[#list + 1] = {
        dir = dir == "" and "/" or dir, bytes = file.laid_out_bytes,
        own_bytes = math.min(stat and stat.allocated_bytes or 0, file.laid_out_bytes),
      }
      if not most or file.laid_out_bytes > most.laid_out_bytes then most = file end
    end
  end
  local shortage = room.shortage(list)
  if not shortage then return end
  words.usage("job %s: %s would be written first, up to %d, and what is written needs %s: %s "
    .. "has room for %s (%s); size= and offset= say how far a job goes", most.by, most.path,
    most.laid_out_bytes, quantity.size_text(shortage.needed_bytes), shortage.dir,
    quantity.size_text(shortage.bytes), shortage.limit)
end

--- What is under test, for the conditions; everything that can be refused is
--- refused here.
---@async
---@param opt table of storlua.fio.arguments
---@return string path
function preflight.check(opt)
  local files = {}
  for _, job in ipairs(opt.jobs) do
    check_job(job, files, opt)
    logs.check(job, opt)
  end
  check_room(files)
  return opt.jobs[1].path or "."
end

return preflight
