-- SPDX-License-Identifier: MIT
local lu = require("luaunit")

local errors = require("storlua.errors")
local fs = require("storlua.fs")
local loop = require("storlua.core.loop")
local task = require("storlua.task")
local workload = require("storlua.workload")

local tests = {}

-- A scratch file that goes away with its block.
local function scratch(below)
  local path = ("%s/storlua-workload-%d.tmp"):format(below or "/tmp", math.random(1 << 40))
  return setmetatable({ path = path }, { __close = function() os.remove(path) end })
end

local function all_integers(value, where)
  if type(value) == "number" then
    if not where:match("mib_s") and not where:match("iops$") then
      lu.assertEquals(math.type(value), "integer", where)
    else
      lu.assertTrue(value > 0 and value < math.huge, where)
    end
  elseif type(value) == "table" then
    for key, inner in pairs(value) do all_integers(inner, where .. "." .. tostring(key)) end
  end
end

local function sum(list)
  local total = 0
  for _, n in ipairs(list) do total = total + n end
  return total
end

function tests.in_memory_psync_is_taken_for_a_ring()
  if not workload.try_engine("io_uring") then lu.skip("no io_uring here") end
  local file <close> = scratch("/dev/shm")
  local given = { path = file.path, operation = "write", size_bytes = "1M", record_bytes = "4k",
                  engine = "io_uring", queue_depth = 8, stamp = true }
  for _, streams in ipairs { 1, 2 } do
    given.streams = streams
    local w = workload.run(given)
    lu.assertEquals({ w.engine, w.queue_depth, w.write.bytes }, { "psync", 1, 1 << 20 })
    lu.assertItemsEquals(w.notes, { "psync_taken", "ram_backed", "not_flushed" })
  end
  given.engine_forced = true
  local w = workload.run(given)
  lu.assertEquals({ w.engine, w.queue_depth }, { "io_uring", 8 })
  lu.assertNotStrContains(table.concat(w.notes, " "), "psync_taken")
  given.path, given.engine = nil, "null"
  given.queue_depth, given.streams, given.stamp = 1, 1, false
  lu.assertEquals(workload.run(given).engine, "null")
end

function tests.write_then_verify()
  local file <close> = scratch()
  local w = workload.run {
    path = file.path, operation = "write", size_bytes = "4M", record_bytes = "64k",
    stamp = true, flush = "end", generation = 3,
  }
  lu.assertEquals(w["end"], "complete")
  lu.assertNil(w.error)
  lu.assertNil(w.read)
  lu.assertNil(w.verify)
  lu.assertEquals(w.write.bytes, 4 << 20)
  lu.assertEquals(w.write.operations, 64)
  lu.assertEquals(w.write.latency.count, 64)
  lu.assertEquals(w.flush.count, 1)
  lu.assertEquals(w.generation_last, 3)
  lu.assertEquals(w.target.size_bytes, 4 << 20)
  lu.assertEquals(sum(w.series.bytes), w.write.bytes)
  lu.assertAlmostEquals(w.write.mib_s, 4 / (w.write.io_ns / 1e9), 1e-6)
  all_integers(w, "result")

  local r = workload.run {
    path = file.path, operation = "read", record_bytes = 4096, order = "random",
    verify = true, generation = 3, cold = "drop",
  }
  lu.assertEquals(r["end"], "complete")
  lu.assertEquals(r.verify.sectors, 8192)
  lu.assertEquals(r.verify.bad_sectors, 0)
  lu.assertEquals(r.verify.bad, {})
  lu.assertEquals(r.errors_total, 0)
  lu.assertEquals(r.passes, 1)
  all_integers(r, "result")
end

