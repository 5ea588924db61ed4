-- SPDX-License-Identifier: MIT
--- Jobs of fio, checked against each other, and as workloads.

local files = require("storlua.fio.files")
local logs = require("storlua.fio.logs")
local random = require("storlua.fio.random")
local verify = require("storlua.fio.verify")
local words = require("storlua.fio.words")
local workload = require("storlua.workload")
local workload_spec = require("storlua.workload.spec")

local fio_job = {}

local JOBS_MAX = 64 -- at once and one after the other

local function has(list, wanted)
  for _, value in ipairs(list) do
    if value == wanted then return true end
  end
  return false
end

-- Fields of a spec that this build may lack.
local function needs(job, option, field)
  if has(workload_spec.names(), field) then return end
  words.usage("job %s: %s is not in this build", job.name, option)
end

local function check_engine(job)
  job.engine = job.engine or "psync"
  local engines = workload.engines()
  if not has(engines, job.engine) then
    words.usage("job %s: ioengine=%s is not in this build: it has %s", job.name, job.engine,
      table.concat(engines, ", "))
  end
  job.iodepth = job.iodepth or 1
  if job.iodepth > 1 and not files.QUEUED[job.engine] then
    job.capped = ("iodepth=%d: %s does one operation at a time, as in fio"):format(job.iodepth,
      job.engine)
    job.iodepth = 1
  end
end

-- Which of the three sizes of blocks= the job has, and which must agree.
local OF_BLOCKS = { read = { 1, 1 }, write = { 2, 2 }, mixed = { 1, 2 }, trim = { 3, 3 },
                    trim_write = { 2, 3 } }

local function choose_block(job)
  local blocks, of = job.blocks or { 4096, 4096, 4096 }, OF_BLOCKS[job.operation]
  job.block_bytes = blocks[of[1]]
  if job.block_bytes ~= blocks[of[2]] then
    words.usage("job %s: bs=: one block size for all that it does; two jobs do two", job.name)
  end
end

-- Every engine of fio that trims does it by one call at a time.
local function check_trim(job)
  if not job.operation:find("^trim") then return end
  if job.engine == "psync" or job.engine == "null" then return end
  if job.operation == "trim_write" or job.engine == "mmap" then
    words.usage("job %s: ioengine=%s does not trim: psync does", job.name, job.engine)
  end
  job.capped = ("ioengine=%s: trims are one call at a time, by psync"):format(job.engine)
  job.engine, job.iodepth = "psync", 1
end

local function check(job, opt)
  job.operation, job.order = table.unpack(job.mode or { "read", "sequential" })
  choose_block(job)
  if job.buffered ~= nil then job.direct = not job.buffered end
  check_engine(job)
  check_trim(job)
  verify.check(job)
  random.check(job)
  if job.time_based and not job.runtime then
    words.usage("job %s: time_based needs runtime=", job.name)
  end
  if opt.readonly and job.operation ~= "read" then
    words.usage("--readonly: job %s writes (rw=%s)", job.name,
      job.operation == "mixed" and "rw" or (job.operation:gsub("_", "")))
  end
  if opt.readonly and job.unlink then
    words.usage("--readonly: job %s removes its files (unlink=1)", job.name)
  end
  if (job.mix_read or 0) > 100 or (job.mix_write or 0) > 100 then
    words.usage("job %s: a mix is a share of 100", job.name)
  end
  if job.engine == "mmap" and (job.sync or "none") ~= "none" then
    words.usage("job %s: ioengine=mmap: sync= does nothing for a mapping; fsync=N, end_fsync=1 do",
      job.name)
  end
  if job.rate_iops then needs(job, "rate_iops", "rate_operations_s") end
  if job.max_latency then needs(job, "max_latency", "limit_latency_seconds") end
  if (job.loops or 1) > 1 and (job.io_size or job.number_ios) then
    words.usage("job %s: loops= does %s= anew each time, which is not offered: one job for each, "
      .. "or leave loops= out", job.name, job.io_size and "io_size" or "number_ios")
  end
  if job.rate and job.rate_iops then
    words.usage("job %s: rate and rate_iops exclude each other", job.name)
  end
  if not job.percentiles then
    job.percentiles = { 1, 5, 10, 20, 30, 40, 50, 60, 70, 80, 90, 95, 99, 99.5, 99.9, 99.95, 99.99 }
  end
