-- SPDX-License-Identifier: MIT
--- Where the files of a soak lie: the directories, what their cases are named
--- after, the room that they share. Refuses what cannot be.

local fs = require("storlua.fs")
local quantity = require("storlua.quantity")
local room = require("storlua.room")
local storlua = require("storlua")

local place = {}

-- A case id has 100 bytes at most, and much of them is behind the prefix.
local NAME_MAX_BYTES = 64

--- Where the test files go: as named, else the board's scratch space for the
--- role, else the working directory.
---@param t storlua.Run
---@param opt table
---@return string[]
function place.directories(t, opt)
  if opt.dir and opt.dir[1] then return opt.dir end
  local here = t.resume and t.resume.cwd or "."
  local role = opt.role and t.board and t.board.roles and t.board.roles[opt.role]
  if opt.role and not role then
    storlua.usage("the board has no role " .. opt.role .. "; name a directory with --dir")
  end
  return { role and role.scratch or here }
end

--- What the directories are called: after a resume as before it.
---@param earlier? table what the earlier part of the run left
---@param dirs string[]
---@return string[]
function place.names(earlier, dirs)
  local before = earlier and not earlier.given.dir and earlier.options.dir
  return before and before[1] and before or dirs
end

--- Refuses directories that cannot be written to, and one that is named twice.
---@param dirs string[]
function place.check(dirs)
  local seen = {}
  for _, dir in ipairs(dirs) do
    local stat, err = fs.try_stat(dir)
    if not stat then storlua.usage(err.message) end
    if not stat.is_directory then
      storlua.usage(dir .. " is not a directory; name one with --dir")
    end
    if fs.space(dir).is_read_only then storlua.usage(dir .. ": read-only file system") end
    if not fs.is_writable(dir) then storlua.usage(dir .. ": permission denied to write here") end
    local identity = stat.dev .. " " .. stat.ino
    if seen[identity] then
      storlua.usage(("--dir: %s and %s are one directory"):format(seen[identity], dir))
    end
    seen[identity] = dir
  end
end

--- What stands before the ids of the cases of each directory: its name, with a
--- number where that would be empty, too long or that of another one. Nothing
--- where there is only one directory.
---@param dirs string[]
---@return string[]
function place.prefixes(dirs)
  if not dirs[2] then return { "" } end
  local names, is_taken, prefixes = {}, {}, {}
  for i, dir in ipairs(dirs) do
    names[i] = dir:gsub("[^A-Za-z0-9]+", "_"):gsub("^_+", "")
    is_taken[names[i]] = false -- but it is somebody's
  end
  for i, name in ipairs(names) do
    if name == "" or #name > NAME_MAX_BYTES or is_taken[name] then
      local base, number = name == "" and "dir" or name:sub(-NAME_MAX_BYTES), i
      repeat
        name, number = ("%s_%d"):format(base, number), number + 1
      until is_taken[name] == nil
    end
    is_taken[name] = true
    prefixes[i] = name .. "."
  end
  return prefixes
end

--- Refuses files that do not fit beside each other.
---@async
---@param files {dir: string, bytes: integer, own_bytes: integer}[]
function place.check_room(files)
  local shortage = room.shortage(files)
  if not shortage then return end
  local who = shortage.files == 1 and "the test file needs"
    or ("the %d test files there need"):format(shortage.files)
  storlua.usage(("%s has room for %s (%s) and %s %s; use --size"):format(shortage.dir,
    quantity.size_text(shortage.bytes), shortage.limit, who,
    quantity.size_text(shortage.needed_bytes)))
end

return place