function tests.damage_is_described()
  local file <close> = scratch()
  workload.run { path = file.path, operation = "write", size_bytes = "64k", stamp = true }
  local f = assert(io.open(file.path, "r+b"))
  f:seek("set", 5 * 512)
  f:write(("\0"):rep(512))
  f:close()
  local v = workload.run { path = file.path, operation = "read", verify = true }.verify
  lu.assertEquals(v.bad_sectors, 1)
  lu.assertEquals(v.damage, { zero = 1 })
  lu.assertEquals(v.bad[1].offset, 5 * 512)
  lu.assertEquals(v.bad[1].kind, "zero")
  lu.assertEquals(v.bad[1].expected.generation, 1)
  lu.assertNil(v.bad[1].found)
  lu.assertEquals(v.bad[1].found_hex, ("0"):rep(128))
  lu.assertStrMatches(v.bad[1].expected_hex, "534c5332.*")
  -- a legal hole is none
  v = workload.run {
    path = file.path, operation = "read", verify = true, legal = {
      { offset = 0, length = 65536, generation_min = 1, generation_max = 1, zero_ok = true },
    },
  }.verify
  lu.assertEquals(v.bad_sectors, 0)
  lu.assertEquals(v.zero_sectors, 1)
end

function tests.notes_say_what_was_measured()
  local file <close> = scratch("/dev/shm")
  local w = workload.run { path = file.path, operation = "write", size_bytes = "1M" }
  lu.assertItemsEquals(w.notes, { "ram_backed", "not_flushed" })
  local r = workload.run { path = file.path, operation = "read", cold = "drop" }
  lu.assertItemsEquals(r.notes, { "ram_backed", "not_cold", "cached" })
  lu.assertFalse(r.cache.cold)
  lu.assertEquals(r.cache.resident_before_bytes, 1 << 20)
  lu.assertEquals(r.target.filesystem, "tmpfs")
  lu.assertIsString(r.device.reason)
  r = workload.run { path = file.path, operation = "read", cold = "require" }
  lu.assertEquals(r["end"], "not_cold")
  lu.assertEquals(r.read.operations, 0)
  lu.assertNil(r.read.mib_s)
  -- a hole is not read from anywhere
  local f = assert(io.open(file.path, "r+b"))
  f:seek("set", (2 << 20) - 1)
  f:write("x")
  f:close()
  r = workload.run { path = file.path, operation = "read" }
  lu.assertItemsEquals(r.notes, { "ram_backed", "cached", "holes" })
  lu.assertEquals(r.cache.unbacked_before_bytes, (1 << 20) - 4096)
end

function tests.what_cannot_start_raises()
  local file <close> = scratch()
  local r, e = workload.try_run { path = file.path, operation = "read" }
  lu.assertNil(r)
  lu.assertEquals(e.code, "ENOENT")
  lu.assertEquals(e.path, file.path)
  local ok, raised = pcall(workload.run, { path = file.path, operation = "read" })
  lu.assertFalse(ok)
  lu.assertTrue(errors.is(raised))

  workload.run { path = file.path, operation = "write", size_bytes = 1024, record_bytes = 512 }
  local cases = {
    { { record_bytes = "4k" }, "1024.*4096" },
    { { record_byte = 512 }, "did you mean 'record_bytes'" },
    { { record_bytes = "4kk" }, "4kk" },
    { { record_bytes = "-4k" }, "%-4k" },
    { { record_bytes = "16E" }, "16E" },
    { { record_bytes = 0 }, "record_bytes is 0" },
    { { record_bytes = 1.5 }, "whole number" },
    { { limit_seconds = -1 }, "limit_seconds" },
    { { operation = "raed" }, "did you mean 'read'" },
    { { engine = "psink" }, "psync, sync" },
    { { direct = "yes" }, "direct must be a boolean" },
    { { legal = 3 }, "legal must be a table" },
    { { generation = 1 << 32, verify = true, record_bytes = 512 }, "generation" },
    { { path = "" }, "path" },
    { { path = "a\0b" }, "NUL" },
    { { streams = 0 }, "streams is 0" },
  }
  for _, case in ipairs(cases) do
    local spec = { path = file.path, operation = "read" }
    for key, value in pairs(case[1]) do spec[key] = value end
    ok, raised = pcall(workload.run, spec)
    lu.assertFalse(ok)
    lu.assertStrMatches(tostring(raised), ".*" .. case[2] .. ".*")
  end
  lu.assertErrorMsgContains("operation is missing", workload.run, { path = file.path })
  lu.assertErrorMsgContains("a table", workload.run, nil)
end

