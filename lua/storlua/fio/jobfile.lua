-- SPDX-License-Identifier: MIT
--- Reads job files of fio: sections of options, a [global] one for those that
--- follow, includes, and variables of the environment.

local source = require("storlua.source")
local words = require("storlua.fio.words")

local jobfile = {}

local INCLUDES_MAX = 16

local MACHINE = {}
function MACHINE.pagesize()
  local kb = source.read("/proc/self/smaps"):match("KernelPageSize:%s*(%d+)")
  return math.tointeger(kb) * 1024
end
function MACHINE.mb_memory()
  return math.tointeger(source.read("/proc/meminfo"):match("MemTotal:%s*(%d+)")) // 1024
end
function MACHINE.ncpus()
  return select(2, ("\n" .. source.read("/proc/cpuinfo")):gsub("\nprocessor%s*:", ""))
end

local function environment(text, where)
  text = text:gsub("%${([%w_]+)}", function(name)
    return os.getenv(name) or words.usage("%s: ${%s} is not set", where, name)
  end)
  local with, n = text:gsub("%$([%a_]+)", function(name)
    return MACHINE[name] and MACHINE[name]()
  end)
  if n == 0 then return text end
  return (with:gsub("(%d+)%s*%*%s*(%d+)", function(a, b)
    return ("%d"):format(math.tointeger(a) * math.tointeger(b))
  end))
end

local read_lines

local function take_line(self, line, where, depth)
  local include = line:match("^include%s+(.+)$")
  if include then
    if depth >= INCLUDES_MAX then words.usage("%s: includes go round in circles", where) end
    local folder = where:match("^(.*/)[^/]*$") or ""
    local path = include:find("^/") and include or folder .. include
    return read_lines(self, path, depth + 1)
  end
  local section = line:match("^%[(.+)%]$")
  if section then
    self.list[#self.list + 1] = { section = section, options = {} }
    return
  end
  if line:find("^%[") then words.usage("%s: '%s' is no section", where, line) end
  local current = self.list[#self.list]
  if not current then words.usage("%s: an option before the first [section]", where) end
  local name, text = line:match("^([%w_%-]+)%s*=%s*(.*)$")
  name = name or line:match("^[%w_%-]+$")
  if not name then words.usage("%s: '%s' is no option", where, line) end
  table.insert(current.options, { name, text })
end

function read_lines(self, path, depth)
  local content, message = source.read(path)
  if not content then words.usage("%s", message) end
  local number = 0
  for line in (content .. "\n"):gmatch("(.-)\r?\n") do
    number = number + 1
    local where = ("%s:%d"):format(path, number)
    line = line:gsub("[;#].*$", ""):match("^%s*(.-)%s*$")
    if line ~= "" then
      take_line(self, environment(line, where), where, depth)
    end
  end
end

--- The sections of a job file in order: {section, options = {{name, text}, …}}.
---@param path string
---@return table[]
function jobfile.read(path)
  local self = { list = {} }
  read_lines(self, path, 1)
  if not self.list[1] then words.usage("%s holds no job", path) end
  return self.list
end

return jobfile
