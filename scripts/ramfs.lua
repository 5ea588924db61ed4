#!/usr/bin/env storlua
-- SPDX-License-Identifier: MIT
--- The iozone matrix on tmpfs, ramfs and a RAM disk, beside the raw bandwidth
--- of the same memory.

local bandwidth = require("storlua.memory.bandwidth")
local conditions = require("storlua.memory.conditions")
local errors = require("storlua.errors")
local iozone = require("storlua.iozone")
local iozone_arguments = require("storlua.iozone.arguments")
local limits = require("storlua.memory.limits")
local quantity = require("storlua.quantity")
local ramfs = require("storlua.ramfs")
local storlua = require("storlua")
local workload = require("storlua.workload")

local MEMORY_BYTES <const> = 64 << 20
local MEMORY_STEP <const> = 64 << 10

local function kinds_of(opt)
  local list = {}
  for name in opt.on:gmatch("[^,%s]+") do
    if not ramfs.COST[name] then
      storlua.usage(("--on: there is no '%s': %s"):format(name, table.concat(ramfs.KINDS, ", ")))
    end
    list[#list + 1] = name
  end
  if not list[1] then storlua.usage("--on: nothing to measure") end
  return list
end

local function matrix_of(opt, kind, path)
  local argv = {}
  for word in opt.flags:gmatch("%S+") do argv[#argv + 1] = word end
  argv[#argv + 1] = "-f"
  argv[#argv + 1] = path
  local parsed = iozone_arguments.parse(argv)
  parsed.prefix = kind
  return iozone.matrix(parsed)
end

-- ramfs would take all of the memory: this is the limit it does not have.
local function check_matrix(opt, kinds)
  local largest = matrix_of(opt, kinds[1], "storlua.ramfs"):largest_bytes()
  if largest > opt.size * 7 // 8 then
    storlua.usage(("--size %s is too small for files of %s (the flags' -g)"):format(
      quantity.size_text(opt.size), quantity.size_text(largest)))
  end
end

-- Before the room is judged: what a killed run has left may be what takes it.
local function clean(t)
  local cleaned, left = ramfs.clean()
  for _, text in ipairs(cleaned) do t:note("cleaned", text) end
  for _, text in ipairs(left) do t:note("not_cleaned", text) end
end

local function check_room(opt, kinds)
  for _, kind in ipairs(kinds) do
    local why = ramfs.no_room(kind, opt.size)
    if why then storlua.usage("--size: " .. why) end
  end
end

-- Whether O_DIRECT and O_SYNC are taken here, tried and not assumed.
local function open_modes(path)
  local function try(fields)
    fields.path, fields.operation = path, "write"
    fields.record_bytes, fields.size_bytes = "64k", "64k"
    local result, err = workload.try_run(fields)
    if result and result.error then return "refused: " .. result.error.code end
    return result and "taken" or "refused: " .. (err.hint or err.code)
  end
  return try { direct = true }, try { open_sync = "full" }
end

-- And what they mean.
local MEANING = {
  tmpfs = "the file is the page cache: nothing is left to pass by or to sync",
  ramfs = "the file is the page cache: nothing is left to pass by or to sync",
  ramdisk = "O_DIRECT spares the copy in the page cache, O_SYNC makes it at once; the disk "
    .. "itself is memory",
}

local function add(best, name, direction)
  if direction and direction.io_ns > 0 then
    best[name] = math.max(best[name] or 0, direction.bytes * 1000.0 / direction.io_ns)
  end
end

-- The matrix writes its results as events; what the comparison needs of them is
-- the best of each column.
local function best_rates(t, matrix)
  local best, measure = {}, t.measure
  local watched = setmetatable({ measure = function(_, id, spec, options)
    local result = measure(t, id, spec, options)
    local column = id:match("[^.]*$")
    add(best, column, result.read or result.write)
    return result
  end }, { __index = function(_, key)
    local value = t[key]
    if type(value) ~= "function" then return value end
    return function(_, ...) return value(t, ...) end
  end })
  matrix:run(watched)
  return best
end

local function measure_on(t, opt, kind)
  local mounted, err = ramfs.try_mount(kind, opt.size, { disk = opt.disk,
    file_system = opt.file_system })
  if not mounted then
    t:note("not_measured." .. kind, err.message)
    print(("  %s: not measured: %s"):format(kind, err.message))
    t:check(kind .. ".mounted", false, "%s", err.message)
    return nil
  end
  local _ <close> = mounted
  local path = mounted.path .. "/storlua.ramfs"
  local matrix = matrix_of(opt, kind, path)
  local direct, sync = open_modes(mounted.path .. "/storlua.probe")
  t:note(kind .. ".is", mounted.name)
  t:note(kind .. ".O_DIRECT", direct)
  t:note(kind .. ".O_SYNC", sync)
  for other, reason in pairs(mounted.reasons or {}) do t:note(kind .. ".no_" .. other, reason) end
  local best = best_rates(t, matrix)
  best.name, best.kind, best.direct, best.sync = mounted.name, kind, direct, sync
  return best
end

-- Twice the size is what the copy takes; the caches of small machines are small.
local function memory_size()
  local most = limits.read().room_bytes // 3
  return math.min(MEMORY_BYTES, most // MEMORY_STEP * MEMORY_STEP)
end

-- The matrix is measured by now: memory that became short costs only its figure.
local function measure_memory(t)
  local rates = { bytes = memory_size(), missing = {} }
  for _, operation in ipairs { "read", "write", "copy" } do
    local result, spec = errors.try(conditions.around, bandwidth.run, { operation = operation,
      size = rates.bytes })
    if result then
      result.level = "unknown"
      t:memory("memory." .. operation, { spec = spec, result = result,
        reason = bandwidth.problem(result) })
      rates[operation] = result.mb_s
    else
      local why = spec.hint or spec.message
      t:note("not_measured.memory." .. operation, why)
      rates.missing[#rates.missing + 1] = ("memory, %s: not measured: %s"):format(operation, why)
    end
  end
  return rates
end

local COLUMNS = { "write", "rewrite", "read", "reread", "random_read", "random_write" }

local function figure(value, of)
  if not value then return ("%15s"):format("-") end
  if not of then return ("%8.0f       "):format(value) end
  return ("%8.0f (%3.0f%%)"):format(value, 100 * value / of)
end

local function rate(value) return value and ("%.0f"):format(value) or "-" end

local function print_comparison(memory, results)
  print("\nbest of the matrix, MB/s (10^6), and its share of what the memory reads or writes:")
  local head = { ("  %-46s"):format("") }
  for _, name in ipairs(COLUMNS) do head[#head + 1] = ("%15s"):format(name:gsub("_", " ")) end
  print(table.concat(head))
  for _, one in ipairs(results) do
    local row = { ("  %-46s"):format(one.name) }
    for _, name in ipairs(COLUMNS) do
      row[#row + 1] = figure(one[name], name:find("write") and memory.write or memory.read)
    end
    print(table.concat(row))
  end
  print(("  %-46s read %s, write %s, copy %s moved"):format("memory, 1 thread, "
    .. quantity.size_text(memory.bytes), rate(memory.read), rate(memory.write), rate(memory.copy)))
  for _, text in ipairs(memory.missing) do print("  " .. text) end
  for _, one in ipairs(results) do
    print(("  %s: O_DIRECT %s; O_SYNC %s\n    %s"):format(one.name, one.direct, one.sync,
      MEANING[one.kind]))
  end
end

return storlua.procedure {
  summary = "The iozone matrix on tmpfs, ramfs and a RAM disk, beside raw memory.",
  description = [[
Mounts each in a mount namespace of its own, runs iozone's command line on it,
unmounts it, and prints the comparison. It measures the way through the file
system (system call, copy, page lookup), not the memory: the percentages say how
far that is. A RAM disk is brd, else zram, else a loop device on tmpfs. Needs
root. What a killed run has left is cleaned first.]],

  options = {
    { name = "on", type = "string", default = "tmpfs,ramfs,ramdisk",
      help = "which of them, in this order" },
    { name = "size", short = "s", type = "size", default = "32M", min = "1M",
      help = "of each file system" },
    { name = "flags", type = "string", default = "-Raz -i 0 -i 1 -i 2 -S 512 -g 8M -+r",
      help = "iozone's command line, as in the article" },
    { name = "disk", type = "choice", choices = { "brd", "zram", "loop" },
      help = "only this kind of RAM disk" },
    { name = "file-system", type = "choice", choices = { "ext2", "ext4" }, default = "ext2",
      help = "on the RAM disk; ext2 has the article's blocks of 1 KiB" },
  },

  target = false,
  run = function(t, opt)
    local kinds = kinds_of(opt)
    check_matrix(opt, kinds)
    clean(t)
    check_room(opt, kinds)
    t:note("memory", limits.text(limits.read()))
    local results = {}
    for _, kind in ipairs(kinds) do
      t:phase(kind)
      results[#results + 1] = measure_on(t, opt, kind)
    end
    if not results[1] then return end
    t:phase("memory")
    print_comparison(measure_memory(t), results)
  end,
}
