-- SPDX-License-Identifier: MIT
--- Distributions, mixes of record sizes, trims and the steady state, as
--- scripts write them.

local lu = require("luaunit")

local disk = require("disk")
local process = require("storlua.process")
local workload = require("storlua.workload")

local tests = {}

local function refused(given, ...)
  local full, e = workload.try_run(given)
  lu.assertNil(full)
  lu.assertEquals(e.code, "EINVAL")
  for _, text in ipairs { ... } do lu.assertStrContains(e.message, text) end
end

local function null(fields)
  local spec = { engine = "null", operation = "read", range_bytes = "64M" }
  for name, value in pairs(fields) do spec[name] = value end
  return spec
end

function tests.distributions_are_completed()
  local full = workload.complete(null { distribution = "zipf" })
  lu.assertEquals({ full.order, full.zipf_theta }, { "random", 1.2 })
  full = workload.complete(null { distribution = "normal", normal_percent = 5 })
  lu.assertEquals({ full.order, full.normal_percent, full.zipf_theta }, { "random", 5, nil })
  full = workload.complete(null {})
  lu.assertEquals({ full.order, full.distribution }, { "sequential", "uniform" })
  lu.assertNil(full.normal_percent)
end

function tests.distributions_run()
  for _, fields in ipairs {
    { distribution = "zipf", zipf_theta = 0.9 }, { distribution = "normal" },
    { distribution = "zoned", zones = { { visit_percent = 80, range_percent = 20 },
      { visit_percent = 20, range_percent = 80 } } },
  } do
    fields.limit_records = 10000
    local r = workload.run(null(fields))
    lu.assertEquals(r.read.operations, 10000)
    lu.assertEquals(r["end"], "complete")
  end
end

function tests.distributions_are_refused()
  refused(null { distribution = "poisson" }, "uniform, zipf, pareto, normal, zoned")
  refused(null { distribution = "zipf", zipf_theta = 0 }, "zipf_theta")
  refused(null { distribution = "zipf", zipf_theta = "much" }, "zipf_theta")
  refused(null { distribution = "zipf", order = "backward" }, "must be random")
  refused(null { distribution = "zoned" }, "needs zones")
  refused(null { zipf_theta = 2 }, "for distribution zipf")
  refused(null { distribution = "zoned", zones = {} }, "list of tables")
  refused(null { distribution = "zoned", zones = { { visit_percent = 100 } } },
    "a zone has no range")
  refused(null { distribution = "zoned",
    zones = { { visit_percent = 90, range_percent = 100 } } }, "visit_percent")
end

function tests.a_mix_of_sizes()
  local place <close> = disk.directory()
  local path = place.path .. "/data"
  workload.run { path = path, operation = "write", size_bytes = "4M", stamp = true }
  local spec = { path = path, operation = "read", verify = true, limit_records = 2000,
    size_mix = { { record_bytes = "4k", percent = 60 }, { record_bytes = "64k", percent = 40 } } }
  local full = workload.complete(spec)
  lu.assertEquals({ full.record_bytes, full.order }, { 65536, "random" })
  local r = workload.run(spec)
  lu.assertEquals(r.read.operations, 2000)
  lu.assertEquals(r.verify.bad_sectors, 0)
  local small = (2000 * 65536 - r.read.bytes) // (65536 - 4096)
  lu.assertTrue(small > 1100 and small < 1300, small)
  spec.size_mix[2].percent = 39
  refused(spec, "size_mix: the percents are 99")
  spec.size_mix[2] = { record_bytes = "6k", percent = 40 }
  refused(spec, "4096 does not divide")
  spec.size_mix[2] = { record_bytes = "64k", percent = 40, weight = 1 }
  refused(spec, "size_mix[2] has no field 'weight'")
end

function tests.a_trim_of_a_file()
  local place <close> = disk.directory()
  local path = place.path .. "/data"
  workload.run { path = path, operation = "write", size_bytes = "4M", stamp = true, flush = "end" }
  local r = workload.run { path = path, operation = "trim", record_bytes = "64k", verify = true,
    range_bytes = "1M", range_offset = "1M" }
  lu.assertEquals(r["end"], "complete")
  lu.assertEquals(r.trim.operations, 16)
  lu.assertEquals(r.trim.bytes, 1 << 20)
  lu.assertTrue(r.trim.mib_s > 0)
  lu.assertNil(r.read)
  lu.assertNil(r.write)
  lu.assertTrue(r.target.trim_reads_zero)
  lu.assertEquals({ r.verify.sectors, r.verify.zero_sectors, r.verify.bad_sectors },
    { 2048, 2048, 0 })
  local whole = workload.run { path = path, operation = "read", verify = true }
  lu.assertEquals(whole.verify.bad_sectors, 2048)
  lu.assertEquals(whole.verify.damage, { zero = 2048 })
  r = workload.run { path = path, operation = "trim", record_bytes = 512, limit_records = 4 }
  lu.assertItemsEquals(r.notes, { "trim_below_granularity" })
  refused({ path = path, operation = "trim", stamp = true }, "stamps")
end

function tests.a_trim_is_a_case_of_a_run()
  local place <close> = disk.directory()
  local script = place.path .. "/trim.lua"
  do
    local file <close> = assert(io.open(script, "w"))
    file:write([[
      return require("storlua").procedure { summary = "trims", run = function(t)
        t:measure("fill", { path = "data", operation = "write", size_bytes = "1M" })
        t:measure("trim", { path = "data", operation = "trim", verify = true })
      end }]])
  end
  local run = process.run { os.getenv("STORLUA"), "--output", place.path .. "/run", script,
    cwd = place.path }
  lu.assertEquals(run.code, 0, run.stdout .. run.stderr)
  lu.assertStrMatches(run.stdout, ".*trim +trim +1.*")
end

local function run_virtual(source)
  local place <close> = disk.directory()
  local path = place.path .. "/script.lua"
  do
    local file <close> = assert(io.open(path, "w"))
    file:write(source)
  end
  local run = process.run { os.getenv("STORLUA"), path, env = { STORLUA_VIRTUAL_TIME = "1" } }
  lu.assertEquals(run.code, 0, run.stderr)
  return run.stdout
end

function tests.steady()
  lu.assertEquals(run_virtual([[
    local workload = require("storlua.workload")
    local r = workload.run { engine = "null", operation = "read", range_bytes = "1M",
      record_bytes = "64k", limit_seconds = 600, virtual_op_ns = 1000000,
      steady = { percent = 5 } }
    assert(r.steady.reached and r.steady.at_ns == 10000000000 and r.total_ns == 10000000000)
    print(math.type(r.steady.at_ns), r.steady.mib_s, r.steady.spread_percent < 1)
    r = workload.run { engine = "null", operation = "read", range_bytes = "1M",
      limit_seconds = 8, virtual_op_ns = 1000000, steady = {} }
    print(r.steady.reached, r.steady.at_ns)
  ]]), "integer\t62.49375\ttrue\nfalse\tnil\n")
end

function tests.steady_is_refused()
  refused(null { steady = {} }, "needs a limit")
  refused(null { steady = { window_seconds = 2 }, limit_seconds = 60 }, "from 5 to")
  refused(null { steady = { percents = 2 }, limit_seconds = 60 }, "no field 'percents'")
  refused(null { steady = {}, limit_seconds = 60, streams = 2 }, "one stream")
end

return tests