function tests.complete_fills_in_what_is_missing()
  workload.set_run { seed = 99, run_id = 7 }
  local full = workload.complete { path = "/x", operation = "read", record_bytes = "1M",
    limit_seconds = "2m" }
  lu.assertEquals(full.record_bytes, 1 << 20)
  lu.assertEquals(full.limit_seconds, 120)
  lu.assertEquals(full.order, "sequential")
  lu.assertEquals(full.seed, 99)
  lu.assertEquals(full.run_id, 7)
  lu.assertFalse(full.direct)
  lu.assertNil(full.size_bytes)
  -- what is complete stays as it is
  lu.assertEquals(workload.complete(full), full)
end

function tests.a_handle_shows_progress_and_can_be_cancelled()
  local file <close> = scratch()
  local h <close> = workload.start {
    path = file.path, operation = "write", size_bytes = "1M", record_bytes = 4096,
    limit_seconds = 3600,
  }
  while h:progress().operations < 10 do task.sleep(0.001) end
  lu.assertFalse(h:is_done())
  h:cancel()
  local r = h:wait()
  lu.assertEquals(r["end"], "cancelled")
  lu.assertEquals(h:progress().operations, r.write.operations)
  lu.assertEquals(h:wait(), r)
end

function tests.leaving_the_block_ends_it()
  local file <close> = scratch()
  local job
  do
    local h <close> = workload.start {
      path = file.path, operation = "write", size_bytes = "1M", limit_seconds = 3600,
    }
    job = h.job
  end
  lu.assertTrue(job:is_done())
end

function tests.a_timeout_ends_the_workload_too()
  local file <close> = scratch()
  local ok, err = pcall(task.timeout, 0.05, workload.run, {
    path = file.path, operation = "write", size_bytes = "1M", limit_seconds = 3600,
  })
  lu.assertFalse(ok)
  lu.assertEquals(err.code, "TIMEOUT")
end

-- The threads of this process that may run on CPU 0 only.
local function on_first_cpu()
  local count = 0
  for _, id in ipairs(fs.list("/proc/self/task")) do
    local status = fs.try_read("/proc/self/task/" .. id .. "/status") or ""
    if status:find("\nCpus_allowed_list:%s*0\n") then count = count + 1 end
  end
  return count
end

function tests.it_runs_on_the_cpus_that_are_named()
  if loop.is_virtual() then return end
  if fs.read("/sys/devices/system/cpu/online"):find("^0\n") then lu.skip("one CPU") end
  local before = on_first_cpu()
  local h <close> = workload.start { engine = "null", operation = "read", range_bytes = "1M",
    limit_seconds = 20, rate_operations_s = 1000, cpus = 1 }
  while h:progress().operations < 10 do task.sleep(0.001) end
  lu.assertEquals(on_first_cpu(), before + 1)
  h:cancel()
  h:wait()
  local r, err = workload.try_run { engine = "null", operation = "read", range_bytes = "1M",
    cpus = 1 << 62 }
  lu.assertNil(r)
  lu.assertEquals(err.code, "EINVAL")
end

function tests.the_null_engine_has_no_target()
  local r = workload.run { engine = "null", operation = "mixed", read_percent = 30,
    range_bytes = "1G", limit_records = 1000 }
  lu.assertEquals(r.read.operations + r.write.operations, 1000)
  lu.assertTrue(r.read.operations > 200 and r.read.operations < 400)
  lu.assertNil(r.target)
  lu.assertNil(r.cache)
  lu.assertEquals(r.notes, {})
  if loop.is_virtual() then return end
  for _, name in ipairs({ "psync", "sync", "vsync", "stdio", "mmap", "libaio", "posixaio",
    "null" }) do
    lu.assertTableContains(workload.engines(), name)
  end
  lu.assertTrue(workload.try_engine("posixaio"))
  local ok, err = workload.try_engine("splice")
  lu.assertNil(ok)
  lu.assertStrContains(err.message, "engines here: psync")
end

function tests.a_device_below_is_counted_or_named()
  local file <close> = scratch(".")
  local w = workload.run { path = file.path, operation = "write", size_bytes = "8M",
    record_bytes = "1M", flush = "end" }
  if w.device.reason then
    lu.assertIsString(w.device.reason)
  else
    lu.assertTrue(w.device.write_bytes >= 0)
    lu.assertEquals(math.type(w.device.write_bytes), "integer")
  end
end

return tests
