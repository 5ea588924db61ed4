-- SPDX-License-Identifier: MIT
--- tools/bench memory: storlua's bandwidth against loops as a compiler makes
--- them, mbw, sysbench and the C library, in turn within one run.

local bandwidth = require("storlua.memory.bandwidth")
local memory_peers = require("memory_peers")
local memory_test = require("storlua.memory.test")
local peers = require("peers")
local report = require("report")
local rounds = require("rounds")
local storlua = require("storlua")

local PASSES <const> = 5

-- The best of the operations under one name: what the machine can do.
local function ours(opt, operations)
  local best = 0
  for _, operation in ipairs(operations) do
    if #bandwidth.kernels(operation) > 0 then
      local r = bandwidth.run { operation = operation, size = opt.mib << 20, cpus = { opt.cpu },
        samples = PASSES, sample_seconds = 0.03 }
      best = math.max(best, assert(not bandwidth.problem(r) and r.best_mb_s,
        bandwidth.problem(r)))
    end
  end
  return best
end

local function case(opt, title, operations, loops, others)
  local variants = { { name = "storlua", run = function() return ours(opt, operations) end } }
  local names = {}
  for _, name in ipairs(loops) do
    variants[#variants + 1] = { name = name, run = function()
      return memory_peers.loops(opt.cpu, opt.mib, PASSES)[name]
    end }
  end
  for _, other in ipairs(others or {}) do variants[#variants + 1] = other end
  for i = 2, #variants do names[#names + 1] = variants[i].name end
  return { title = title, variants = variants,
           comparisons = { { id = "M", a = "storlua", b = names, least = 1.0 } } }
end

local function sysbench(opt, operation)
  return { name = "sysbench", run = function()
    return memory_peers.sysbench(opt.cpu, opt.mib, PASSES, operation)
  end }
end

local function cases(opt)
  local mbw = { name = "mbw", run = function()
    return memory_peers.mbw(opt.cpu, opt.mib, PASSES)
  end }
  return {
    case(opt, "read", { "read" }, { "sum" }, { sysbench(opt, "read") }),
    case(opt, "write", { "write", "write_nt" }, { "store", "memset" }, { sysbench(opt, "write") }),
    case(opt, "copy", { "copy", "copy_nt" }, { "copy", "memcpy" }, { mbw }),
    case(opt, "scale", { "scale" }, { "scale" }),
    case(opt, "add", { "add" }, { "add" }),
    case(opt, "triad", { "triad" }, { "triad" }),
    { title = "integrity: patterns written and verified",
      variants = {
        { name = "memtest", run = function()
          return memory_test.run { memory = opt.mib << 20, passes = 1, fade_seconds = 0.001 }.mb_s
        end },
        { name = "copy", run = function() return ours(opt, { "copy", "copy_nt" }) end },
      },
      comparisons = { { id = "M", a = "memtest", b = "copy", least = 0.8 } } },
  }
end

return storlua.procedure {
  summary = "Measure storlua's memory bandwidth against compiled loops, mbw and sysbench.",
  description = [[
One thread on one CPU, buffers of one size, MB/s (10^6) of bytes that the loop
reads and writes, the best of five passes. Variants run in turn; a line gives
the median of the rounds' own ratios and their quartiles.]],
  informational = true,
  options = {
    { name = "rounds", type = "count", default = 5, min = 1, help = "how often each variant runs" },
    { name = "mib", type = "count", default = 256, min = 1, help = "size of each buffer" },
    { name = "cpu", type = "count", default = 0, help = "the CPU" },
    { name = "only", type = "string", help = "cases to measure, such as read,copy" },
  },
  run = function(_, opt)
    peers.programs = os.getenv("STORLUA_PEERS")
    local missed, compared = 0, 0
    for _, one in ipairs(cases(opt)) do
      local name = one.title:match("^%w+")
      if not opt.only or ("," .. opt.only .. ","):find("," .. name .. ",", 1, true) then
        local samples, missing = rounds.measure(one.variants, opt.rounds)
        local lines = report.compare(one, samples, missing)
        report.print(one, samples, missing, lines)
        for _, line in ipairs(lines) do
          compared = compared + 1
          if line.ok == false then missed = missed + 1 end
        end
      end
    end
    print(("\n%d comparisons, %d missed"):format(compared, missed))
  end,
}