end

local function case_id(name, taken)
  local id = name:gsub("[^%w_-]", "_"):sub(1, 60)
  local unique, n = id, 1
  while taken[unique] do
    n = n + 1
    unique = ("%s_%d"):format(id, n)
  end
  taken[unique] = true
  return unique
end

--- Checks all jobs, makes the clones of numjobs= and the groups of stonewall.
---@param opt table of storlua.fio.arguments
function fio_job.check_all(opt)
  local all, taken, group, in_group = {}, {}, 0, {}
  local told = 0 -- the group in the report: new_group begins one without a wait
  for i, job in ipairs(opt.jobs) do
    check(job, opt)
    if job.stonewall and i > 1 then group = group + 1 end
    if (job.stonewall or job.new_group) and i > 1 then told = told + 1 end
    local id = case_id(job.name, taken)
    local count = job.numjobs or 1
    in_group[group] = (in_group[group] or 0) + count
    if #all + count > JOBS_MAX then
      words.usage("%d jobs are too many: %d at most", #all + count, JOBS_MAX)
    end
    for clone = 1, count do
      local one = {}
      for key, value in pairs(job) do one[key] = value end
      one.case_id = count > 1 and ("%s.%d"):format(id, clone) or id
      one.group, one.told_group, one.clone = group, told, clone
      one.paths = files.paths(job, clone)
      one.path = one.paths and one.paths[1]
      files.check(one)
      all[#all + 1] = one
    end
  end
  for _, job in ipairs(all) do
    if job.exitall and in_group[job.group] > 1 then
      words.usage("job %s: exitall is not taken: jobs at once end each by itself", job.name)
    end
  end
  opt.jobs = all
  logs.plan(opt)
end

local function share(value, whole, block_bytes)
  if type(value) ~= "table" then return value end
  local bytes = math.floor(whole * value.percent / 100)
  return bytes - bytes % block_bytes
end

--- Offset and size of a job on a target that is so large now (0: not there).
--- Raises usage errors.
---@param job table
---@param has_bytes integer
---@param is_device boolean
---@return integer offset
---@return integer size_bytes
function fio_job.extent(job, has_bytes, is_device)
  local whole = math.max(has_bytes, job.filesize or 0)
  for _, option in ipairs { "offset", "offset_increment" } do
    if whole == 0 and type(job[option]) == "table" then
      words.usage("job %s: %s is not there, of what %s= is a share is not known: give bytes, or "
        .. "filesize=", job.name, job.path or "the file", option)
    end
  end
  if whole == 0 and type(job.size) ~= "number" then
    words.usage("job %s: %s is not there: size= says how large it is to be", job.name,
      job.path or "the file")
  end
  local offset = share(job.offset, whole, job.block_bytes) or 0
  local step = share(job.offset_increment, whole, job.block_bytes) or 0
  if offset + step * (job.clone - 1.0) + (job.size and share(job.size, whole, 1) or 0)
    >= math.maxinteger then
    words.usage("job %s: offset and size lead past the largest file", job.name)
  end
  offset = offset + step * (job.clone - 1)
  local size = share(job.size, whole, job.block_bytes) or whole - offset
  if type(job.size) == "number" and job.paths and #job.paths > 1 then
    size = math.min(size // #job.paths, (job.filesize or size) - offset)
  end
  -- Direct I/O moves no part of a sector.
  if job.direct and not is_device then size = size - size % (job.sector_bytes or 1) end
  if is_device and offset + size > whole then
    words.usage("job %s: offset and size reach to %d and %s has %d bytes", job.name, offset + size,
      job.path, whole)
  end
  local count = job.paths and #job.paths or 1
  if (job.loops or 1) > math.maxinteger // (2 * math.max(size, 1) * count) then
    words.usage("job %s: loops=%d: that often, size %d is more bytes than can be counted", job.name,
      job.loops, size)
  end
  if size < job.block_bytes then
    words.usage("job %s: size %d is less than one block of %d", job.name, size, job.block_bytes)
  end
  random.check_zones(job, size)
  return offset, size
end

-- The CPUs of a clone, bit by bit.
local function cpu_mask(job)
  local mask, list = 0, job.cpus or {}
  for i, cpu in ipairs(list) do
    if not job.split_cpus or (job.clone - 1) % #list == i - 1 then mask = mask | 1 << cpu end
  end
  return mask
end

--- The workload of a job.
---@param job table
---@param offset integer
---@param size integer
---@param is_device boolean
---@param seed integer
---@return table spec
function fio_job.spec(job, offset, size, is_device, seed)
  local writes, trims = job.operation ~= "read", job.operation == "trim"
  -- fio counts a trim and the write after it as one.
  local each = job.operation == "trim_write" and 2 or 1
  local thinks = (job.think or 0) > 0
  local count = job.paths and #job.paths or 1
  local bytes = share(job.io_size, size * count, job.block_bytes)
    or size * count * (job.loops or 1)
  -- What has failed counts, as in fio: another pass would not make up for it.
  local visits = job.continue_on_error and not job.time_based and not job.io_size
    and not job.size_mix and not job.many
    and (size + job.block_bytes - 1) // job.block_bytes * count * each * (job.loops or 1)
    or nil
  local syncs = writes and (job.fsync or 0) > 0
  local spec = {
    path = job.path, engine = job.engine, operation = job.operation, order = job.order,
    record_bytes = job.block_bytes, range_offset = offset, range_bytes = size,
    direct = job.direct and job.engine ~= "null", seed = job.randseed or seed,
    queue_depth = job.iodepth, cpus = cpu_mask(job),
    interval_seconds = job.logs[1] and job.log_avg_ms / 1000 or 0.5,
    series_directions = job.logs[1] ~= nil or logs.BOTH[job.operation] ~= nil,
    open_sync = writes and job.sync or "none",
    flush = syncs and "every" or writes and job.end_fsync and "end" or "none",
    flush_every = syncs and job.fsync or nil,
    limit_seconds = job.runtime,
    limit_records = job.number_ios and math.min(job.number_ios * each, visits or math.huge)
      or visits,
    limit_bytes = not job.time_based and not visits and bytes * each or nil,
    ramp_seconds = job.ramp, rate_bytes_s = job.rate, rate_operations_s = job.rate_iops,
    limit_latency_seconds = job.max_latency, continue_on_error = job.continue_on_error,
    size_mix = job.size_mix, think_seconds = job.think,
    think_after_seconds = thinks and job.think_after or nil,
    think_every = thinks and (job.think_every or not job.think_after and 1) or nil,
    think_spin_seconds = thinks and math.min(job.think_spin or 0, job.think) or nil,
    stamp = writes and not trims and (job.least_bytes or job.block_bytes) % 512 == 0
      and offset % 512 == 0 and job.engine ~= "null" and not job.distribution or nil,
    cold = not writes and not job.direct and job.invalidate ~= false and not job.pre_read
      and job.engine ~= "null" and "drop" or nil,
    read_percent = job.operation == "mixed"
      and (job.mix_read or 100 - (job.mix_write or 50)) or nil,
  }
  files.into(job, spec)
  for field, value in pairs(job.distribution or {}) do spec[field] = value end
  if writes and not is_device and job.engine ~= "null" then spec.size_bytes = offset + size end
  return spec
end

--- The workload that fills the page cache before a job.
---@param job table
---@param offset integer
---@param size integer
---@return table spec
function fio_job.pre_read_spec(job, offset, size)
  return { path = job.path, paths = job.paths, operation = "read",
           record_bytes = job.block_bytes, range_offset = offset, range_bytes = size }
end

return fio_job
