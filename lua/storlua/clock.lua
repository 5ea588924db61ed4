-- SPDX-License-Identifier: MIT
--- The two times of a script: how long the run has lasted, and the clock that
--- times operations. Both are integers in nanoseconds and never go back.

local loop = require("storlua.core.loop")

local clock = {}

--- The clock of the run: boot time, or virtual time in tests. For durations,
--- deadlines and rounds.
---@return integer ns
function clock.now_ns() return loop.now_ns() end

--- The monotonic clock that times operations. For short spans.
---@return integer ns
function clock.monotonic_ns() return loop.monotonic_ns() end

return clock
