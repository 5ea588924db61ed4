-- SPDX-License-Identifier: MIT
--- The beginning of a run: everything that may be refused is refused before
--- the first event; then folder, log, start event, the object t.

local errors = require("storlua.errors")
local event = require("storlua.event")
local event_log = require("storlua.event_log")
local failure = require("storlua.failure")
local fs = require("storlua.fs")
local object = require("storlua.run.object")
local recorder = require("storlua.run.recorder")
local reporters = require("storlua.run.reporters")
local resume = require("storlua.run.resume")
local run_board = require("storlua.run.board")
local run_dir = require("storlua.run_dir")
local scheduler = require("storlua.scheduler")
local threshold = require("storlua.threshold")

local opening = {}

local LOG_LIMIT_BYTES = 64 << 20

local function random_integer(bits)
  local source <close> = assert(io.open("/dev/urandom", "rb"))
  return (string.unpack("<I8", source:read(8))) & ((1 << bits) - 1)
end

local function version()
  local found, core = pcall(require, "storlua.core.version")
  return found and core.storlua or event.null
end

-- What an option holds, as far as JSON can say it.
local function recordable(opt)
  local copy = event.object {}
  for key, value in pairs(opt) do
    if type(key) == "string" and pcall(event.encode, { value = value }) then copy[key] = value end
  end
  return copy
end

-- The options that name what is under test.
local TARGETS = { "dir", "path", "device", "file" }

-- The thing under test: what the procedure says, else as the options name it;
-- false where no storage is tested.
local function target_of(procedure, opt, board, here)
  if procedure.target == false then return false end
  if procedure.target then return procedure:target_for(opt, board) or here end
  for _, name in ipairs(TARGETS) do
    local value = opt[name]
    if type(value) == "table" then value = value[1] end
    if type(value) == "string" and value ~= "" then return value end
  end
  return here
end

local function collect_conditions(path)
  local found, conditions = pcall(require, "storlua.conditions")
  if not found then return event.null end
  local collected, err = errors.try(conditions.collect, path or nil)
  return collected or { device = err.message }
end

-- The same disk under log and target: the log's writes are part of the load.
local function shares_device(directory, conditions)
  local identity = type(conditions) == "table" and conditions.device_identity
  if not identity then return false end
  local found = require("storlua.device").try_of_path(directory)
  local single = found and found.single
  return single ~= nil and single.number == identity.number
end

-- A medium that is not mounted leaves its folder on another device: there, all
-- would seem lost.
local function check_same_device(directory, earlier, conditions)
  local before = type(earlier) == "table" and earlier.device_identity
  if type(before) ~= "table" or not before.id then return end
  local now = type(conditions) == "table" and conditions.device_identity or {}
  if now.id == before.id then return end
  errors.raise("USAGE", "--resume %s: the run was on %s, and its place is on %s now: is the medium "
    .. "mounted?", directory, earlier.device or before.id,
    type(conditions) == "table" and conditions.device or "no known device")
end

local function settings_of(settings)
  local reports = event.list {}
  for i, report in ipairs(settings.reports or {}) do
    reports[i] = report.file and report.format .. "=" .. report.file or report.format
  end
  return {
    output = settings.output, reports = reports, quiet = settings.quiet or false,
    resume = settings.resume, destroy = event.list(settings.destroy or {}),
    cleanup_seconds = settings.cleanup_seconds, stuck_seconds = settings.stuck_seconds,
    seed = settings.seed, board = settings.board and settings.board.reference,
    log_limit_bytes = settings.log_limit_bytes,
  }
end

local function rules_of(procedure, opt, board, left)
  local list
  if procedure.thresholds_for then
    list = procedure:thresholds_for(opt, board, left)
  else
    list = procedure.thresholds or {}
    if type(list) == "function" then list = list(opt, board, left) or {} end
  end
  local rules = {}
  for i, rule in ipairs(list) do rules[i] = threshold.parse(rule) end
  return rules
end

local function cases_of(procedure, opt)
  local cases = procedure.cases or {}
  if procedure.cases_for then return procedure:cases_for(opt) end
  return type(cases) == "function" and cases(opt) or cases
end

-- Relative paths of the options are seen from here; nil where it is gone.
local function working_directory()
  local ok, path = pcall(fs.realpath, ".")
  return ok and path or nil
end

local function absolute(value, cwd)
  if type(value) == "table" then
    local list = {}
    for i, one in ipairs(value) do list[i] = absolute(one, cwd) end
    return list
  end
  local is_relative = type(value) == "string" and value ~= "" and value:sub(1, 1) ~= "/"
  return is_relative and cwd and cwd .. "/" .. value or value
end

-- What the command line does not say is as it was: the options, seen from where
-- the run was started, the board, the limits of the run itself.
local function go_on_as_before(settings, opt, left)
  left.given = settings.options_given or {}
  for key, value in pairs(left.options) do
    if not left.given[key] then opt[key] = value end
  end
  for _, name in ipairs(TARGETS) do
    opt[name] = absolute(opt[name], left.given[name] and working_directory() or left.cwd)
  end
  local given, before = settings.given or {}, left.settings
  if not given.board and before.board then
    settings.board = require("storlua.board").select(before.board, settings.script_dir)
    settings.board_name = settings.board.name
  end
  if not given.stuck then settings.stuck_seconds = before.stuck_seconds end
  if not given.log_limit then settings.log_limit_bytes = before.log_limit_bytes end
  if not given.cleanup_timeout then settings.cleanup_seconds = before.cleanup_seconds end
end

