-- SPDX-License-Identifier: MIT
--- The programs that memory bandwidth is compared with, each at one size and on
--- one CPU, under one counting rule: MB/s (10^6) of bytes read and written.

local peers = require("peers")
local process = require("storlua.process")

local memory_peers = {}

local MIB_PER_MB <const> = 1.048576

local function on_cpu(cpu, argv)
  return process.run { "taskset", "-c", tostring(cpu), table.unpack(argv) }.stdout
end

--- Compiled loops and the C library: rates by name.
---@return table<string, number>
function memory_peers.loops(cpu, mib, passes)
  local rates = {}
  local text = on_cpu(cpu, { peers.programs .. "/memory_loops", tostring(mib), tostring(passes) })
  for name, rate in text:gmatch("(%w+) ([%d.]+)\n") do rates[name] = tonumber(rate) end
  return rates
end

--- mbw's memcpy, the best run: its first one has the page faults in it.
---@return number|nil, string|nil
function memory_peers.mbw(cpu, mib, passes)
  if not peers.have("mbw") then return nil, "mbw is not installed" end
  local best
  local text = on_cpu(cpu, { "mbw", "-q", "-t0", "-n", tostring(passes + 1), tostring(mib) })
  for rate in text:gmatch("Method: MEMCPY.-Copy: ([%d.]+)") do
    best = math.max(best or 0, tonumber(rate))
  end
  return best and 2 * best * MIB_PER_MB, "mbw printed no rate"
end

--- sysbench memory with a block as large as the buffers of the others.
---@param operation string read or write
---@return number|nil, string|nil
function memory_peers.sysbench(cpu, mib, passes, operation)
  if not peers.have("sysbench") then return nil, "sysbench is not installed" end
  local text = on_cpu(cpu, { "sysbench", "memory", ("--memory-block-size=%dM"):format(mib),
    ("--memory-total-size=%dM"):format(mib * passes), "--memory-oper=" .. operation,
    "--memory-access-mode=seq", "--threads=1", "run" })
  local rate = text:match("%(([%d.]+) MiB/sec%)")
  return rate and tonumber(rate) * MIB_PER_MB, "sysbench printed no rate"
end

return memory_peers
