-- SPDX-License-Identifier: MIT
--- The vendors' memory_bandwidth.sh: lmbench's bw_mem for nine operations at
--- three sizes, five times each, in its own form and its own counting: each
--- byte of the size once, also for a copy, and also where only one int of four
--- is touched. The second column is MB/s, 10^6 bytes a second.

local bandwidth = require("storlua.memory.bandwidth")
local conditions = require("storlua.memory.conditions")
local errors = require("storlua.errors")

local bw_mem = {
  SIZES = {
    { text = "8k", bytes = 8192, title = "L1 cache" },
    { text = "128k", bytes = 131072, title = "L2 cache" },
    { text = "50m", bytes = 52428800, title = "Main mem" },
  },
  OPERATIONS = {
    { name = "rd", operation = "lm_rd" }, { name = "wr", operation = "lm_wr" },
    { name = "rdwr", operation = "lm_rdwr" }, { name = "cp", operation = "lm_cp" },
    { name = "frd", operation = "lm_frd" }, { name = "fwr", operation = "lm_fwr" },
    { name = "fcp", operation = "lm_fcp" },
    { name = "bzero", operation = "zero", kernel = "memset" },
    { name = "bcopy", operation = "memcpy" },
  },
  REPEATS = 5,
}

-- lmbench prints two digits from 1 on, and six below.
local function figure(value)
  return ((value < 1 and "%.6f" or "%.2f"):format(value):gsub(",", "."))
end

local function title(size, name, first)
  return ("%s bandwidth %s test%s"):format(size.title, name, first and " with # process" or "")
end

--- Runs it all. put(line) gets each line of the vendors' form; t records.
---@async
---@param t storlua.Run
---@param put fun(line: string)
---@param more table threads, cpus, pages, limit_seconds, sample_seconds
function bw_mem.run(t, put, more)
  for _, op in ipairs(bw_mem.OPERATIONS) do
    for i, size in ipairs(bw_mem.SIZES) do
      local given = { operation = op.operation, kernel = op.kernel, size = size.bytes,
                      samples = bw_mem.REPEATS }
      for key, value in pairs(more) do given[key] = value end
      put(title(size, op.name, i == 1))
      local result, spec = conditions.around(bandwidth.run, given)
      -- The title says which cache the vendor meant; nothing here proves it.
      result.level = "unknown"
      t:memory(("bw_mem.%s.%s"):format(op.name, size.text),
        { spec = spec, result = result, reason = bandwidth.problem(result) })
      for _, sample in ipairs(result.samples) do
        put(("%s %s"):format(figure(size.bytes / 1e6),
          figure(sample.payload_bytes * 1000.0 / sample.ns)))
      end
      if result["end"] ~= "complete" then
        errors.raise("TIMEOUT", "bw_mem %s %s: %s", op.name, size.text,
          bandwidth.problem(result))
      end
    end
  end
end

return bw_mem
