-- SPDX-License-Identifier: MIT
--- Runs the programs that storlua is compared with and reads what they say.
--- Every function returns nil and a reason where its program is missing.

local dkjson = require("dkjson")
local process = require("storlua.process")

local peers = {
  programs = nil, -- folder of bare_pread and start_up
}

local run = process.run

local found = {}
--- Whether a program of the distribution is there.
---@param name string
---@return boolean
function peers.have(name)
  if found[name] == nil then
    found[name] = process.try_run { "which", name }.code == 0
  end
  return found[name]
end

--- The bare pread loop: reads per second.
---@param path string "-" reads nothing
---@param timed boolean|nil the clock is read before and after each read
---@return number
function peers.bare_pread(path, record_bytes, seconds, seed, timed)
  local result = run { peers.programs .. "/bare_pread", path, tostring(record_bytes),
    tostring(seconds), tostring(seed), timed and "timed" or nil }
  local reads, ns = result.stdout:match("^(%d+) (%d+)")
  return math.tointeger(reads) / math.tointeger(ns) * 1e9
end

--- One fio job. Rates are fio's own, from its counts and its run time, which
--- it gives in whole milliseconds.
---@param settings table name → value, true for a flag without one
---@return table|nil {read = {iops, mib_s}, write = {iops, mib_s}}
---@return string|nil reason
function peers.fio(settings)
  if not peers.have("fio") then return nil, "fio is not installed" end
  local argv = { "fio", "--name=peer", "--thread", "--output-format=json", "--fallocate=none" }
  local names = {}
  for name in pairs(settings) do names[#names + 1] = name end
  -- The options of an engine are known after its name only.
  table.sort(names, function(a, b)
    if (a == "ioengine") ~= (b == "ioengine") then return a == "ioengine" end
    return a < b
  end)
  for _, name in ipairs(names) do
    local value = settings[name]
    argv[#argv + 1] = value == true and "--" .. name or ("--%s=%s"):format(name, value)
  end
  local text = run(argv).stdout
  local report = assert(dkjson.decode(text:sub((assert(text:find("{", 1, true), text)))))
  local job, rates = report.jobs[1], {}
  for _, direction in ipairs { "read", "write" } do
    local part = job[direction]
    if part.total_ios > 0 and part.runtime > 0 then
      rates[direction] = {
        iops = part.total_ios / part.runtime * 1000,
        mib_s = part.io_bytes / part.runtime * 1000 / 2^20,
      }
    end
  end
  return rates
end

--- One dd run: MiB/s as dd prints it.
---@param operands string[]
---@return number|nil
function peers.dd(operands)
  local argv = { "dd", table.unpack(operands) }
  local text = run(argv).stderr
  local bytes, seconds = text:match("(%d+) bytes.-, ([%d.e+-]+) s,")
  if not bytes then error("dd says: " .. text, 0) end
  return math.tointeger(bytes) / tonumber(seconds) / 2^20
end

--- Starts commands in turn: for each {median_ns, resident_bytes, status}.
---@param rounds integer
---@param commands string[][]
---@return table[]
function peers.start_up(rounds, commands)
  local argv = { peers.programs .. "/start_up", tostring(rounds) }
  for _, command in ipairs(commands) do
    argv[#argv + 1] = "--"
    table.move(command, 1, #command, #argv + 1, argv)
  end
  local results = {}
  for ns, bytes, status in run(argv).stdout:gmatch("(%d+) (%d+) (-?%d+)\n") do
    results[#results + 1] = { median_ns = math.tointeger(ns),
      resident_bytes = math.tointeger(bytes), status = math.tointeger(status) }
  end
  return results
end

--- User instructions of one operation: a script that does `n` of them is run
--- twice under callgrind, and what all else costs drops out of the difference.
---@param command fun(n: integer): string[]
---@param few integer
---@param many integer
---@return number|nil
---@return string|nil reason
function peers.instructions(command, few, many)
  if not peers.have("valgrind") then return nil, "valgrind is not installed" end
  local function count(n)
    local argv = { "valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null" }
    table.move(command(n), 1, #command(n), #argv + 1, argv)
    local most = 0
    -- Supervisor and host report apart; the host is the one that works.
    for collected in run(argv).stderr:gmatch("Collected : (%d+)") do
      most = math.max(most, math.tointeger(collected))
    end
    return most
  end
  return (count(many) - count(few)) / (many - few)
end

return peers
