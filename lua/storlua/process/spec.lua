-- SPDX-License-Identifier: MIT
--- Reads and checks what process.run and its sisters are given, and words
--- their failures. For storlua.process only.

local errors = require("storlua.errors")

local process_spec = { INHERIT = { "inherit" }, NULL = { "null" }, PIPE = { "pipe" } }

local NS = 1000000000

local known = {
  cwd = "string", env = "table", timeout = "number", grace = "number", merge_stderr = "boolean",
  max_output_bytes = "number", stdin = "any", stdin_path = "string", stdout = "any",
  stdout_path = "string", stderr = "any", stderr_path = "string",
}

-- Handles wait where the script says, and give what is read as it comes.
local ONLY_RUN = { timeout = "a timeout of process.run; here task.timeout sets one",
                   max_output_bytes = "a limit of process.run" }

-- Linux numbers that are the same on every architecture but MIPS and SPARC.
local signals = {
  HUP = 1, INT = 2, QUIT = 3, ABRT = 6, KILL = 9, USR1 = 10, SEGV = 11, USR2 = 12, PIPE = 13,
  ALRM = 14, TERM = 15, CONT = 18, STOP = 19, TSTP = 20, WINCH = 28,
}

--- The number of a signal given by number or name.
---@param signal integer|string
---@return integer
function process_spec.signal_number(signal)
  if math.type(signal) == "integer" then return signal end
  local number = type(signal) == "string" and signals[signal:upper():gsub("^SIG", "")]
  return number or error("unknown signal: " .. tostring(signal), 3)
end

local function signal_name(number)
  for name, n in pairs(signals) do
    if n == number then return "SIG" .. name end
  end
  return "signal " .. number
end

local function misuse(caller, format, ...)
  error(caller .. ": " .. format:format(...), 4)
end

local function read_argv(spec, caller)
  local argv = {}
  for i, value in ipairs(spec) do
    if type(value) == "number" then value = tostring(value) end
    if type(value) ~= "string" then
      misuse(caller, "argument %d is a %s, not a string", i, type(value))
    end
    if value:find("\0", 1, true) then misuse(caller, "argument %d contains a NUL", i) end
    argv[i] = value
  end
  for key in pairs(spec) do
    if math.type(key) == "integer" and (key < 1 or key > #argv) then
      misuse(caller, "argument %d is nil, and %d is not", #argv + 1, key)
    end
  end
  if not argv[1] or argv[1] == "" then misuse(caller, "the list has no command") end
  return argv
end

local function read_env(env, caller)
  local list = {}
  for name, value in pairs(env or {}) do
    if type(name) ~= "string" or name == "" or name:find("[=%z]") then
      misuse(caller, "env: %q is not the name of a variable", tostring(name))
    end
    if value == false then
      list[#list + 1] = name
    elseif type(value) == "number" or type(value) == "string" and not value:find("\0", 1, true) then
      list[#list + 1] = name .. "=" .. value
    else
      misuse(caller, "env: the value of %s is not a string", name)
    end
  end
  return list
end

-- Where one of the three streams goes: {kind, path}.
local function read_stdio(spec, which, default, caller)
  local path, value = spec[which .. "_path"], spec[which]
  if path then
    if value then misuse(caller, "%s and %s_path exclude each other", which, which) end
    return { "file", path }
  end
  if which == "stderr" and spec.merge_stderr then return { "merge" } end
  if value == nil then return default end
  if which == "stdin" and type(value) == "string" then return process_spec.PIPE end
  if value == process_spec.INHERIT or value == process_spec.NULL or value == process_spec.PIPE then
    return value
  end
  misuse(caller, "%s is none of process.INHERIT, process.NULL%s", which,
    which == "stdin" and " and text" or "")
end

--- Checks a spec and brings it into the form of the core.
---@param spec storlua.ProcessSpec
---@param caller string
---@param defaults table stdin, stdout, stderr
---@return table
function process_spec.read(spec, caller, defaults)
  if type(spec) == "string" then
    error(("%s takes a list, never a shell string: %s{ \"ls\", \"-l\" }, or "
      .. "{ \"sh\", \"-c\", … } where a shell is what you want"):format(caller, caller), 3)
  end
  if type(spec) ~= "table" then error(caller .. ": a table is expected", 3) end
  for key, value in pairs(spec) do
    local wanted = known[key] or math.type(key) == "integer" and "any"
    if not wanted then misuse(caller, "unknown field %q", tostring(key)) end
    if ONLY_RUN[key] and caller == "process.start" then
      misuse(caller, "%s is %s", key, ONLY_RUN[key])
    end
    if wanted ~= "any" and type(value) ~= wanted then
      misuse(caller, "%s is a %s, not a %s", key, type(value), wanted)
    end
  end
  local stdio = {
    read_stdio(spec, "stdin", defaults.stdin, caller),
    read_stdio(spec, "stdout", defaults.stdout, caller),
    read_stdio(spec, "stderr", defaults.stderr, caller),
  }
  return {
    argv = read_argv(spec, caller), env = read_env(spec.env, caller), cwd = spec.cwd,
    stdio = stdio, input = type(spec.stdin) == "string" and spec.stdin or "",
    timeout = spec.timeout, grace = spec.grace, max_output_bytes = spec.max_output_bytes,
  }
end

--- Lets `scope` fail with TIMEOUT when the time of the spec is over. Returns a
--- to-be-closed value that disarms it.
function process_spec.deadline(timer, scope, spec)
  local armed = timer.start(math.ceil(spec.timeout * NS), function()
    scope:fail(errors.new {
      code = "TIMEOUT", op = "run", path = spec.argv[1],
      message = ("%s: not done within %g s, ended"):format(spec.argv[1], spec.timeout),
    })
  end)
  return setmetatable({}, { __close = function() armed:cancel() end })
end

--- The error value for a command that did not succeed.
---@param spec table checked spec
---@param result storlua.ProcessResult
---@return storlua.Error
function process_spec.failure(spec, result)
  local text = result.stderr ~= "" and result.stderr or result.stdout
  local last = text:match("([^\n]*%S[^\n]*)%s*$")
  local how = result.signal and "ended by " .. signal_name(result.signal)
    or "exit code " .. result.code
  return errors.new {
    code = "COMMAND", op = "run", path = spec.argv[1],
    message = table.concat(spec.argv, " ") .. ": " .. how .. (last and ": " .. last or ""),
    exit_code = result.code, signal = result.signal, stdout = result.stdout,
    stderr = result.stderr,
  }
end

return process_spec
