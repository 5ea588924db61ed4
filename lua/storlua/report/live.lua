-- SPDX-License-Identifier: MIT
--- What a person sees while a run goes on. On a terminal one line is redrawn;
--- in a log there are plain lines, one for each measure and round, and a sign
--- of life each minute. At the end the verdict.

local core = require("storlua.core.run_dir")
local format = require("storlua.report.format")
local loop = require("storlua.core.loop")
local model = require("storlua.report.model")
local prompt = require("storlua.core.prompt")
local report_text = require("storlua.report.text")
local task = require("storlua.task")

local live = {
  redraw_seconds = 0.5,
  sign_of_life_seconds = 60,
  measure_interval_ns = 1000000000, -- in a log: repeated measures, at most this often
  round_interval_ns = 1000000000, -- and rounds,
  rounds_at_once = 60, -- but for as many that come faster
}

local COLORS = { passed = "\27[1;32m", failed = "\27[1;31m", interrupted = "\27[1;33m",
                 skipped = "\27[1;33m" }

---@class storlua.LiveReporter
local Live = {}
Live.__index = Live
Live.__name = "storlua.LiveReporter"

---@param options table quiet, run_dir, write (for tests), terminal (for tests)
---@return storlua.LiveReporter
function live.new(options)
  local terminal = options.terminal
  if terminal == nil then terminal = core.is_terminal(1) end
  local no_color = os.getenv("NO_COLOR")
  return setmetatable({
    model = model.new(), quiet = options.quiet, run_dir = options.run_dir, terminal = terminal,
    color = terminal and not (no_color and no_color ~= ""),
    write = options.write or require("storlua.report").stdout_writer(), shown_ns = {},
    rounds_due_ns = -math.huge, rounds_left_out = 0,
    last_output_ns = loop.now_ns(),
  }, Live)
end

local function clear(self)
  if self.drawn then
    self.write("\r\27[K")
    self.drawn = false
  end
end

local function line(self, text)
  if self.quiet then return end
  self.last_output_ns = loop.now_ns()
  self:put(text .. "\n")
end

--- Text above the line of progress; none with --quiet.
---@param text string
function Live:put(text)
  if self.quiet then return end
  clear(self)
  self.write(text)
end

local function rates_of(result)
  local parts = {}
  for _, name in ipairs { "write", "read" } do
    local direction = result[name]
    if direction and direction.mib_s then
      local p99 = direction.latency and direction.latency.p99_ns
      local flushed = name == "write" and result.flush and result.flush.mib_s_with_flush
      parts[#parts + 1] = ("%s %s MB/s%s%s"):format(name,
        format.number(direction.mib_s * 1.048576), p99 and ", p99 " .. format.ns(p99) or "",
        flushed and (", %s MB/s with the flush"):format(format.number(flushed * 1.048576)) or "")
    end
  end
  if result.verify then
    parts[#parts + 1] = ("%s verified, %d bad sectors"):format(
      format.bytes(result.verify.sectors * 512), result.verify.bad_sectors)
  end
  return table.concat(parts, "; ")
end

-- What a good measure adds to the line of its round.
local function add_to_round(round, fields)
  local result = fields.result
  for _, name in ipairs { "write", "read" } do
    local direction = result[name]
    if direction and direction.mib_s then
      local both = result.write and result.read
      round.parts[#round.parts + 1] = ("%s %s"):format(
        both and fields.case_id .. "." .. name or fields.case_id,
        format.number(direction.mib_s * 1.048576))
    end
  end
  if result.verify then
    round.verified_bytes = round.verified_bytes + result.verify.sectors * 512
    round.bad_sectors = round.bad_sectors + result.verify.bad_sectors
  end
end

local function show_measure(self, fields)
  local id = fields.case_id
  local in_round = self.round and fields.labels and fields.labels.round
  if in_round and fields.verdict ~= "fail" and type(fields.result) == "table" then
    return add_to_round(self.round, fields)
  end
  if fields.labels and fields.labels.round then
    id = ("round %s  %s"):format(fields.labels.round, id)
  end
  local bad = fields.verdict == "fail"
  local now_ns = loop.now_ns()
  local before_ns = self.shown_ns[fields.case_id]
  if not bad and before_ns and now_ns - before_ns < live.measure_interval_ns then return end
  self.shown_ns[fields.case_id] = now_ns
  local result = type(fields.result) == "table" and rates_of(fields.result) or ""
  line(self, ("%s  %s%s"):format(bad and "FAIL" or "    ", id,
    (result ~= "" and ": " .. result or "") .. (bad and ": " .. format.line(fields.reason) or "")))
end

-- What is under test, for people; nil when not even its file system is known.
local function place_of(conditions)
  local label, filesystem = conditions.device, conditions.filesystem
  if not filesystem then return conditions.device_identity and label end
  if conditions.device_identity then return ("%s, %s"):format(label, filesystem) end
  return ("%s (%s)"):format(filesystem, label)
end

local kinds = {}

function kinds.start(self, fields)
  line(self, ("storlua %s: %s"):format(format.line(fields.script), format.line(fields.summary)))
  local conditions = fields.conditions
  local place = type(conditions) == "table" and place_of(conditions)
  if place then line(self, "      on " .. format.line(place)) end
  line(self, "      events in " .. format.line(self.run_dir) .. "/events.jsonl")
