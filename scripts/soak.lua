#!/usr/bin/env storlua
-- SPDX-License-Identifier: MIT
--- Write, flush, read back and verify one file until the time is up, while the
--- kernel log, the temperatures and the device's own counters are watched.

local clock = require("storlua.clock")
local limits = require("storlua.memory.limits")
local memory_test = require("storlua.memory.test")
local soak = require("storlua.soak")
local soak_plan = require("storlua.soak.plan")
local soak_resume = require("storlua.soak.resume")
local soak_rules = require("storlua.soak.rules")
local storlua = require("storlua")
local task = require("storlua.task")
local watch = require("storlua.watch")

-- Each pass over the file that writes is followed by one that verifies it.
local PASSES = {
  { write = { id = "write", order = "sequential" },
    read = { id = "read", order = "sequential" } },
  { write = { id = "random_write", order = "random", part = true },
    read = { id = "random_read", order = "random" } },
}

-- What is at rest between two rounds is verified before it is overwritten.
local REST = { id = "rest_read", order = "sequential" }

local CASES = { "write", "read", "random_write", "random_read", "rest_read" }

-- One round over one file.
local function soak_file(t, plan, round)
  local labels = { round = round.number }
  if plan.rests and plan.base > 0 then soak.verify(t, plan, REST, labels) end
  for i, pass in ipairs(PASSES) do
    if i > 1 and round:is_over() then return end
    if not soak.reserve(plan, pass.write) then return round:stop() end
    -- The time cuts what is written, never the verification of it.
    soak.write(t, plan, pass.write, labels, round:seconds_left())
    soak.verify(t, plan, pass.read, labels)
    if plan.is_cut then return round:stop() end
  end
end

-- Files on several media are soaked beside each other, round by round.
local function soak_round(t, plans, round)
  local files <close> = task.scope()
  for _, plan in ipairs(plans) do files:spawn("soak " .. plan.path, soak_file, t, plan, round) end
  files:join()
end

-- Claims the files for the run, which removes them at its end. A resume that
-- cannot have all of them, or is stopped before it has verified them, leaves
-- what was promised.
local function claim(t, opt, plans)
  local files = {}
  for i, plan in ipairs(plans) do
    files[i] = t:scratch_file(plan.path)
    if t.resume then files[i]:keep("the run is to go on") end
  end
  for i, plan in ipairs(plans) do
    function plan.keep(reason) files[i]:keep(reason or opt.keep and "--keep" or nil) end
    plan.keep(t.resume and soak_resume.is_promised(t.resume, plan.path)
      and "what its last flush promised is not verified yet" or nil)
  end
end

-- Watches the device below a file of ours.
local function take_up(t, opt, plan, watchers)
  if opt.keep then
    t:note("kept", plan.path .. " and its .owner file, which a next run wants removed")
  end
  watch.device(t, watchers, plan.path)
end

local function memory_bytes(opt)
  if not opt.memory then return nil end
  local bytes, why = limits.share(opt.memory)
  if not bytes then storlua.usage("--memory: " .. why) end
  return bytes
end

return storlua.procedure {
  summary = "Write, flush, read back and verify a file until the time is up.",
  description = [[
Each round writes the whole file in order, flushes it, reads it back from the
medium and compares every sector; then rewrites a part of it in random order and
verifies all of it again. Several --dir are soaked beside each other. Any I/O
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
    { name = "dir", short = "d", type = "list", path = true,
      help = "directory on the medium under test, repeatable (default: the board's, else here)" },
    { name = "role", type = "choice", choices = { "emmc", "sd", "usb", "nvme", "ram" },
      help = "use the board's scratch space for this medium" },
    { name = "size", short = "s", type = "size", min = "4k",
      help = "size of the test file (in whole 4k; default: half of what is free, at "
        .. "most 256M)" },
    { name = "record", short = "r", type = "size", default = "1M", min = 512,
      help = "record size of the passes in order" },
    { name = "random-record", type = "size", default = "64k", min = 512,
      help = "record size of the passes in random order" },
    { name = "rewrite", type = "count", default = 25, min = 1, max = 100,
      help = "per cent of the file that a round rewrites in random order" },
    { name = "reads", type = "count", default = 0, max = 95,
      help = "per cent of reads among the operations of the random rewrite" },
    { name = "limit", type = "list",
      help = "a rule that must hold, such as \"write.mib_s p50 >= 60\"; of each --dir by "
        .. "itself" },
    { name = "direct", type = "choice", choices = { "auto", "on", "off" }, default = "auto",
      help = "O_DIRECT; auto takes it where file system and records allow it" },
    { name = "pause", type = "duration", default = "0", min = 0,
      help = "rest between rounds, after which the file is verified first" },
    { name = "write-limit", type = "size",
      help = "end before more than this was written, to all --dir together" },
    { name = "rate", type = "rate", help = "pace of reads and writes" },
    { name = "memory", type = "string",
      help = "also test so much memory meanwhile: 25% of what is free, or a size" },
    { name = "keep", type = "flag", help = "leave the test file behind" },
    { name = "engine", type = "choice", choices = { "psync", "null" }, default = "psync",
      help = "null rehearses the procedure without any I/O" },
  },

  cases = CASES,

  thresholds = function(opt, _, resume)
    local rules = soak_rules.of(CASES, opt, resume)
    table.insert(rules, 1, { metric = "kernel.errors", rule = "count == 0", abort = true })
    return rules
  end,

  run = function(t, opt)
    local plans, seconds = soak_plan.make(t, opt), soak_plan.seconds(opt)
    local rehearsal, memory = opt.engine == "null", memory_bytes(opt)
    local watchers <close> = task.scope()
    if rehearsal then
      t:not_measured("kernel.errors", "a rehearsal has no device")
    else
      claim(t, opt, plans)
      for _, plan in ipairs(plans) do take_up(t, opt, plan, watchers) end
    end
    soak_plan.say(t, opt, plans, seconds)
    if memory then
      watchers:spawn("memory", memory_test.watch, t, "memory",
        { memory = memory, rehearsal = rehearsal })
    end

    if t.resume then
      for _, plan in ipairs(plans) do soak_resume.verify_promises(t, plan) end
    end
    local is_first = true
    for _, round in t:rounds { seconds = seconds, count = opt.rounds, pause = opt.pause } do
      local begin_ns, begin_bytes = clock.now_ns(), t:written_bytes()
      soak_round(t, plans, round)
      if is_first and not rehearsal then
        soak_plan.estimate(t, opt, clock.now_ns() - begin_ns, t:written_bytes() - begin_bytes,
          seconds)
      end
      is_first = false
    end
    if rehearsal then t:skip("rehearsal with the null engine: no I/O was done") end
    for _, plan in ipairs(plans) do
      t:require(plan.prefix .. "complete", plan.is_verified,
        "incomplete: the time was up before the whole file was verified once")
    end
  end,
}
