#!/usr/bin/env storlua
-- SPDX-License-Identifier: MIT
--- A log with group commit, as data bases write it: many clients append, one
--- flush makes all records durable that were written before it, and a client
--- goes on when a flush that began after its write is done.

local histogram = require("storlua.histogram")
local clock = require("storlua.clock")
local ring = require("storlua.ring")
local storlua = require("storlua")
local task = require("storlua.task")

local RECORD <const> = 4096

-- Flushes for whoever waits: begins a flush when the one before has ended and
-- something was written meanwhile.
local Committer = {}
Committer.__index = Committer

local function new_committer(r)
  return setmetatable({ ring = r, waiting = {}, flushes = 0 }, Committer)
end

-- Waits until what this task has written is durable.
function Committer:commit()
  task.await(function(resume)
    table.insert(self.waiting, resume)
    if self.wake then self.wake() end
  end)
end

function Committer:serve()
  while true do
    if #self.waiting == 0 then
      task.await(function(resume) self.wake = resume end)
      self.wake = nil
    end
    local group = self.waiting
    self.waiting = {}
    self.ring:fsync()
    self.flushes = self.flushes + 1
    for _, resume in ipairs(group) do resume() end
  end
end

local function verify(path, records)
  local r <close> = ring.open { path = path, record_bytes = RECORD, slots = 1 }
  local bad = 0
  for i = 0, records - 1 do
    r:read(1, i * RECORD)
    if not r:verify(1, i * RECORD) then bad = bad + 1 end
  end
  return bad
end

return storlua.procedure {
  summary = "A commit log with group commit: durable transactions a second.",
  options = {
    { name = "file", type = "string", path = true, default = "storlua.log",
      help = "where the log goes" },
    { name = "clients", type = "count", default = 16, min = 1, max = 1024,
      help = "who append at once" },
    { name = "records", type = "count", default = 2000, min = 1, help = "records of 4 KiB in all" },
  },
  cases = { "log.verified" },
  run = function(t, opt)
    local _ <close> = t:scratch_file(opt.file, { any_name = true })
    local latency, began_ns, next_record = histogram.new(), clock.monotonic_ns(), 0
    local flushes, total_ns
    do
      local r <close> = ring.open { path = opt.file, record_bytes = RECORD, slots = opt.clients,
        write = true }
      local committer = new_committer(r)
      local service <close> = task.scope()
      service:spawn("committer", committer.serve, committer)
      local clients <close> = task.scope()
      for slot = 1, opt.clients do
        clients:spawn("client " .. slot, function()
          while next_record < opt.records do
            local offset = next_record * RECORD
            next_record = next_record + 1
            r:fill(slot, offset)
            local start_ns = clock.monotonic_ns()
            r:write(slot, offset)
            committer:commit()
            latency:add(clock.monotonic_ns() - start_ns)
          end
        end)
      end
      clients:join()
      total_ns = clock.monotonic_ns() - began_ns
      flushes = committer.flushes
    end
    local bad = verify(opt.file, opt.records)
    local rate, commit = opt.records / total_ns * 1e9, latency:summary()
    t:check("log.verified", bad == 0, "%d of %d records wrong", bad, opt.records)
    t:sample("commit.per_s", rate)
    t:sample("commit.p50_ns", commit.p50_ns, "ns")
    t:sample("commit.p99_ns", commit.p99_ns, "ns")
    t:note("records_per_flush", opt.records / flushes)
    print(("%d clients: %.0f commits a second, %.1f records a flush, p50 %.2f ms, p99 %.2f ms")
      :format(opt.clients, rate, opt.records / flushes, commit.p50_ns / 1e6, commit.p99_ns / 1e6))
  end,
}
