-- SPDX-License-Identifier: MIT
--- fio's options: those that are taken, with what they mean here; those that
--- change nothing here, with the reason; and why the others are not taken.

local random = require("storlua.fio.random")
local words = require("storlua.fio.words")

local options = {}

local MODES = {
  read = { "read", "sequential" }, write = { "write", "sequential" },
  randread = { "read", "random" }, randwrite = { "write", "random" },
  rw = { "mixed", "sequential" }, readwrite = { "mixed", "sequential" },
  randrw = { "mixed", "random" }, trim = { "trim", "sequential" },
  randtrim = { "trim", "random" }, trimwrite = { "trim_write", "sequential" },
  randtrimwrite = { "trim_write", "random" },
}
local ENGINES = {
  psync = "psync", sync = "sync", pvsync = "psync", pvsync2 = "psync", vsync = "vsync",
  mmap = "mmap", libaio = "libaio", io_uring = "io_uring", posixaio = "posixaio", null = "null",
}
local SYNCS = { ["0"] = "none", none = "none", ["1"] = "full", sync = "full", dsync = "data" }

local function mode(name, text)
  if text:find("[:,]") then
    words.usage("%s=%s: offsets that follow a number of blocks are not offered", name, text)
  end
  return words.choice(name, text, MODES)
end

local function text_of(name, text)
  if text == "" then words.usage("%s= is empty", name) end
  return text
end

-- The first part of a file name; true: that of the job.
local function log_name(name, text) return text == nil or text_of(name, text) end

local function positive(name, text) return words.count(name, text, 1) end

local function microseconds(name, text) return words.time(name, text, "us") end

-- name → {key, read, may stand without a value}; without read it is a switch.
local TAKEN = {
  name = { "name", text_of }, filename = { "path", text_of }, directory = { "directory", text_of },
  rw = { "mode", mode }, bs = { "blocks", words.blocks },
  size = { "size", words.size_or_share }, offset = { "offset", words.size_or_share },
  offset_increment = { "offset_increment", words.size_or_share },
  io_size = { "io_size", words.size_or_share }, filesize = { "filesize", words.size },
  number_ios = { "number_ios", positive }, loops = { "loops", positive },
  direct = { "direct" }, buffered = { "buffered" }, sync = { "sync", function(name, text)
    return words.choice(name, text, SYNCS)
  end },
  fsync = { "fsync", words.count }, fdatasync = { "fsync", words.count },
  end_fsync = { "end_fsync" }, fsync_on_close = { "end_fsync" }, invalidate = { "invalidate" },
  ioengine = { "engine", function(name, text) return words.choice(name, text, ENGINES) end },
  iodepth = { "iodepth", positive }, numjobs = { "numjobs", positive },
  runtime = { "runtime", words.time }, time_based = { "time_based" },
  ramp_time = { "ramp", words.time }, startdelay = { "startdelay", words.time },
  stonewall = { "stonewall" }, new_group = { "new_group" }, rwmixread = { "mix_read", words.count },
  rwmixwrite = { "mix_write", words.count }, rate = { "rate", words.rate },
  rate_min = { "rate_min", words.rate }, rate_iops_min = { "rate_iops_min", positive },
  rate_iops = { "rate_iops", positive },
  max_latency = { "max_latency", microseconds }, thinktime = { "think", microseconds },
  thinktime_spin = { "think_spin", microseconds }, thinktime_iotime = { "think_after", words.time },
  thinktime_blocks = { "think_every", positive }, pre_read = { "pre_read" },
  exitall = { "exitall" }, nrfiles = { "nrfiles", positive },
  file_service_type = { "one_after_other", function(name, text)
    return words.choice(name, text, { roundrobin = false, sequential = true })
  end },
  verify = { "verify", text_of }, do_verify = { "do_verify" },
  lat_percentiles = { "lat_percentiles" }, clat_percentiles = { "clat_percentiles" },
  percentile_list = { "percentiles", words.percentiles }, group_reporting = { "group_reporting" },
  continue_on_error = { "continue_on_error", function(name, text)
    return words.choice(name, text, { none = false, read = true, write = true, io = true,
                                      all = true, ["0"] = false, ["1"] = true })
  end },
  cpus_allowed = { "cpus", words.cpus }, cpus_allowed_policy = { "split_cpus", function(name, text)
    return words.choice(name, text, { shared = false, split = true })
  end },
  randseed = { "randseed", words.count }, bssplit = { "size_mix", random.sizes },
  random_distribution = { "distribution", random.distribution },
  write_bw_log = { "bw_log", log_name, "alone" },
  write_iops_log = { "iops_log", log_name, "alone" },
  write_lat_log = { "lat_log", log_name, "alone" }, log_avg_msec = { "log_avg_ms", positive },
  log_max_value = { "log_max" }, per_job_logs = { "per_job_logs" },
  unlink = { "unlink" }, overwrite = { "file_overwrite" }, description = { "description", text_of },
}

local ALIASES = {
  readwrite = "rw", blocksize = "bs", mem_align = "iomem_align", io_limit = "io_size",
  wait_for_previous = "stonewall", start_delay = "startdelay",
}

