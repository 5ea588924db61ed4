-- SPDX-License-Identifier: MIT
--- What `tools/bench io` compares of the queued engines: 4 KiB random reads
--- through io_uring against fio as people run it and as fio can do it.

local peers = require("peers")
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

return cases
