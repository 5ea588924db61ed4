-- SPDX-License-Identifier: MIT
--- What a test of memory can reach in its time. A short run that takes as much
--- memory as a long one comes to the end of no pattern, and has tested nothing.

local loop = require("storlua.core.loop")
local memory_test = require("storlua.memory.test")
local quantity = require("storlua.quantity")

local fit = {}

local MIB <const> = 1 << 20
local TRIAL_BYTES <const> = 16 * MIB -- for each thread
-- The trial may lie in a cache, and takes, touches and locks little memory.
local SLOWER <const> = 2
local FADE_SECONDS <const> = 10
local FADE_SHARE <const> = 1 / 10 -- of the time, for each of two pauses

local function has_fade(patterns)
  if not patterns then return true end
  for _, name in ipairs(patterns) do
    if name == "fade" then return true end
  end
  return false
end

-- Seconds that one pass takes, without the pauses of fade.
local function pass_seconds(bytes, given)
  local trial_bytes = math.min(bytes, TRIAL_BYTES * given.threads)
  local start_ns = loop.monotonic_ns()
  memory_test.run { memory = trial_bytes, threads = given.threads, patterns = given.patterns,
    pages = given.pages, lock = given.lock, seed = given.seed, passes = 1, fade_seconds = 0,
    ecc = false }
  return (loop.monotonic_ns() - start_ns) / 1e9 * SLOWER * bytes / trial_bytes
end

--- How much memory to take, and how long to pause. What was asked for is never
--- changed, only told to be too much.
---@async
---@param given table bytes (most that may be taken), is_asked (not a default), seconds? and
--- began_ns (monotonic: when they began), fade_seconds? (asked for), threads, patterns?, pages,
--- lock, seed
---@return {bytes: integer, fade_seconds: number, text: string?} plan text: what people should know
function fit.plan(given)
  local plan = { bytes = given.bytes, fade_seconds = given.fade_seconds or FADE_SECONDS }
  if not given.seconds then return plan end
  local pauses = 0
  if has_fade(given.patterns) then
    if not given.fade_seconds then
      plan.fade_seconds = math.min(FADE_SECONDS, given.seconds * FADE_SHARE)
    end
    pauses = 2 * plan.fade_seconds
  end
  local needed = pass_seconds(given.bytes, given)
  -- what went before, the trial too, has taken of the time
  local room = given.seconds - (loop.monotonic_ns() - given.began_ns) / 1e9 - pauses
  if needed <= room then return plan end
  local size = quantity.size_text(given.bytes)
  if given.is_asked or room <= 0 then
    plan.text = ("a pass over %s may take %.0f s, with the pauses of fade: %s may not reach every "
      .. "pattern"):format(size, needed + pauses, quantity.duration_text(given.seconds))
    return plan
  end
  local fits = given.bytes * room / needed // MIB * MIB
  plan.bytes = math.max(math.tointeger(fits) or 0, given.threads * MIB)
  plan.text = ("%s of the %s that may be taken: more would not be tested to the end in %s"):format(
    quantity.size_text(plan.bytes), size, quantity.duration_text(given.seconds))
  if pauses > 0 and plan.fade_seconds < FADE_SECONDS and not given.fade_seconds then
    plan.text = plan.text .. ("; the pauses of fade are %.1f s"):format(plan.fade_seconds)
  end
  return plan
end

return fit
