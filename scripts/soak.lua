#!/usr/bin/env storlua
-- SPDX-License-Identifier: MIT
--- Write, flush, read back and verify one file until the time is up, while the
--- kernel log, the temperatures and the device's own counters are watched.

local fs = require("storlua.fs")
local quantity = require("storlua.quantity")
local soak = require("storlua.soak")
local storlua = require("storlua")
local task = require("storlua.task")
local watch = require("storlua.watch")
local workload = require("storlua.workload")

-- Each pass over the file that writes is followed by one that verifies it.
local PASSES = {
  {
    write = { id = "write", operation = "write", order = "sequential" },
    read = { id = "read", operation = "read", order = "sequential" },
  },
  {
    write = { id = "random_write", operation = "write", order = "random" },
    read = { id = "random_read", operation = "read", order = "random" },
  },
}

local function total_seconds(opt)
  if opt.time then return opt.time end
  if opt.minutes then return opt.minutes * 60 end
  return opt.hours * 3600
end

-- Where the test file goes: as named, else the board's scratch space for the
-- role, else the working directory.
local function scratch_dir(t, opt)
  if opt.dir then return opt.dir end
  local role = opt.role and t.board and t.board.roles and t.board.roles[opt.role]
  if opt.role and not role then
    storlua.usage("the board has no role " .. opt.role .. "; name a directory with --dir")
  end
  return role and role.scratch or "."
end

-- O_DIRECT where the file system has it; "auto" asks with one small transfer on
-- the test file itself, because not every file system tells. What an earlier
-- part promised is only read.
local function choose_direct(opt, path)
  if opt.direct ~= "auto" then return opt.direct == "yes" end
  local stat = fs.try_stat(path)
  local has_data = stat and stat.size_bytes >= 4096
  local probe, err = workload.try_run {
    path = path, operation = has_data and "read" or "write", record_bytes = "4k",
    size_bytes = not has_data and "4k" or nil, limit_records = 1, direct = true,
  }
  if not probe and err.code ~= "EINVAL" then error(err, 0) end
  return probe ~= nil
end

local function check_space(dir, size_bytes, existing_bytes)
  local room = soak.room(dir)
  if size_bytes - existing_bytes <= room.bytes then return end
  storlua.usage(("%s has room for %s (%s) and the test file needs %s; use --size"):format(
    dir, quantity.size_text(room.bytes + existing_bytes), room.limit,
    quantity.size_text(size_bytes)))
end

local function make_plan(t, opt)
  local dir = scratch_dir(t, opt)
  local plan = soak.plan {
    path = dir .. "/storlua.soak", engine = opt.engine, seed = t.seed,
    size_bytes = opt.size, record_bytes = opt.record, random_bytes = opt.random_record,
    rate_bytes_s = opt.rate,
  }
  if opt.size < opt.record or opt.size < opt.random_record then
    storlua.usage(("--size %d is smaller than one record (%d)"):format(opt.size,
      math.max(opt.record, opt.random_record)))
  end
  if opt.engine == "null" then return plan end
  local stat, err = fs.try_stat(dir)
  if not stat then storlua.usage(err.message) end
  if not stat.is_directory then storlua.usage(dir .. " is not a directory; name one with --dir") end
  if fs.space(dir).is_read_only then storlua.usage(dir .. ": read-only file system") end
  if not fs.is_writable(dir) then storlua.usage(dir .. ": permission denied to write here") end
  local existing = fs.try_stat(plan.path)
  check_space(dir, plan.size_bytes, existing and existing.allocated_bytes or 0)
  return plan
end

local function soak_round(t, plan, round)
  for i, pass in ipairs(PASSES) do
    -- A pass is never cut: what was written is verified before the end.
    if i > 1 and round:is_over() then return end
    local labels = { round = round.number }
    soak.write(t, plan, pass.write, labels)
    soak.verify(t, plan, pass.read, labels)
  end
end

return storlua.procedure {
  summary = "Write, flush, read back and verify a file until the time is up.",
  description = [[
Each round writes the whole file in order, flushes it, reads it back from the
medium and compares every sector; then does the same in random order. Any I/O
error, any sector that is not what was written, any kernel error of the device
and any read that was served from memory fails the run. A run that was killed,
or whose machine lost power, goes on with --resume RUN_DIR: it first verifies
what the last completed flush promised.]],

  options = {
    { name = "hours", type = "number", default = 48, help = "how long to run" },
    { name = "minutes", type = "number", help = "how long to run, instead of --hours" },
    { name = "time", type = "duration", help = "how long to run: 90s, 30m, 48h" },
    { name = "rounds", type = "count", min = 1, help = "stop after so many rounds" },
    { name = "dir", short = "d", type = "string",
      help = "directory on the medium under test (default: the board's, else here)" },
    { name = "role", type = "choice", choices = { "emmc", "sd", "usb", "nvme", "ram" },
      help = "use the board's scratch space for this medium" },
    { name = "size", short = "s", type = "size", default = "256M", min = "4k",
      help = "size of the test file" },
    { name = "record", short = "r", type = "size", default = "1M", min = 512,
      help = "record size of the passes in order" },
    { name = "random-record", type = "size", default = "64k", min = 512,
      help = "record size of the passes in random order" },
    { name = "direct", type = "choice", choices = { "auto", "yes", "no" }, default = "auto",
      help = "O_DIRECT; auto takes it where the file system has it" },
    { name = "pause", type = "duration", default = "0", min = 0, help = "rest between rounds" },
    { name = "rate", type = "rate", help = "pace of reads and writes" },
    { name = "keep", type = "flag", help = "leave the test file behind" },
    { name = "engine", type = "choice", choices = { "psync", "null" }, default = "psync",
      help = "null rehearses the procedure without any I/O" },
  },

  cases = { "write", "read", "random_write", "random_read" },

  thresholds = { { metric = "kernel.errors", rule = "count == 0", abort = true } },

  run = function(t, opt)
    local plan = make_plan(t, opt)
    local rehearsal = plan.engine == "null"
    local file <close> = not rehearsal and t:scratch_file(plan.path) or nil
    if file then plan.direct = choose_direct(opt, plan.path) end
    if file and opt.keep then file:keep("kept by --keep") end
    if file then plan.keep = function(reason) file:keep(reason) end end
    local watchers <close> = task.scope()
    if rehearsal then
      t:not_measured("kernel.errors", "a rehearsal has no device")
    else
      watch.device(t, watchers, plan.path)
    end

    if t.resume then soak.verify_promises(t, plan) end
    local seconds = total_seconds(opt)
    for _, round in t:rounds { seconds = seconds, count = opt.rounds, pause = opt.pause } do
      soak_round(t, plan, round)
    end
    if rehearsal then t:skip("rehearsal with the null engine: no I/O was done") end
  end,
}