-- What an earlier part left in the folder.
local function read_folder(settings, opt)
  if not settings.resume then return nil end
  local results = {}
  local left, log_state = resume.read(settings.resume, settings.script, function(fields)
    results[#results + 1] = fields
  end)
  go_on_as_before(settings, opt, left)
  return left, log_state, results
end

local function take_over(self, left, log_state, results)
  if log_state.carried then self.recorder:adopt(log_state.carried) end
  for _, fields in ipairs(results) do resume.replay(self.recorder, fields) end
  if self.t.judge_by_board then -- rules come from measures, also from those
    for _, fields in ipairs(results) do
      if fields.kind == "measure" and fields.result then
        fields.spec.path = absolute(fields.spec.path, left.cwd)
        self.t.judge_by_board(fields.spec, fields.result, self.recorder.metrics)
      end
    end
  end
  self.recorder.totals.rounds = self.recorder.totals.rounds + left.rounds_ended
  self.recorder.soaked_before_ns = left.soaked_ns
end

local function start_fields(self, opt, settings)
  local texts = event.list {}
  for i, rule in ipairs(self.rules) do texts[i] = rule.text end
  local left, recorded = self.t.resume, recordable(opt)
  for _, name in ipairs(TARGETS) do -- seen from where the first part was started
    if left and not left.given[name] then recorded[name] = left.options[name] end
  end
  return {
    script = settings.script, summary = self.procedure.summary, version = version(),
    argv = event.list(settings.argv or {}), cwd = left and left.cwd or working_directory(),
    options = recorded, settings = settings_of(settings), thresholds = texts,
    cases = event.list(cases_of(self.procedure, opt)),
    board = settings.board_name or event.null, conditions = self.conditions,
    seed = self.t.seed, run_id = self.t.run_id, resumed = self.t.resume ~= nil,
    torn_bytes = self.t.resume and self.t.resume.torn_bytes,
    soaked_ns = self.recorder.soaked_before_ns,
    limit_bytes = self.log.limit_bytes, log_on_target = self.log_on_target,
    carried = self.t.resume and self.recorder:carried() or nil,
  }
end

-- A new file of the log begins with the start event and the sums so far.
local function head_of(self, start)
  return function()
    local fields = {}
    for key, value in pairs(start) do fields[key] = value end
    fields.resumed, fields.torn_bytes = nil, nil
    fields.continued, fields.carried = true, self.recorder:carried()
    fields.soaked_ns = self.recorder.soaked_before_ns + self.recorder:elapsed_ns()
    return fields
  end
end

local function warn_about_place(self)
  if not self.log_on_target then return end
  local script = self.settings.script_path or self.settings.script or "SCRIPT"
  -- Before the script's name it is the run's option, whatever the script's own are.
  io.stderr:write(("storlua: the event log %s lies on the device under test; storlua --output DIR "
    .. "%s … puts it elsewhere\n"):format(self.folder.path, script:match("[^/]*$")))
end

-- Everything behind the folder.
local function fill(self, opt, target)
  local settings, folder = self.settings, self.folder
  self.reporters:check_files()
  local left, log_state, results = read_folder(settings, opt)
  self.rules = self.rules or rules_of(self.procedure, opt, settings.board, left)
  self.conditions = collect_conditions(target
    or target_of(self.procedure, opt, settings.board, left and left.cwd or "."))
  if left then check_same_device(settings.resume, left.conditions, self.conditions) end
  self.log_on_target = shares_device(folder.path, self.conditions)
  self.log = event_log.open {
    directory = folder.path, limit_bytes = settings.log_limit_bytes or LOG_LIMIT_BYTES,
    resume = settings.resume ~= nil, seq = log_state and log_state.seq,
  }
  self.recorder = recorder.new(self.log)
  local workload = require("storlua.workload")
  self.t = object.new {
    dir = settings.script_dir or ".", run_dir = folder.path, board = settings.board,
    seed = settings.seed or left and left.seed or random_integer(48),
    run_id = left and left.run_id or math.max(1, random_integer(32)),
    resume = left, recorder = self.recorder, workload = workload,
    destroy = settings.destroy or {},
  }
  self.t.judge_by_board = run_board.judge(self.t, settings.board, self.rules)
  workload.set_run { seed = self.t.seed, run_id = self.t.run_id }
  if left then take_over(self, left, log_state, results) end
  self.reporters:open(self)
  self.log.on_event = function(fields, line) self.reporters:event(fields, line) end
  local start = start_fields(self, opt, settings)
  self.start, self.t.start = start, start
  self.log.head = head_of(self, start)
end

--- Opens a run: all but its start event. When that fails nothing is left of it.
---@async
---@param procedure storlua.Procedure
---@param opt table
---@param settings table see storlua.run
---@return table self
function opening.open(procedure, opt, settings)
  local self = { procedure = procedure, settings = settings }
  self.reporters = reporters.new(settings)
  local target
  if not settings.resume then
    -- what is wrong with these is said before a folder is made
    self.rules = rules_of(procedure, opt, settings.board)
    target = target_of(procedure, opt, settings.board, ".")
  end
  self.folder = settings.resume and run_dir.open(settings.resume)
    or run_dir.create(settings.script, settings.output)
  local ok, err = xpcall(fill, failure.capture, self, opt, target)
  if ok then return self end
  if self.log then scheduler.shield(self.log.close, self.log) end
  self.folder:close(not settings.resume)
  error(err, 0)
end

--- Writes the first event. From here on the run has a verdict, whatever comes.
---@async
---@param self table
function opening.start(self)
  warn_about_place(self)
  self.log:write_durable("start", self.start)
end

return opening
