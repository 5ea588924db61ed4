-- SPDX-License-Identifier: MIT
--- The tables of a raw-device run, from events whose figures are known.

local histogram = require("storlua.histogram")
local lu = require("luaunit")
local rawblock_table = require("storlua.rawblock.table")
local results_of = require("storlua.rawblock.results")

local suite = {}

local MIB = 1 << 20

-- One run of so many MiB in one second.
local function measure(severity, test, run, mib, more)
  more = more or {}
  local operation, random = test:match("_(%a+)$"), test:find("^rand") ~= nil
  local record = random and 4096 or MIB
  local operations = mib * MIB // record
  local h = histogram.new()
  for _ = 1, operations do h:add(1000000000 // operations) end
  return {
    kind = "measure", case_id = severity .. "." .. test, verdict = "pass",
    labels = { run = run, severity = severity, test = test },
    spec = { operation = operation, record_bytes = record, range_bytes = 100 * MIB },
    result = {
      [operation] = { operations = operations, bytes = mib * MIB, io_ns = 1000000000,
                      latency = h:summary() },
      flush = more.flush_ns and { ns = more.flush_ns } or nil, total_ns = 2000000000,
      device = more.device or { [operation .. "_bytes"] = mib * MIB, flushes = 1 },
      sustained_mib_s = more.sustained, notes = more.notes or {},
    },
  }
end

local function text_of(events)
  local results = results_of.new()
  for _, event in ipairs(events) do results:add(event) end
  return table.concat(rawblock_table.lines(results), "\n")
end

local function has(text, ...)
  for _, wanted in ipairs { ... } do lu.assertStrContains(text, wanted) end
end

function suite.test_severities_and_their_noise()
  local events = {}
  for run, mib in ipairs { 12, 13, 14 } do
    events[#events + 1] = measure("severe", "seq_write", run, mib)
    events[#events + 1] = measure("less_severe", "seq_write", run, mib * 2)
    events[#events + 1] = measure("severe", "rand_read", run, 10)
    events[#events + 1] = measure("less_severe", "rand_read", run, 11)
  end
  local text = text_of(events)
  has(text, "Sequential write, severe sync:", "~13.0 MiB/s", "13.6 MB/s", "2.0x faster",
    "~2688 IOPS / 10.5 MiB/s", "the same test twice: 10.0 % apart", "12.0-14.0", "13.00 %",
    "(100.0 %); 3 flushes")
  lu.assertNotStrContains(text, "too few runs")
end

function suite.test_flush_counts_and_stands_apart()
  local text = text_of { measure("less_severe", "seq_write", 1, 20, { flush_ns = 1000000000 }) }
  -- 20 MiB in one second of writing and one of flushing.
  has(text, "~10.0 MiB/s", "1.00 s", "2.00 s", "20.0")
end

-- A resume does the test again: it would count twice, once as a part of it.
function suite.test_what_was_interrupted_is_left_out()
  local cut = measure("severe", "seq_write", 1, 90)
  cut.verdict = "interrupted"
  local text = text_of { cut, measure("severe", "seq_write", 1, 40) }
  has(text, "~40.0 MiB/s", "spread -", "are left out: 1")
end

function suite.test_what_spoils_a_number_is_said()
  local text = text_of {
    measure("severe", "seq_write", 1, 40, { sustained = 5.0 }),
    measure("severe", "seq_read", 1, 40, { device = { reason = "2 devices" },
                                           notes = { "ram_backed" } }),
    measure("less_severe", "seq_write", 1, 40, { device = { write_bytes = 20 * MIB } }),
  }
  has(text, "the last third of the time was slower: 5.00 MiB/s, 40.0 in the mean",
    "2 devices; lies in memory", "(50.0 %)")
end

return suite
