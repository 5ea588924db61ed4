-- SPDX-License-Identifier: MIT
--- What the command line of membw.lua asks for, checked before anything is
--- measured: each function raises a usage error for what does not go.

local bandwidth = require("storlua.memory.bandwidth")
local bw_mem = require("storlua.memory.bw_mem")
local limits = require("storlua.memory.limits")
local quantity = require("storlua.quantity")
local storlua = require("storlua")

local request = {
  BASIC = { "read", "write", "write_nt", "copy", "copy_nt", "scale", "add", "triad", "fill",
            "memcpy", "zero" },
  CPUS_MAX = 256, -- threads of the core's crew
  LATENCY_SAMPLES_MAX = 100,
}

local function usage(...) storlua.usage(string.format(...)) end

local function split(name, text)
  local list = {}
  for item in text:gmatch("[^,%s]+") do list[#list + 1] = item end
  if not list[1] then usage("--%s: '%s' names nothing", name, text) end
  return list
end

--- The operations of --op.
---@param opt table
---@return string[]
function request.operations(opt)
  local known = {}
  for _, name in ipairs(bandwidth.OPERATIONS) do known[name] = true end
  local list = opt.op == "all" and request.BASIC or split("op", opt.op)
  for _, name in ipairs(list) do
    if not known[name] then
      usage("--op: there is no '%s': %s, all", name, table.concat(bandwidth.OPERATIONS, ", "))
    end
  end
  return list
end

local function cpu_range(item)
  local first, last = item:match("^(%d+)%-?(%d*)$")
  first = math.tointeger(tonumber(first))
  last = last ~= "" and math.tointeger(tonumber(last)) or first
  if not first or not last or last < first or last > 4095 then
    usage("--cpus: '%s' is no CPU; 0,2 or 4-7", item)
  end
  return first, last
end

--- The CPUs of --cpus, or nil for any.
---@param opt table
---@return integer[]|nil
function request.cpus(opt)
  if not opt.cpus then return nil end
  local list, seen = {}, {}
  for _, item in ipairs(split("cpus", opt.cpus)) do
    local first, last = cpu_range(item)
    for cpu = first, last do
      if seen[cpu] then usage("--cpus: CPU %d is named twice", cpu) end
      seen[cpu] = true
      list[#list + 1] = cpu
    end
  end
  if #list > request.CPUS_MAX then
    usage("--cpus: %d CPUs, and there are at most %d threads", #list, request.CPUS_MAX)
  end
  return list
end

--- The numbers of threads of --threads.
---@param opt table
---@param cpus integer[]|nil of request.cpus
---@return integer[]
function request.threads(opt, cpus)
  local all = cpus and #cpus or bandwidth.cpus()
  if opt.threads == "auto" then return all > 1 and { 1, all } or { 1 } end
  if opt.threads == "all" then return { all } end
  local list = {}
  if opt.threads == "sweep" then
    for n = 1, all do list[n] = n end
    return list
  end
  for _, item in ipairs(split("threads", opt.threads)) do
    local n = quantity.try_count(item)
    if not n or n < 1 then
      usage("--threads: '%s' is no number; 1,2 or all, sweep, auto", item)
    end
    if n > all then usage("--threads: %d of them, and there are %d CPUs for them", n, all) end
    list[#list + 1] = n
  end
  return list
end

--- Of "all" operations those that have the kernel of --kernel.
---@param opt table
---@param operations string[]
---@return string[]
function request.with_kernel(opt, operations)
  if not opt.kernel then return operations end
  local having = {}
  for _, operation in ipairs(operations) do
    local kernels = table.concat(bandwidth.kernels(operation), " ")
    if (" " .. kernels .. " "):find(" " .. opt.kernel .. " ", 1, true) then
      having[#having + 1] = operation
    elseif opt.op ~= "all" then
      usage("--kernel: %s has no '%s' here: %s", operation, opt.kernel, kernels)
    end
  end
  if not having[1] then
    usage("--kernel: there is no '%s' here; `read` has %s", opt.kernel,
      table.concat(bandwidth.kernels("read"), " "))
  end
  return having
end

--- The size against the memory that may be taken.
---@param size integer
---@param operations string[]
---@param threads integer[]
function request.check_size(size, operations, threads)
  if size % 4096 ~= 0 then usage("--size: a multiple of 4 KiB") end
  for _, operation in ipairs(operations) do
    local buffers = bandwidth.buffers(operation) * math.max(table.unpack(threads))
    local fits = size <= math.maxinteger // buffers
    local ok, why = limits.share(fits and size * buffers or math.maxinteger)
    if not ok then usage("--size: %s has %d buffers in all: %s", operation, buffers, why) end
  end
end

-- By option: whether it was given. What is as if it was not is let pass.
local GIVEN = {
  op = function(value) return value ~= "all" end,
  threads = function(value) return value ~= "auto" end,
  samples = function(value) return value ~= bandwidth.SAMPLES end,
}

local function refuse(opt, mode, names)
  for _, name in ipairs(names) do
    local value = opt[name]
    local is_given = value
    if GIVEN[name] then is_given = GIVEN[name](value) end
    if is_given then usage("--%s does not go with %s", name:gsub("_", "-"), mode) end
  end
end

--- Refuses what the mode of the run would ignore.
---@param opt table
---@param cpus integer[]|nil
function request.check_mode(opt, cpus)
  local mode
  if opt.compat then
    mode = "--compat " .. opt.compat
    refuse(opt, mode, { "latency", "op", "size", "threads", "kernel", "samples", "no_curve" })
  elseif opt.latency then
    mode = "--latency"
    refuse(opt, mode, { "op", "threads", "kernel", "no_curve" })
    if opt.samples > request.LATENCY_SAMPLES_MAX then
      usage("--samples: at most %d with --latency", request.LATENCY_SAMPLES_MAX)
    end
  end
  if mode and cpus and #cpus > 1 then usage("--cpus: %s runs on one CPU", mode) end
  local samples = opt.compat and bw_mem.REPEATS or opt.samples
  if opt.limit < samples * opt.sample_time then
    usage("--limit %s: %d samples of %s take longer", quantity.duration_text(opt.limit), samples,
      quantity.duration_text(opt.sample_time))
  end
end

return request
