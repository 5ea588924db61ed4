-- SPDX-License-Identifier: MIT
--- Files and folders: small, short calls that do not wait. Each function
--- raises a library error; its try_ variant returns nil and the error.
--- Large files and devices under test are for storlua.workload.

local errors = require("storlua.errors")
local scheduler = require("storlua.scheduler")
local core = require("storlua.core.fs")

local fs = {}

---@class storlua.Stat
---@field kind "file"|"directory"|"link"|"block"|"character"|"fifo"|"socket"
---@field is_directory boolean
---@field size_bytes integer
---@field allocated_bytes integer
---@field mode integer permission bits
---@field dev string "major:minor" of the file system
---@field device? string "major:minor" that a block or character file names
---@field ino integer
---@field links integer
---@field uid integer
---@field gid integer
---@field mtime_ns integer a label, not for durations

--- Describes what a path leads to.
---@param path string
---@return storlua.Stat
function fs.stat(path)
  return errors.check(core.stat(path, true))
end

--- Describes a path itself, also when it is a symbolic link.
---@param path string
---@return storlua.Stat
function fs.lstat(path)
  return errors.check(core.stat(path, false))
end

--- Tells whether there is something at a path. Raises when that cannot be
--- known (no permission, I/O error).
---@param path string
---@return boolean
function fs.exists(path)
  local stat, message, code, fields = core.stat(path, true)
  if stat then return true end
  if code == "ENOENT" or code == "ENOTDIR" then return false end
  error(errors.from_core(message, code, fields), 0)
end

--- Tells whether we may write to a file or into a folder.
---@param path string
---@return boolean
function fs.is_writable(path)
  return core.access(path, "w") == true
end

---@class storlua.Space
---@field total_bytes integer
---@field free_bytes integer
---@field available_bytes integer what an ordinary user may still write
---@field free_inodes integer
---@field is_read_only boolean

--- Describes the room on the file system of a path.
---@param path string
---@return storlua.Space
function fs.space(path)
  return errors.check(core.space(path))
end

--- Makes a folder.
---@param path string
---@param mode? integer permission bits before the umask
function fs.mkdir(path, mode)
  errors.check(core.mkdir(path, mode))
end

--- Makes a folder and those above it that are missing.
---@param path string
function fs.mkdirs(path)
  local made, message, code, fields = core.mkdir(path)
  if made then return end
  if code == "ENOENT" then
    local above = path:match("^(.*[^/])/+[^/]+/*$")
    if above then
      fs.mkdirs(above)
      return fs.mkdirs(path)
    end
  elseif code == "EEXIST" then
    local stat = core.stat(path, true)
    if stat and stat.is_directory then return end
  end
  error(errors.from_core(message, code, fields), 0)
end

--- Lists the names in a folder, sorted.
---@param path string
---@return string[]
function fs.list(path)
  local names = errors.check(core.list(path))
  table.sort(names)
  return names
end

--- Removes a file or an empty folder.
---@param path string
function fs.remove(path)
  errors.check(core.unlink(path, fs.lstat(path).kind == "directory"))
end

--- Removes a folder with all that is in it; never follows a symbolic link and
--- refuses to enter another file system.
---@param path string
function fs.remove_tree(path)
  local top = fs.lstat(path)
  local function remove(at, stat)
    if stat.kind == "directory" then
      if stat.dev ~= top.dev then
        errors.raise("EXDEV", "%s is a mounted file system: not removed", at)
      end
      for _, name in ipairs(fs.list(at)) do
        local child = at .. "/" .. name
        remove(child, fs.lstat(child))
      end
    end
    errors.check(core.unlink(at, stat.kind == "directory"))
  end
  remove(path, top)
end

--- Renames a file or folder, replacing a file that is in the way.
---@param from string
---@param to string
function fs.rename(from, to)
  errors.check(core.rename(from, to))
end

--- Makes a symbolic link at `path`.
---@param target string
---@param path string
function fs.symlink(target, path)
  errors.check(core.symlink(target, path))
end

--- Returns where a symbolic link points.
---@param path string
---@return string
function fs.readlink(path)
  return errors.check(core.readlink(path))
end

--- Returns the absolute path without symbolic links, `.` and `..`.
---@param path string
---@return string
function fs.realpath(path)
  return errors.check(core.realpath(path))
end

--- Reads a whole small file, also from /proc and /sys.
---@param path string
---@return string
function fs.read(path)
  return errors.check(core.read(path))
end

--- Replaces a file: after a crash it holds either the old or the new text.
---@param path string
---@param text string
function fs.write_atomic(path, text)
  errors.check(core.replace(path, text))
end

---@class storlua.TempDir
---@field path string
local TempDir = {
  __name = "storlua.TempDir",
  __tostring = function(self) return self.path end,
  __close = function(self)
    scheduler.cleanup(function()
      if fs.exists(self.path) then fs.remove_tree(self.path) end
    end)
  end,
}

--- Makes a folder that is removed with its content when its block is left.
--- Declare it with <close>.
---@param above? string folder to make it in; default TMPDIR or /tmp
---@return storlua.TempDir
function fs.temp_dir(above)
  above = above or os.getenv("TMPDIR") or "/tmp"
  local path = errors.check(core.mkdtemp(above .. "/storlua-XXXXXX"))
  return setmetatable({ path = path }, TempDir)
end

-- The try_ variants are all alike. `true` stands for "done" where the
-- function itself returns nothing.
local function make_try(f)
  local function finish(...)
    if select("#", ...) == 0 then return true end
    return ...
  end
  return function(...) return finish(errors.try(f, ...)) end
end
for _, name in ipairs {
  "stat", "lstat", "exists", "space", "mkdir", "mkdirs", "list", "remove", "remove_tree",
  "rename", "symlink", "readlink", "realpath", "read", "write_atomic", "temp_dir",
} do
  fs["try_" .. name] = make_try(fs[name])
end

return fs
