-- SPDX-License-Identifier: MIT
--- A memory test beside other work: passes until the scope that it is spawned
--- into is left, with as much of the memory as is free at each.

local ecc = require("storlua.memory.ecc")
local errors = require("storlua.errors")
local limits = require("storlua.memory.limits")
local scheduler = require("storlua.scheduler")
local task = require("storlua.task")

local watch = { retry_seconds = 1 }

---@class storlua.MemoryWatch
---@field t storlua.Run
---@field case_id string
---@field test table storlua.memory.test
---@field spec storlua.MemoryTestSpec of the next pass
---@field most integer bytes
---@field sum storlua.MemoryTally

local function record(w, spec, result)
  w.t:memory(w.case_id, { spec = spec, result = result, reason = w.test.problem(result, w.sum),
                          labels = { pass = spec.first_pass + 1 } })
  if result.ecc then w.t:note(w.case_id .. ".ecc", ecc.text(result.ecc)) end
end

-- What a cancelled pass has found counts too.
local function run_pass(w)
  local one <close> = w.test.start(w.spec)
  local ok, err = pcall(one.wait, one)
  local result = one:finish()
  if result then
    w.sum:add(result)
    scheduler.shield(record, w, one.spec, result)
  end
  if not ok then error(err, 0) end
  return true
end

-- Returns true after a pass; or why there was no memory for it.
local function try_pass(w)
  local now = limits.read()
  w.spec.memory = math.min(w.most, now.room_bytes)
  if w.spec.memory < (w.spec.threads or 1) << 20 then return false, limits.text(now) end
  local done, err = errors.try(run_pass, w)
  if not done and err.code ~= "ENOMEM" then error(err, 0) end
  return done, err and err.message
end

local function run_passes(w)
  local waits, is_short = 0, false
  while true do
    local done, why = try_pass(w)
    if done then
      w.spec.first_pass = w.spec.first_pass + 1
    elseif not is_short then
      waits = waits + 1
      w.t:note(w.case_id .. ".waited", ("for memory, %d times, last: %s"):format(waits, why))
    end
    is_short = not done
    if is_short then task.sleep(watch.retry_seconds) end
  end
end

local function conclude(w)
  w.t:note(w.case_id .. ".verified", w.sum:text())
  local missed = w.sum:untested()
  if missed then w.t:note(w.case_id .. ".not_tested", missed) end
  -- A run that was stopped is not blamed for what it did not come to.
  if w.spec.rehearsal or scheduler.stopped_by then return end
  w.t:check(w.case_id .. ".verified", w.sum.verified_bytes > 0, "the memory was not tested: "
    .. "nothing was verified before the run ended; let it run longer, or test less memory")
end

--- Runs passes until it is cancelled, recording each. At most `most` bytes are
--- taken.
---@async
---@param t storlua.Run
---@param case_id string
---@param test table storlua.memory.test
---@param given table storlua.MemoryTestSpec
---@param most integer
function watch.run(t, case_id, test, given, most)
  local w = { t = t, case_id = case_id, test = test, most = most, spec = { seed = t.seed },
              sum = test.tally(given.patterns, t.resume and t.resume.memory[case_id]) }
  for key, value in pairs(given) do w.spec[key] = value end
  w.spec.passes, w.spec.first_pass = 1, w.sum.passes
  local _, err = pcall(run_passes, w)
  scheduler.shield(conclude, w)
  error(err, 0)
end

return watch
