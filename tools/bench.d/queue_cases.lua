-- SPDX-License-Identifier: MIT
--- What `tools/bench io` compares of the queued engines: 4 KiB random reads
--- through io_uring against fio as people run it and as fio can do it.

local loop = require("storlua.core.loop")
local peers = require("peers")
local ring = require("storlua.ring")
local task = require("storlua.task")
local workload = require("storlua.workload")

local cases = {}

-- T10 to T13: the least over fio as it is, and over fio with registered
-- buffers and files and whole batches.
local TARGETS <const> = {
  cached = { [16] = { "T10", 2.3, 1.05 }, [64] = { "T11", 2.5, 1.10 } },
  direct = { [1] = { "T12", 0.95 }, [16] = { "T13", 1.3, 0.93 }, [64] = { "T13", 2.0, 0.93 } },
}

local function storlua(c, engine, depth)
  return function(round)
    local r = workload.run { path = c.path, operation = "read", record_bytes = 4096,
      order = "random", seed = round, limit_seconds = c.seconds, direct = c.direct,
      engine = engine, queue_depth = depth }
    if r["end"] ~= "complete" then error("workload ended as " .. r["end"], 0) end
    return r.read.operations / r.total_ns * 1e9
  end
end

local function fio(c, extra)
  return function(round)
    local settings = { filename = c.path, rw = "randread", bs = "4k", ioengine = "io_uring",
      iodepth = c.depth, direct = c.direct and 1 or 0, invalidate = 0, time_based = true,
      runtime = ("%dms"):format(c.seconds * 1000), randseed = round }
    for name, value in pairs(extra) do settings[name] = value end
    local rates, reason = peers.fio(settings)
    return rates and rates.read.iops, reason
  end
end

-- One task a slot; each decides its own next offset: a linear congruence over
-- the records, as many as are a power of two.
local function tasks(c)
  return function(round)
    local r <close> = ring.open { path = c.path, record_bytes = 4096, slots = c.depth }
    local mask = 1
    while mask < r.size_bytes // 2 do mask = mask << 1 | 1 end
    local start_ns = loop.monotonic_ns()
    local stop_ns, operations = start_ns + c.seconds * 1e9 // 1 | 0, 0
    local scope <close> = task.scope()
    for slot = 1, c.depth do
      scope:spawn("reader " .. slot, function()
        local reader, own, last = r, slot, mask -- locals are faster
        local offset, count = (round * 7919 + slot * 104729) << 12 & last, 0
        repeat
          for _ = 1, 64 do -- a clock read for each would be a part of the I/O
            offset = offset * 6364136223846793005 + (1442695040888963407 << 12) & last
            reader:read(own, offset)
          end
          count = count + 64
        until loop.monotonic_ns() >= stop_ns
        operations = operations + count
      end)
    end
    scope:join()
    return operations / (loop.monotonic_ns() - start_ns) * 1e9
  end
end

--- `c.depth` and `c.direct` say which of them.
function cases.random_queued(c)
  local id, over_fio, over_batch = table.unpack(TARGETS[c.direct and "direct" or "cached"][c.depth])
  local case = {
    title = ("4 KiB random reads, depth %d, %s on %s, reads/s"):format(c.depth,
      c.direct and "O_DIRECT" or "cached file", c.where),
    before = not c.direct and c.warm or nil,
    variants = {
      { name = "storlua io_uring", run = storlua(c, "io_uring", c.depth) },
      { name = "fio io_uring", run = fio(c, {}) },
    },
    comparisons = {
      { id = id, a = "storlua io_uring", b = "fio io_uring", least = over_fio },
    },
  }
  if over_batch then
    table.insert(case.variants, { name = "fio batched", run = fio(c, { fixedbufs = true,
      registerfiles = true, iodepth_batch_submit = c.depth,
      iodepth_batch_complete_max = c.depth }) })
    table.insert(case.comparisons, { id = id, a = "storlua io_uring", b = "fio batched",
      least = over_batch, note = "fixedbufs, registerfiles, whole batches" })
  else
    table.insert(case.variants, { name = "storlua psync", run = storlua(c, "psync", 1) })
    table.insert(case.comparisons, { id = id, a = "storlua io_uring", b = "storlua psync",
      least = over_fio, note = "the device decides" })
  end
  return case
end

--- T14: each I/O a waiting call of a Lua task, against our own C and fio.
function cases.tasks(c)
  local case = cases.random_queued(c)
  case.title = ("4 KiB random reads, depth %d, each a call of a Lua task, cached file on %s, "
    .. "reads/s"):format(c.depth, c.where)
  table.insert(case.variants, 1, { name = "storlua.ring", run = tasks(c) })
  case.comparisons = {
    { id = "T14", a = "storlua.ring", b = "storlua io_uring", least = 0.88 },
    { id = "T14", a = "storlua.ring", b = "fio io_uring", least = 2.2 },
    { id = "T14", a = "storlua.ring", b = "fio batched", least = 1.0,
      note = "fixedbufs, registerfiles, whole batches" },
  }
  return case
end

return cases
