#!/usr/bin/env storlua
-- SPDX-License-Identifier: MIT
--- Write, flush, read back and verify one file until the time is up, while the
--- kernel log, the temperatures and the device's own counters are watched.

local fs = require("storlua.fs")
local limits = require("storlua.memory.limits")
local memory_test = require("storlua.memory.test")
local quantity = require("storlua.quantity")
local soak = require("storlua.soak")
local soak_resume = require("storlua.soak_resume")
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

-- What is at rest between two rounds is verified before it is overwritten.
local REST = { id = "rest_read", operation = "read", order = "sequential" }

local SIZE_MAX_BYTES = 256 << 20
local SIZE_UNIT_BYTES = 4096 -- direct I/O moves whole blocks, of any disk these

local UNIT_SECONDS = { time = 1, seconds = 1, minutes = 60, hours = 3600 }

-- Also of a resumed run: one that was begun with minutes goes on with minutes.
local function total_seconds(opt)
  local total
  for name, seconds in pairs(UNIT_SECONDS) do
    if opt[name] and total then
      storlua.usage("more than one of --hours, --minutes, --seconds and --time")
    end
    total = opt[name] and opt[name] * seconds or total
  end
  return total or 48 * 3600
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
  if opt.direct ~= "auto" then return opt.direct == "on" end
  local stat = fs.try_stat(path)
  local has_data = stat and stat.size_bytes >= 4096
  local probe, err = workload.try_run {
    path = path, operation = has_data and "read" or "write", record_bytes = "4k",
    size_bytes = not has_data and "4k" or nil, limit_records = 1, direct = true,
  }
  if not probe and err.code ~= "EINVAL" then error(err, 0) end
  return probe ~= nil
end

local function check_size(plan)
  local record_bytes = math.max(plan.record_bytes, plan.random_bytes)
  if plan.size_bytes < record_bytes then
    storlua.usage(("the size of the test file, %s, is smaller than one record (%s); see --size, "
      .. "--record and --random-record"):format(quantity.size_text(plan.size_bytes),
      quantity.size_text(record_bytes)))
  end
  if not soak.may_write(plan) then
    storlua.usage(("--write-limit allows not even one pass over a file of %s"):format(
      quantity.size_text(plan.size_bytes)))
  end
end

-- As asked for, else as before the cut, else from what is free; always with
-- room for it.
local function choose_size(t, opt, dir, plan)
  local existing = fs.try_stat(plan.path)
  local room = soak.room(dir)
  plan.in_memory = room.in_memory
  local room_bytes = room.bytes + (existing and existing.allocated_bytes or 0)
  local size_bytes = opt.size or t.resume and soak_resume.earlier_size(t.resume, plan.path)
  if not size_bytes then
    local half = room_bytes // 2
    size_bytes = math.min(SIZE_MAX_BYTES, half - half % plan.record_bytes)
  elseif size_bytes > room_bytes then
    storlua.usage(("%s has room for %s (%s) and the test file needs %s; use --size"):format(
      dir, quantity.size_text(room_bytes), room.limit, quantity.size_text(size_bytes)))
  end
  return size_bytes - size_bytes % SIZE_UNIT_BYTES
end

local function make_plan(t, opt)
  local dir, seconds = scratch_dir(t, opt), total_seconds(opt)
  local plan = soak.plan {
    path = dir .. "/storlua.soak", engine = opt.engine, seed = t.seed,
    size_bytes = opt.size or SIZE_MAX_BYTES, record_bytes = opt.record,
    random_bytes = opt.random_record, rate_bytes_s = opt.rate,
    write_limit_bytes = opt.write_limit, rests = opt.pause > 0, seconds = seconds,
  }
  if opt.engine == "null" then
    check_size(plan)
    return plan
  end
  local stat, err = fs.try_stat(dir)
  if not stat then storlua.usage(err.message) end
  if not stat.is_directory then storlua.usage(dir .. " is not a directory; name one with --dir") end
  if fs.space(dir).is_read_only then storlua.usage(dir .. ": read-only file system") end
  if not fs.is_writable(dir) then storlua.usage(dir .. ": permission denied to write here") end
  plan.size_bytes = choose_size(t, opt, dir, plan)
  check_size(plan)
  return plan
end

