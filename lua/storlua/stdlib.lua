-- SPDX-License-Identifier: MIT
--- Lua's own library, as far as it does not suit a host: calls that end the
--- process without clean-ups, block the loop, lose output, or read a path only
--- up to a NUL.

local core = require("storlua.core.host")
local errors = require("storlua.errors")
local scheduler = require("storlua.scheduler")

local stdlib = {}

local EPIPE = 32

-- The reader of our output has gone: as with SIGPIPE the run ends, but its
-- clean-ups run. Nothing is printed; the exit code is 1. Not EPIPE, which a
-- child or a connection may have met: that is told.
local function end_of_output()
  local err = errors.new { code = "NO_READER", message = "the standard output was closed" }
  scheduler.stop_root(err)
  error(err, 0)
end

local function checked(file, result, message, code)
  if not result and code == EPIPE and file == io.stdout then end_of_output() end
  return result, message, code
end

local function replace_output()
  local methods = getmetatable(io.stdout).__index
  local write, flush = methods.write, methods.flush
  function methods.write(file, ...) return checked(file, write(file, ...)) end
  function methods.flush(file) return checked(file, flush(file)) end
  function io.write(...) return methods.write(io.output(), ...) end
  function _G.print(...)
    local texts = table.pack(...)
    for i = 1, texts.n do texts[i] = tostring(texts[i]) end
    methods.write(io.stdout, table.concat(texts, "\t"), "\n")
  end
end

--- Ends the run from anywhere: the task that calls it unwinds now, the others
--- are cancelled, clean-ups run, and the process ends with the code (true: 0,
--- false: 1, or 0 to 255).
---@param code? boolean|integer
function stdlib.exit(code)
  if code == nil or code == true then code = 0 elseif code == false then code = 1 end
  local number = math.tointeger(code)
  if not number or number < 0 or number > 255 then
    error("os.exit: the code must be true, false or 0 to 255", 2)
  end
  scheduler.exit_code = scheduler.exit_code or number
  local err = errors.new { code = "EXIT", message = "os.exit(" .. number .. ")" }
  scheduler.stop_root(err)
  error(err, 0)
end

local function refuse(name, hint)
  return function() error(name .. " blocks the loop; use " .. hint, 2) end
end

-- Numbers keep their decimal point whatever the locale: sizes, rates and JSON
-- depend on it.
local function replace_setlocale()
  local setlocale = os.setlocale
  function os.setlocale(locale, category)
    if locale == nil then return setlocale(nil, category) end
    if category == "numeric" then return locale == "C" and "C" or nil end
    local result = setlocale(locale, category)
    setlocale("C", "numeric")
    return result
  end
end

-- C would stop at the NUL and touch another file.
local function refuse_nul(library, name, arguments)
  local original = library[name]
  if not original then return end
  library[name] = function(...)
    for i = 1, arguments do
      local path = select(i, ...)
      if type(path) == "string" and path:find("\0", 1, true) then
        error(("bad argument #%d to '%s' (the path contains a NUL)"):format(i, name), 2)
      end
    end
    return original(...)
  end
end

-- Some Lua 5.4 releases miscompile a loop whose iterator has a closing value,
-- which io.lines(path) gives; without it the file is closed at its end or by
-- the collector.
local function replace_lines()
  local lines = io.lines
  function io.lines(path, ...)
    if path == nil then return lines(path, ...) end
    local iterator = lines(path, ...)
    return iterator
  end
end

--- Replaces the functions; called once by the host.
function stdlib.install()
  coroutine.resume, coroutine.wrap, coroutine.yield = core.resume, core.wrap, scheduler.yield
  os.exit = stdlib.exit
  os.execute = refuse("os.execute", "process.run{…} of storlua.process")
  io.popen = refuse("io.popen", "process.run{…} of storlua.process")
  replace_setlocale()
  replace_output()
  replace_lines()
  for name, arguments in pairs { open = 1, lines = 1, input = 1, output = 1 } do
    refuse_nul(io, name, arguments)
  end
  refuse_nul(os, "remove", 1)
  refuse_nul(os, "rename", 2)
  refuse_nul(package, "loadlib", 1)
  refuse_nul(package, "searchpath", 2)
  refuse_nul(_G, "loadfile", 1)
  refuse_nul(_G, "dofile", 1)
end

return stdlib
