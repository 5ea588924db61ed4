-- SPDX-License-Identifier: MIT
--- What `tools/bench io` compares. A case has variants, which are measured in
--- turn, and comparisons: `a` over `b` by `metric`, with the least (or most)
--- that is expected. `b` as a list means the best of these in each round; no
--- `b` means the number itself.

local peers = require("peers")
local workload = require("storlua.workload")

local MIB <const> = 1 << 20

--- Operations a second over the whole span of a workload: what the tool itself
--- costs between the operations counts against it.
local function per_second(result)
  if result["end"] ~= "complete" then error("workload ended as " .. result["end"], 0) end
  local part = result.read or result.write
  return part.operations / result.total_ns * 1e9
end

local function mib_per_second(result)
  if result["end"] ~= "complete" then error("workload ended as " .. result["end"], 0) end
  local part = result.read or result.write
  return part.bytes / result.total_ns * 1e9 / MIB
end

--- As it is reported: of the system calls; what fills and compares is apart.
local function mib_per_second_of_calls(result)
  if result["end"] ~= "complete" then error("workload ended as " .. result["end"], 0) end
  local part = result.read or result.write
  return part.bytes / part.io_ns * 1e9 / MIB
end

local cases = {}

--- 4 KiB random reads of a file in the page cache.
function cases.random_cached(c)
  local function fio(extra)
    return function(round)
      local settings = {
        filename = c.path, rw = "randread", bs = "4k", ioengine = "psync", invalidate = 0,
        time_based = true, runtime = ("%dms"):format(c.seconds * 1000), randseed = round,
      }
      for name, value in pairs(extra) do settings[name] = value end
      local rates, reason = peers.fio(settings)
      return rates and rates.read.iops, reason
    end
  end
  return {
    title = ("4 KiB random reads, cached file on %s, reads/s"):format(c.where),
    before = c.warm,
    variants = {
      { name = "storlua", run = function(round)
        return per_second(workload.run {
          path = c.path, operation = "read", record_bytes = 4096, order = "random",
          seed = round, limit_seconds = c.seconds,
        })
      end },
      { name = "bare pread loop", run = function(round)
        return peers.bare_pread(c.path, 4096, c.seconds, round)
      end },
      { name = "bare, timed", run = function(round)
        return peers.bare_pread(c.path, 4096, c.seconds, round, true)
      end },
      { name = "fio psync", run = fio {} },
      { name = "fio lean", run = fio { gtod_reduce = 1, norandommap = true } },
    },
    comparisons = {
      { id = "T1", a = "storlua", b = "bare pread loop", least = 0.95 },
      { id = "", a = "bare, timed", b = "bare pread loop", note = "what two clock reads leave" },
      { id = "T2", a = "storlua", b = "fio psync", least = 1.08 },
      { id = "T3", a = "storlua", b = "fio lean", least = 1.03,
        note = "fio lean: gtod_reduce, norandommap; measures no latency" },
    },
  }
end

--- The tool alone: an engine that does nothing.
function cases.null(c)
  return {
    title = "no I/O at all (null engine), operations/s",
    variants = {
      { name = "storlua", run = function(round)
        local rate = per_second(workload.run {
          engine = "null", operation = "read", record_bytes = 4096, order = "random",
          range_bytes = 256 * MIB, seed = round, limit_seconds = c.seconds,
        })
        return { rate = rate, ns = 1e9 / rate }
      end },
      { name = "clock alone", run = function(round)
        local rate = peers.bare_pread("-", 4096, c.seconds, round, true)
        return { rate = rate, ns = 1e9 / rate }
      end },
      { name = "fio null", run = function()
        local rates, reason = peers.fio {
          rw = "randread", bs = "4k", ioengine = "null", size = "256m", time_based = true,
          runtime = ("%dms"):format(c.seconds * 1000),
        }
        return rates and rates.read.iops, reason
      end },
    },
    comparisons = {
      { id = "T5", a = "storlua", b = "fio null", least = 2.0 },
      { id = "T5", a = "storlua", metric = "ns", most = 70, unit = "ns/op" },
      { id = "", a = "clock alone", metric = "ns", unit = "ns/op",
        note = "two clock reads and the choice of an offset" },
    },
  }
end