-- Taken without effect; the text says why that is right.
local WITHOUT_EFFECT = {
  thread = "every job is a thread", group_id = "", fallocate = "files are written, never only "
    .. "allocated", randrepeat = "the seed is in the events; --seed repeats it",
  allrandrepeat = "the seed is in the events", norandommap = "each block is visited once a pass",
  softrandommap = "no map is kept", random_generator = "one permutation serves all",
  refill_buffers = "data is new for each block", scramble_buffers = "data is new for each block",
  zero_buffers = "data does not compress", buffer_compress_percentage = "data does not compress",
  create_serialize = "files are made one after the other", fadvise_hint = "no hint is given",
  verify_fatal = "a bad sector fails the run in any case", verify_dump = "bad sectors are events",
  verify_interval = "every 512 bytes are verified", verify_async = "the job verifies",
  iodepth_batch = "free slots are filled at once", iodepth_batch_submit = "free slots are filled",
  iodepth_batch_complete = "", iodepth_batch_complete_min = "", iodepth_batch_complete_max = "",
  iodepth_low = "", hipri = "", fixedbufs = "buffers are registered where possible",
  registerfiles = "files are registered where possible", sqthread_poll = "",
  gtod_reduce = "one clock read before and after each operation is all there is",
  clocksource = "CLOCK_MONOTONIC, or the counter it is made of",
  kb_base = "k is 1024", unit_base = "",
  thinktime_blocks_type = "a queue is empty in a pause",
  exitall_on_error = "the first failure ends the run", disk_util = "counters are in the events",
  slat_percentiles = "there is no submission apart from the call", norandom = "",
  allow_file_create = "", bwavgtime = "", iopsavgtime = "", significant_figures = "",
  eta = "", ["eta-newline"] = "", ["eta-interval"] = "", write_barrier = "",
  mem = "buffers are of huge pages where possible", iomem = "", iomem_align = "buffers are of "
    .. "whole pages", lockmem = "no memory is locked", create_on_open = "files are made when they "
    .. "are opened", create_fsync = "what is laid out is flushed", buffer_pattern = "data is "
    .. "new for each block", dedupe_percentage = "no two blocks are the same",
  buffer_compress_chunk = "data does not compress", gtod_cpu = "each job reads the clock",
  openfiles = "all files of a job are open",
  disable_lat = "", disable_clat = "", disable_slat = "", disable_bw_measurement = "",
}

local REASONS = {
  allow_mounted_write = "the safety gate decides; it has no switch",
  bsrange = "one block size for a job",
  exec_prerun = "a script of your own can run commands",
  exec_postrun = "a script of your own can run commands", ioscheduler = "settings of the "
    .. "device are left alone", rw_sequencer = "not offered",
  write_hist_log = "events.jsonl has the histogram",
  verify_only = "stamps name the run that wrote them", verify_state_save = "",
  latency_target = "a script of your own can search",
  wait_for = "stonewall waits for all before", zonemode = "not offered",
  ["status-interval"] = "progress is shown; events.jsonl grows while it runs",
  minimal = "text and json are offered", server = "not offered", client = "not offered",
  profile = "not offered", exec = "not offered", trigger = "not offered",
}

--- The names that are taken, for hints.
---@return string[]
function options.names()
  local names = {}
  for name in pairs(TAKEN) do names[#names + 1] = name end
  table.sort(names)
  return names
end

--- Whether the option may stand alone.
---@param name string
---@return boolean
function options.is_switch(name)
  name = ALIASES[name] or name
  local taken = TAKEN[name]
  return taken ~= nil and taken[2] == nil or WITHOUT_EFFECT[name] ~= nil
end

-- Of those without effect, the ones whose value is a word.
local WORDED = { fallocate = true, mem = true, buffer_pattern = true, random_generator = true,
                 clocksource = true, eta = true, thinktime_blocks_type = true }

--- Whether the word behind an option that may stand alone is its value, not a
--- job file.
---@param name string
---@param text string
---@return boolean
function options.may_follow(name, text)
  return text:find("^%d+%a?$") or words.is_switch(text) or WORDED[name] or false
end

--- Reads one option into `job`. Raises what is not taken.
---@param job table
---@param given_name string
---@param text string|nil
function options.take(job, given_name, text)
  local name = ALIASES[given_name] or given_name
  local taken = TAKEN[name]
  if taken then
    local key, read = taken[1], taken[2]
    if read and text == nil and not taken[3] then words.usage("%s needs a value", given_name) end
    job[key] = (read or words.switch)(given_name, text)
    if key == "runtime" and job.runtime == 0 then job.runtime = nil end
  elseif WITHOUT_EFFECT[name] then
    job.without_effect[given_name] = WITHOUT_EFFECT[name]
  elseif REASONS[name] then
    words.usage("%s is not taken: %s", given_name, REASONS[name] ~= "" and REASONS[name]
      or "not offered")
  else
    words.usage("%s is not taken%s", given_name,
      require("storlua.nearest").hint(given_name, options.names()))
  end
  job.given[#job.given + 1] = { given_name, text or "1" }
end

return options
