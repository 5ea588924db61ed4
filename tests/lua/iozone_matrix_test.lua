-- SPDX-License-Identifier: MIT
--- The matrix of iozone as data: sizes and records by its rules, cells that
--- are never lost, and every order touches what the test promises.

local lu = require("luaunit")
local event = require("storlua.event")
local fs = require("storlua.fs")
local grid = require("storlua.iozone.grid")
local iozone = require("storlua.iozone")
local legal = require("storlua.iozone.legal")
local tests = require("storlua.iozone.tests")
local workload = require("storlua.workload")

local suite = {}

local K, M = 1024, 1 << 20

local function count_rows(o)
  local g = grid.build(o)
  return #g.rows, g
end

function suite.test_the_known_matrices()
  -- cells of the published command lines, counted from iozone itself
  lu.assertEquals((count_rows { auto = true }), 126)
  lu.assertEquals((count_rows { auto = true, no_crossover = true }), 146)
  lu.assertEquals((count_rows { auto = true, max_size = 4 << 30 }), 153)
  lu.assertEquals((count_rows { auto = true, no_crossover = true, min_size = 16 * M,
    max_size = 2 << 30, max_record = 16 * M }), 104)
  lu.assertEquals((count_rows { auto = true, no_crossover = true, max_size = 8 * M }), 68)
  lu.assertEquals((count_rows { auto = true,
    records = { 4 * K, 16 * K, 64 * K, 256 * K, M, 4 * M, 16 * M },
    sizes = { 16 * K, M, 16 * M, 128 * M, 256 * M } }), 28)
  lu.assertEquals((count_rows { auto = true, min_size = 64 * K, max_size = 256 * K }), 18)
  lu.assertEquals((count_rows {}), 1)
end