--- Data that is checked: write a file, then read and compare all of it.
function cases.write_verify(c)
  local function both(record_bytes, with_data)
    return function(round)
      local spec = { path = c.path, operation = "write", record_bytes = record_bytes,
        size_bytes = c.size_bytes, stamp = with_data, generation = round }
      local write = mib_per_second(workload.run(spec))
      local read = workload.run { path = c.path, operation = "read", record_bytes = record_bytes,
        range_bytes = c.size_bytes, verify = with_data, generation = round }
      if with_data and read.verify.bad_sectors > 0 then error("bad sectors in the benchmark", 0) end
      return { write = write, verify = mib_per_second(read) }
    end
  end
  local strict = c.record_bytes == 4096
  local case = {
    title = ("write, then verify, %d KiB records on %s, MiB/s"):format(
      c.record_bytes // 1024, c.where),
    variants = {
      { name = "storlua", run = both(c.record_bytes, true) },
      { name = "fio crc32c", run = function()
        local rates, reason = peers.fio {
          filename = c.path, rw = "write", bs = c.record_bytes, size = c.size_bytes,
          ioengine = "psync", verify = "crc32c", do_verify = 1, invalidate = 0,
          verify_state_save = 0,
        }
        return rates and { write = rates.write.mib_s, verify = rates.read.mib_s }, reason
      end },
    },
    comparisons = {
      { id = strict and "T15" or "T16", a = "storlua", b = "fio crc32c", metric = "write",
        least = strict and 1.9 or 2.5 },
      { id = strict and "T15" or "T16", a = "storlua", b = "fio crc32c", metric = "verify",
        least = strict and 1.35 or 1.8 },
    },
  }
  table.insert(case.variants, { name = "storlua, no check", run = both(c.record_bytes, false) })
  for _, metric in ipairs { "write", "verify" } do
    table.insert(case.comparisons, { id = strict and "T17" or "", a = "storlua",
      b = "storlua, no check", metric = metric, least = strict and 0.92 or nil,
      note = "the price of stamps and comparing" })
  end
  return case
end

--- 1 MiB records in order through the page cache.
function cases.sequential_cached(c)
  local mib = c.size_bytes // MIB
  local function fio(direction)
    local rates, reason = peers.fio { filename = c.path, rw = direction, bs = "1m",
      size = c.size_bytes, ioengine = "psync", invalidate = 0 }
    return rates and rates[direction].mib_s, reason
  end
  return {
    title = ("1 MiB sequential, cached file on %s, MiB/s"):format(c.where),
    before = c.warm,
    variants = {
      { name = "storlua", run = function()
        local write = workload.run { path = c.path, operation = "write", record_bytes = MIB,
          size_bytes = c.size_bytes }
        local read = workload.run { path = c.path, operation = "read", record_bytes = MIB }
        return { write = mib_per_second_of_calls(write), read = mib_per_second_of_calls(read),
          ["write with filling"] = mib_per_second(write) }
      end },
      { name = "dd", run = function()
        local write = peers.dd { "if=/dev/zero", "of=" .. c.path, "bs=1M", "conv=notrunc",
          "count=" .. mib }
        return { write = write, read = peers.dd { "if=" .. c.path, "of=/dev/null", "bs=1M" } }
      end },
      { name = "fio psync", run = function()
        local write, reason = fio("write")
        return write and { write = write, read = fio("read") }, reason
      end },
    },
    comparisons = {
      { id = "T18", a = "storlua", b = { "dd", "fio psync" }, metric = "read", least = 0.95 },
      { id = "T18", a = "storlua", b = { "dd", "fio psync" }, metric = "write", least = 0.95 },
    },
  }
end

--- 1 MiB reads that bypass the page cache: the pages of the buffer decide.
function cases.sequential_direct(c)
  return {
    title = ("1 MiB O_DIRECT sequential reads on %s, MiB/s"):format(c.where),
    variants = {
      { name = "storlua", run = function()
        return mib_per_second(workload.run { path = c.path, operation = "read",
          record_bytes = MIB, direct = true })
      end },
      { name = "dd", run = function()
        return peers.dd { "if=" .. c.path, "of=/dev/null", "bs=1M", "iflag=direct" }
      end },
      { name = "fio psync", run = function()
        local rates, reason = peers.fio { filename = c.path, rw = "read", bs = "1m",
          size = c.size_bytes, ioengine = "psync", direct = 1 }
        return rates and rates.read.mib_s, reason
      end },
    },
    comparisons = {
      { id = "T19", a = "storlua", b = "dd", least = 1.0, note = c.queue_note },
      { id = "T19", a = "storlua", b = "fio psync", least = 1.0, note = c.queue_note },
    },
  }
end

return cases
