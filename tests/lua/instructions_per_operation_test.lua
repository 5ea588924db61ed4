-- SPDX-License-Identifier: MIT
--- What the tool adds to each operation, counted in instructions, which no
--- other load on the machine changes: two runs of different length under
--- callgrind, the difference divided by the operations.

local disk = require("disk")
local lu = require("luaunit")
local process = require("storlua.process")

local FEW, MANY = 5000, 25000

local suite = {}

local function read_file(path)
  local file <close> = assert(io.open(path, "rb"))
  return file:read("a")
end

local function instructions(helper, place, engine, operation, order, operations, ...)
  local out = place.path .. "/callgrind.out"
  local run = process.run {
    "valgrind", "--tool=callgrind", "--callgrind-out-file=" .. out, helper, engine,
    place.path .. "/data", operation, order, "4096", tostring(16 << 20), tostring(operations), ...,
  }
  lu.assertEquals(run.code, 0, run.stderr)
  lu.assertStrContains(run.stdout, ("operations %d "):format(operations))
  os.remove(out)
  return math.tointeger(run.stderr:match("Collected : (%d+)"))
end

-- Nil where it means nothing.
local function per_operation(...)
  local helper = os.getenv("STORLUA_HELPERS") .. "/workload_run"
  if not pcall(process.run, { "valgrind", "--version" }) then lu.skip("valgrind is not here") end
  local program = read_file(helper)
  if program:find("__asan_init", 1, true) or program:find("__tsan_init", 1, true) then
    print("left out: a sanitizer adds instructions of its own")
    return nil
  end
  local place <close> = disk.directory()
  local fill = process.run { helper, "psync", place.path .. "/data", "write", "sequential",
    tostring(1 << 20), tostring(16 << 20), "16", "stamp" }
  lu.assertEquals(fill.code, 0, fill.stderr)
  local engine, operation, order = ...
  local few = instructions(helper, place, engine, operation, order, FEW, select(4, ...))
  local many = instructions(helper, place, engine, operation, order, MANY, select(4, ...))
  local each = (many - few) / (MANY - FEW)
  print(("%s: %.1f instructions per operation"):format(table.concat({ ... }, " "), each))
  return each
end

function suite.test_psync_random_read()
  lu.assertTrue((per_operation("psync", "read", "random") or 0) <= 250)
end

function suite.test_null_random_read()
  lu.assertTrue((per_operation("null", "read", "random") or 0) <= 235)
end

return suite