function suite.test_crossover()
  local _, g = count_rows { auto = true, min_size = 16 * M, max_size = 32 * M }
  lu.assertEquals(#g.rows, 13 + 9)
  lu.assertEquals(#g.skipped, 4)
  lu.assertStrContains(g.skipped[1].reason, "crossover")
  -- any of -r -s -y -q switches it off
  for _, o in ipairs { { max_record = 16 * M }, { min_record = 4 * K }, { no_crossover = true } } do
    o.auto, o.min_size, o.max_size = true, 32 * M, 32 * M
    lu.assertEquals((count_rows(o)), 13)
  end
  lu.assertEquals((count_rows { auto = true, sizes = { 32 * M } }), 13)
end

function suite.test_lists_are_sorted_and_that_is_said()
  local _, g = count_rows { sizes = { 256 * K, 64 * K, 512 * K, 64 * K }, records = { 4 * K } }
  lu.assertEquals(g.sizes, { 64 * K, 256 * K, 512 * K })
  lu.assertEquals(#g.said, 1)
  lu.assertStrContains(g.said[1], "sorted")
  _, g = count_rows { sizes = { 64 * K, 256 * K } }
  lu.assertEquals(g.said, {})
  _, g = count_rows { auto = true, min_size = 48 * K, max_size = 200 * K }
  lu.assertEquals(g.sizes, { 48 * K, 96 * K, 192 * K })
  _, g = count_rows { auto = true, min_size = 64 * K, max_size = 4 * M, multiplier = 4 }
  lu.assertEquals(g.sizes, { 64 * K, 256 * K, M, 4 * M })
end

function suite.test_planned_is_done_plus_skipped()
  local m = iozone.matrix { path = "x", auto = true, max_size = 32 * M }
  lu.assertEquals(m.cells + #m.skipped, #m.sizes * #m.records * #m.columns)
  local seen = {}
  for _, row in ipairs(m.rows) do
    for _, cell in ipairs(row.cells) do
      lu.assertNil(seen[cell.case_id])
      seen[cell.case_id] = true
      lu.assertTrue(#cell.case_id <= 100)
    end
  end
  for _, one in ipairs(m.skipped) do
    lu.assertNil(seen[one.case_id])
    seen[one.case_id] = true
  end
end

function suite.test_columns()
  local function ids(...)
    local list = {}
    for i, column in ipairs(tests.columns(...)) do list[i] = column.id end
    return table.concat(list, " ")
  end
  lu.assertEquals(ids { 2, 0 }, "write rewrite random_read random_write")
  lu.assertEquals(ids({ 0, 1 }, true), "write read")
  lu.assertEquals(ids { "12" }, "preadv repreadv")
  lu.assertEquals(ids { "reread" }, "read reread")
  lu.assertEquals(#tests.columns(tests.usual), 13)
  local test, message = tests.find("wirte")
  lu.assertNil(test)
  lu.assertStrContains(message, "did you mean 'write'")
  lu.assertNil((tests.find(13)))
end

-- How often each record of a file was written, from the generations found in
-- it: a file of n records of 512 bytes, each write one generation above.
local function visits_of_write(path, cell, n)
  -- what lay there before is generation 1 all over
  local base = workload.run { path = path, operation = "write", size_bytes = n * 512,
    truncate = true, record_bytes = 512, stamp = true, generation = 1 }
  lu.assertEquals(base["end"], "complete")
  local content = legal.new()
  content:done({ spec = { operation = "write" }, column = {}, size_bytes = n * 512 }, true)
  local spec = content:spec_of(cell, true)
  spec.path = path
  local result = workload.run(spec)
  lu.assertEquals(result["end"], "complete")
  content:done(cell, true)
  return content, result
end

local function verify(path, content, n)
  local read = { spec = { operation = "read", order = "sequential", record_bytes = 512,
                          range_bytes = n * 512 }, column = {} }
  local spec = content:spec_of(read, true)
  spec.path = path
  local result = workload.run(spec)
  lu.assertEquals(result.verify.sectors, n)
  return result.verify.bad_sectors
end

local function cells_of(n, record_bytes, path)
  local m = iozone.matrix { path = path, sizes = { n }, records = { record_bytes },
    tests = { 0, 1, 2, 3, 4, 5, 8, 9, 11 } }
  local cells = {}
  for _, cell in ipairs(m.rows[1].cells) do cells[cell.column.id] = cell end
  return cells
end

-- Stamps tell each record which generation it got: a write test that promises
-- every record once leaves one generation everywhere, record rewrite leaves
-- the n-th in record 0 and the old one elsewhere.
function suite.test_writes_touch_what_they_promise()
  local folder <close> = fs.temp_dir("/dev/shm")
  local path = folder.path .. "/f"
  for n = 1, 200 do
    for _, id in ipairs { "write", "rewrite", "random_write", "record_rewrite", "pwrite",
      "pwritev" } do
      local cell = cells_of(n * 512, 512, path)[id]
      local content, result = visits_of_write(path, cell, n)
      -- as many bytes as the file has and none left out: each record once
      lu.assertEquals(result.write.bytes, n * 512, id)
      if id ~= "pwritev" then lu.assertEquals(result.write.operations, n, id) end
      lu.assertEquals(verify(path, content, n), 0, id .. " " .. n)
    end
  end
end

-- A read is proved by what it finds: of a file whose every record is not what
-- is expected it reports each record that it visits, as many as are kept. In
-- slices of 50 visits none is left out.
local function visited(spec_of, n)
  local seen = {}
  for first = 0, n - 1, 50 do
    local spec = {}
    for key, value in pairs(spec_of) do spec[key] = value end
    spec.verify, spec.generation, spec.bad_kept = true, 2, 64
    spec.first_visit, spec.limit_records = first, math.min(50, n - first)
    local result = workload.run(spec)
    lu.assertEquals(result.read.operations, spec.limit_records)
    for _, bad in ipairs(result.verify.bad) do
      seen[bad.offset // 512] = (seen[bad.offset // 512] or 0) + 1
    end
  end
  return seen
end

function suite.test_reads_touch_every_record_once()
  local folder <close> = fs.temp_dir("/dev/shm")
  local path = folder.path .. "/f"
  for n = 1, 200 do
    local written = workload.run { path = path, operation = "write", size_bytes = n * 512,
      truncate = true, record_bytes = 512, stamp = true, generation = 1 }
    lu.assertEquals(written["end"], "complete")
    local cells = cells_of(n * 512, 512, path)
    for _, id in ipairs { "read", "random_read", "backward_read", "stride_read", "random_mix" } do
      local spec = {}
      for key, value in pairs(cells[id].spec) do spec[key] = value end
      -- of the mix only where it goes is asked here
      if id == "random_mix" then spec.operation, spec.flush = "read", nil end
      local seen = visited(spec, n)
      for record = 0, n - 1 do lu.assertEquals(seen[record], 1, id) end
    end
  end
end

function suite.test_the_random_pair_shares_its_order()
  local cells = cells_of(64 * K, 4 * K, "x")
  lu.assertEquals(cells.random_read.spec.order, cells.random_write.spec.order)
  lu.assertNil(cells.random_read.spec.seed)
  lu.assertNil(cells.random_write.spec.seed)
end

function suite.test_the_tail_belongs_to_every_test()
  local folder <close> = fs.temp_dir("/dev/shm")
  local path = folder.path .. "/f"
  local cells = cells_of(100 * K, 64 * K, path)
  for _, id in ipairs { "write", "rewrite", "read", "random_write", "backward_read",
    "stride_read" } do
    local result = workload.run(cells[id].spec)
    local part = result.write or result.read
    lu.assertEquals({ part.operations, part.bytes }, { 2, 100 * K }, id)
  end
  local record = workload.run(cells.record_rewrite.spec)
  lu.assertEquals({ record.write.operations, record.write.bytes }, { 2, 128 * K })
  lu.assertEquals(fs.stat(path).size_bytes, 100 * K)
end

function suite.test_bad_matrices()
  lu.assertErrorMsgContains("path is missing", iozone.matrix, {})
  local ok, err = pcall(iozone.matrix, { path = "x", sizes = { "4k" }, records = { "8k" } })
  lu.assertFalse(ok)
  lu.assertEquals(err.code, "USAGE")
  lu.assertErrorMsgContains("no test 'x'", iozone.matrix, { path = "x", tests = { "x" } })
  lu.assertErrorMsgContains("not a size", iozone.matrix, { path = "x", sizes = { -1 } })
end

function suite.test_a_matrix_is_json()
  local m = iozone.matrix { path = "x", sizes = { "64k" }, records = { "4k" } }
  for _, cell in ipairs(m.rows[1].cells) do
    lu.assertStrContains(event.encode({ spec = cell.spec }), "record_bytes")
  end
end

return suite