-- What will be done, in words, before it is done.
local function say_plan(t, opt, plan)
  local round_bytes = #PASSES * plan.size_bytes
  local parts = { ("%s for %s: each round writes %s and verifies it, %s"):format(plan.path,
    quantity.duration_text(plan.seconds), quantity.size_text(round_bytes),
    plan.direct and "past the page cache" or plan.in_memory and "all of it in memory"
      or "with the page cache dropped before it reads") }
  local role = opt.role and t.board and t.board.roles[opt.role]
  if role and role.rated_write then
    parts[#parts + 1] = ("%.2g %% of what its maker rates it for"):format(
      100 * round_bytes / role.rated_write)
  end
  if plan.write_limit_bytes then
    parts[#parts + 1] = "at most " .. quantity.size_text(plan.write_limit_bytes) .. " in all"
  end
  t:note("plan", table.concat(parts, "; "))
end

local function soak_round(t, plan, round)
  local labels = { round = round.number }
  if plan.rests and plan.flushed_generation > 0 then soak.verify(t, plan, REST, labels) end
  for i, pass in ipairs(PASSES) do
    if i > 1 and round:is_over() then return end
    if not soak.may_write(plan) then return round:stop() end
    -- The time cuts what is written, never the verification of it.
    soak.write(t, plan, pass.write, labels, round:seconds_left())
    soak.verify(t, plan, pass.read, labels)
    if plan.cut then return round:stop() end
  end
  if not soak.may_write(plan) then round:stop() end
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
    { name = "hours", type = "number", help = "how long to run (default 48)" },
    { name = "minutes", type = "number", help = "the same in minutes" },
    { name = "seconds", type = "number", help = "the same in seconds" },
    { name = "time", type = "duration", help = "the same with a unit: 90s, 30m, 48h" },
    { name = "rounds", type = "count", min = 1, help = "stop after so many rounds" },
    { name = "dir", short = "d", type = "string",
      help = "directory on the medium under test (default: the board's, else here)" },
    { name = "role", type = "choice", choices = { "emmc", "sd", "usb", "nvme", "ram" },
      help = "use the board's scratch space for this medium" },
    { name = "size", short = "s", type = "size", min = "4k",
      help = "size of the test file (in whole 4k; default: half of what is free, at "
        .. "most 256M)" },
    { name = "record", short = "r", type = "size", default = "1M", min = 512,
      help = "record size of the passes in order" },
    { name = "random-record", type = "size", default = "64k", min = 512,
      help = "record size of the passes in random order" },
    { name = "direct", type = "choice", choices = { "auto", "on", "off" }, default = "auto",
      help = "O_DIRECT; auto takes it where the file system has it" },
    { name = "pause", type = "duration", default = "0", min = 0,
      help = "rest between rounds, after which the file is verified first" },
    { name = "write-limit", type = "size", help = "end before more than this was written" },
    { name = "rate", type = "rate", help = "pace of reads and writes" },
    { name = "memory", type = "string",
      help = "also test so much memory meanwhile: 25% of what is free, or a size" },
    { name = "keep", type = "flag", help = "leave the test file behind" },
    { name = "engine", type = "choice", choices = { "psync", "null" }, default = "psync",
      help = "null rehearses the procedure without any I/O" },
  },

  cases = { "write", "read", "random_write", "random_read", "rest_read" },

  thresholds = { { metric = "kernel.errors", rule = "count == 0", abort = true } },

  run = function(t, opt)
    local plan = make_plan(t, opt)
    local rehearsal = plan.engine == "null"
    local file <close> = not rehearsal and t:scratch_file(plan.path) or nil
    if file then plan.direct = choose_direct(opt, plan.path) end
    if file and opt.keep then
      file:keep("--keep")
      t:note("kept", plan.path .. " and its .owner file, which a next run wants removed")
    end
    if file then plan.keep = function(reason) file:keep(reason) end end
    local watchers <close> = task.scope()
    say_plan(t, opt, plan)
    if rehearsal then
      t:not_measured("kernel.errors", "a rehearsal has no device")
    else
      watch.device(t, watchers, plan.path)
    end

    if opt.memory then
      local bytes, why = limits.share(opt.memory)
      if not bytes then storlua.usage("--memory: " .. why) end
      watchers:spawn("memory", memory_test.watch, t, "memory", { memory = bytes })
    end

    if t.resume then soak_resume.verify_promises(t, plan) end
    for _, round in t:rounds { seconds = plan.seconds, count = opt.rounds, pause = opt.pause } do
      soak_round(t, plan, round)
    end
    if rehearsal then t:skip("rehearsal with the null engine: no I/O was done") end
    t:require("complete", plan.is_verified,
      "incomplete: the time was up before the whole file was verified once")
  end,
}