end

kinds.measure = show_measure

-- Whether there is room for the line of a round: a run of very short ones must
-- not fill a disk with them.
local function may_tell_round(self, now_ns)
  local ahead_ns = live.rounds_at_once * live.round_interval_ns
  local due_ns = math.max(self.rounds_due_ns, now_ns - ahead_ns) + live.round_interval_ns
  if due_ns > now_ns then
    self.rounds_left_out = self.rounds_left_out + 1
    return false
  end
  self.rounds_due_ns = due_ns
  return true
end

-- In a log a round is one line.
function kinds.round(self, fields)
  if fields.phase == "begin" then
    self.round = { parts = {}, verified_bytes = 0, bad_sectors = 0, begin_ns = loop.now_ns() }
    return
  end
  local round, now_ns = self.round, loop.now_ns()
  self.round = nil
  if not round or #round.parts == 0 then return end
  if not may_tell_round(self, now_ns) then return end
  local left_out = self.rounds_left_out
  self.rounds_left_out = 0
  line(self, ("      round %s%s, %s: %s MB/s; %s verified, %d bad sectors"):format(fields.round,
    left_out > 0 and (" (%d not told)"):format(left_out) or "",
    format.duration(now_ns - round.begin_ns), table.concat(round.parts, ", "),
    format.bytes(round.verified_bytes), round.bad_sectors))
end

function kinds.check(self, fields)
  if not fields.ok then
    line(self, ("FAIL  %s: %s"):format(fields.case_id, format.line(fields.message)))
  end
end

function kinds.note(self, fields)
  if fields.key:match("plan$") or fields.key:match("^plan%.") then
    line(self, "      " .. format.line(fields.value))
  end
end

function kinds.kernel(self, fields)
  if fields.class == "error" then line(self, "KERN  " .. format.line(fields.text)) end
end

---@param fields table
function Live:event(fields)
  if fields.continued then return end
  self.begin_ns = self.begin_ns or fields.t_boot_ns
  self.model:add(fields)
  local show = kinds[fields.kind]
  if show then show(self, fields) end
end

--- Takes an event of the parts before a resume: the table at the end is of all
--- that the log holds.
---@param fields table
function Live:earlier(fields) self.model:add_earlier(fields) end

-- What goes on now, in one line.
local function status(self, now)
  local m, parts = self.model, {}
  if m.round then parts[#parts + 1] = "round " .. m.round end
  if now.phase then parts[#parts + 1] = format.line(now.phase) end
  local done, total, rate = now.done_bytes or 0, now.total_bytes, nil
  local errors, bad = 0, 0
  for handle, case_id in pairs(now.active or {}) do
    local progress = handle:progress() or {}
    if not now.phase then parts[#parts + 1] = case_id end
    if (progress.elapsed_ns or 0) > 0 then
      rate = (rate or 0) + progress.bytes / (progress.elapsed_ns / 1e9)
    end
    errors, bad = errors + (progress.errors or 0), bad + (progress.bad_sectors or 0)
    done = done + (progress.bytes or 0)
  end
  if errors + bad > 0 then
    parts[#parts + 1] = ("%d errors, %d bad sectors"):format(errors, bad)
  end
  if total and total > 0 then
    parts[#parts + 1] = ("%d %%"):format(math.min(100, done * 100 // total))
  end
  if rate then parts[#parts + 1] = format.number(rate / 1e6) .. " MB/s" end
  if m.deadline_ns then
    parts[#parts + 1] = format.duration(math.max(0, m.deadline_ns - loop.now_ns())) .. " left"
  elseif self.begin_ns then
    parts[#parts + 1] = format.duration(loop.now_ns() - self.begin_ns)
  end
  return table.concat(parts, "  ")
end

--- The task that redraws the line, or gives signs of life in a log.
---@param now table the `live` table of the run
---@return function
function Live:display(now)
  if self.terminal then
    return function()
      for _ in task.every(live.redraw_seconds) do
        -- a line that wraps could not be redrawn
        local room = prompt.columns() - 2
        self.write("\r" .. format.clip(status(self, now), room) .. "\27[K")
        self.drawn = true
      end
    end
  end
  return function()
    for _ in task.every(live.sign_of_life_seconds) do
      if loop.now_ns() - self.last_output_ns >= live.sign_of_life_seconds * 1e9 then
        line(self, "      " .. status(self, now))
      end
    end
  end
end

-- The first line, and why it did not pass.
local function in_brief(lines)
  local brief = { lines[1] }
  for i = 2, #lines do
    if not lines[i]:find("^  because  ") then break end
    brief[i] = lines[i]
  end
  return table.concat(brief, "\n")
end

--- The verdict block; with --quiet only its beginning.
function Live:finish(state)
  clear(self)
  local function paint(title, verdict_status)
    if not self.color then return title end
    return (COLORS[verdict_status] or COLORS.failed) .. title .. "\27[0m"
  end
  local lines = report_text.lines(self.model:told(), {
    run_dir = self.run_dir, paint = paint, state = state,
  })
  self.write(self.quiet and in_brief(lines) .. "\n" or "\n" .. table.concat(lines, "\n") .. "\n")
end

return live
