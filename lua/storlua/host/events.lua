-- SPDX-License-Identifier: MIT
--- What the C side tells the host: signals, stalls, interrupts, callbacks that
--- failed. A part of storlua.host, loaded when the first of them comes.

local core = require("storlua.core.host")
local errors = require("storlua.errors")
local failure = require("storlua.failure")
local host = require("storlua.host")
local loop = require("storlua.core.loop")
local scheduler = require("storlua.scheduler")

local events = {}

local stop_reason
local WHERE, STOP = 1, 2 -- what an interrupt asks; enum sl_stall_ask

--- The first request to stop.
---@param signal integer
---@param name string "SIGINT"
function events.stop(signal, name)
  if scheduler.stopped_by then return end
  scheduler.stopped_by = signal
  local n = scheduler.open_cleanups
  local cleanups = n == 0 and "" or (": %d clean-up%s may run"):format(n, n == 1 and "" or "s")
  host.say("stopping (", name, ")", cleanups, signal == 2 and "; press Ctrl-C again to give up"
    or "; a second signal ends it at once")
  stop_reason = errors.new { code = "SIGNAL", signal = signal, message = "stopped by " .. name }
  scheduler.stop_root(stop_reason)
end

local busy -- where the loop was when it was asked
local raised = { turn = nil, times = 0 }

local function is_library(info)
  return info.what == "C" or info.short_src:match("^storlua/")
end

-- The place in the script that runs: the first frame that is not the library's.
local function place()
  local first
  for level = 3, 40 do
    local info = debug.getinfo(level, "Sl")
    if not info then break end
    if info.currentline > 0 then
      local text = info.short_src .. ":" .. info.currentline
      if not is_library(info) then return text end
      first = first or text
    end
  end
  return first
end

--- Runs inside a hook on whatever Lua code is busy. What it returns is raised
--- there, but never inside the library or a clean-up. A script that swallows it
--- and goes on meets it again right behind its pcall.
---@param what integer
---@param may_raise boolean
---@return any error to raise, or nil
---@return boolean insist whether to ask again at the next instruction
function events.interrupt(what, may_raise)
  local t = scheduler.running()
  if what & WHERE ~= 0 then busy = { where = place(), task = t and t.name } end
  if what & STOP == 0 or not may_raise then return nil, false end
  if t and t.shield and loop.now_ns() < t.shield.end_ns then return nil, false end
  if is_library(debug.getinfo(2, "S")) then return nil, true end
  events.stop(core.stopped_by()) -- the loop may not have come to it
  if raised.turn ~= scheduler.turns then raised.turn, raised.times = scheduler.turns, 0 end
  raised.times = raised.times + 1
  return stop_reason, raised.times > 1
end

--- The loop had been busy.
---@param seconds number
function events.stall(seconds)
  local info = busy or {}
  busy = nil
  info.seconds = seconds
  host.on_stall(info)
end

--- A callback of the C side raised.
---@param text string message and traceback
function events.failure(text)
  local message, traceback = text:match("^(.-)\nstack traceback:\n(.*)$")
  local err = errors.new { code = "ERROR", message = message or text }
  if traceback then failure.remember(err, traceback) end
  scheduler.callback_error = scheduler.callback_error or err
  scheduler.stop_root(err)
end

return events
