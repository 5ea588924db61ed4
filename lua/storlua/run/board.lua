-- SPDX-License-Identifier: MIT
--- The limits of the board in a run: each measure they count for is a sample,
--- and the first one of a metric makes its threshold.

local board_watch = require("storlua.board.watch")
local threshold = require("storlua.threshold")

local run_board = {}

local function has_limits(board)
  for _, role in pairs(board.roles) do
    if role.limits[1] then return true end
  end
  return false
end

--- What Run:measure calls after each measure; nil when nothing limits it. With
--- the metrics of an earlier part, in which the measure was sampled, it only makes
--- the rules. Errors that a measure provokes, and work that is not what a limit
--- means (`no_limits`), say nothing about a speed.
---@param t storlua.Run
---@param board? storlua.Board
---@param rules storlua.Threshold[] thresholds are added here
---@return (fun(spec: table, result: table, earlier?: storlua.Metrics, options?: table))|nil
function run_board.judge(t, board, rules)
  if not board or not has_limits(board) then return nil end
  local watch, seen = board_watch.new(board), {}
  return function(spec, result, earlier, options)
    if options and (options.expect_errors or options.no_limits) then return end
    local sampled = {} -- two limits may look at one metric
    for _, sample in ipairs(watch:measure(spec, result)) do
      local metric, rule = sample.metric, sample.rule
      if not earlier and not sampled[metric] then t:sample(metric, sample.value, sample.unit) end
      sampled[metric] = true
      if earlier and not earlier:has(metric) then rule = nil end
      if rule and not seen[metric .. " " .. rule] then
        seen[metric .. " " .. rule] = true
        rules[#rules + 1] = threshold.parse { metric = metric, rule = rule }
      end
      if sample.implausible and not earlier then t:note("board." .. metric, sample.implausible) end
    end
  end
end

return run_board
