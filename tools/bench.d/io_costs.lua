-- SPDX-License-Identifier: MIT
--- What is not a rate: instructions, start-up, memory, size of the binary.
--- Each function returns a finished case, samples and missing for report.lua.

local peers = require("peers")
local process = require("storlua.process")

local costs = {}

--- User instructions of one operation.
function costs.instructions(c)
  local value, reason = peers.instructions(function(n)
    return { c.storlua, c.here .. "/operations.lua", c.path, tostring(n) }
  end, 2000, 22000)
  local case = {
    title = "user instructions of a 4 KiB random read (callgrind, difference of two run lengths)",
    variants = { { name = "storlua" } },
    comparisons = { { id = "T6", a = "storlua", most = 250, unit = "instructions/op",
      note = "fio psync: about 2300" } },
  }
  return case, { storlua = { rate = { value } } }, { storlua = reason }
end

local function stripped_bytes(path)
  local copy = process.run { "mktemp" }.stdout:gsub("\n", "")
  process.run { "strip", "-o", copy, path }
  local bytes = process.run { "stat", "-c", "%s", copy }.stdout
  process.run { "rm", "-f", copy }
  return math.tointeger(tonumber(bytes))
end

--- Hello world from a script, and the largest resident set of a read workload.
function costs.start_up(c)
  local hello = c.here .. "/hello.lua"
  local commands = { { "/bin/true" }, { c.storlua, hello },
    { c.storlua, c.here .. "/operations.lua", c.path, "20000" } }
  local missing, samples = {}, {}
  local names = { "/bin/true", "release", "workload" }
  if c.static then
    table.insert(commands, { c.static, hello })
    table.insert(names, "static")
    samples["static binary"] = { MB = { stripped_bytes(c.static) / 1e6 } }
  else
    missing.static, missing["static binary"] = "no static build", "no static build"
  end
  if peers.have("fio") then
    table.insert(commands, { "fio", "--version" })
    table.insert(names, "fio --version")
  end
  for i, result in ipairs(peers.start_up(math.max(c.rounds, 31), commands)) do
    if result.status ~= 0 then error(names[i] .. " ended with " .. result.status, 0) end
    samples[names[i]] = { ms = { result.median_ns / 1e6 },
      resident_MB = { result.resident_bytes / 1e6 } }
  end
  local case = { title = "start-up: hello world from a script; resident set; size",
    variants = {}, comparisons = {
      { id = "T21", a = "static", b = "/bin/true", metric = "ms", most = 1.5 },
      { id = "T21", a = "release", b = "/bin/true", metric = "ms", most = 2.0 },
      { id = "T21", a = "static binary", metric = "MB", most = 3.0, unit = "MB",
        note = "stripped" },
      { id = "T21", a = "workload", metric = "resident_MB", most = 12, unit = "MB",
        note = "20,000 reads of 4 KiB" },
    } }
  for _, name in ipairs { "/bin/true", "static", "release", "fio --version", "workload",
    "static binary" } do
    samples[name] = samples[name] or {}
    table.insert(case.variants, { name = name })
  end
  return case, samples, missing
end

return costs
