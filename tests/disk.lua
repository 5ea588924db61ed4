-- SPDX-License-Identifier: MIT
--- Real places for tests to work on: directories, loop devices, file systems,
--- and a file system that fails on demand. Each is a to-be-closed value with a
--- `path`; leaving the block removes it, also after an error.

local fs = require("storlua.fs")
local lu = require("luaunit")
local process = require("storlua.process")
local task = require("storlua.task")

local disk = {}

local function run(...) return (process.run { ... }.stdout:gsub("\n$", "")) end

local is_root
--- Skips the test, loudly, where file systems cannot be mounted.
function disk.need_root()
  if is_root == nil then is_root = run("id", "-u") == "0" end
  lu.skipIf(not is_root, "needs root: mounts file systems")
end

-- Builds an object in steps. fn(undo, object) registers with undo(f) how to
-- take back each step; all of them run in reverse when the object is closed,
-- or at once when a later step fails.
local function build(fn)
  local steps = {}
  local object = {}
  local function take_back()
    local first_error
    for i = #steps, 1, -1 do
      local ok, err = pcall(steps[i])
      if not ok then first_error = first_error or err end
      steps[i] = nil
    end
    if first_error then error(first_error, 0) end
  end
  local ok, err = pcall(fn, function(step) steps[#steps + 1] = step end, object)
  if not ok then
    take_back()
    error(err, 0)
  end
  local guard = task.defer(take_back)
  return setmetatable(object, { __close = getmetatable(guard).__close })
end

local function add_directory(undo)
  local path = run("mktemp", "-d", (os.getenv("TMPDIR") or "/tmp") .. "/storlua-test.XXXXXX")
  undo(function() run("rm", "-rf", "--one-file-system", path) end)
  return path
end

-- A job that was given up may hold the mount for a moment longer.
local function unmount(path)
  for _ = 1, 40 do
    if process.try_run { "umount", path }.code == 0 then return end
    task.sleep(0.05)
  end
  run("umount", "-l", path)
  error(path .. " stays busy: unmounted lazily", 0)
end

local function add_mount(undo, argv, path)
  run("mount", table.unpack(argv))
  undo(function() unmount(path) end)
end

local function add_loop(undo, object, want)
  object.backing = add_directory(undo) .. "/" .. (want.name or "disk.img")
  run("truncate", "-s", want.size or "64M", object.backing)
  object.device = run("losetup", "-f", "--show", "-b", want.sector or "512", object.backing)
  undo(function() run("losetup", "-d", object.device) end)
  run("blockdev", "--setrw", object.device) -- its last user's flag stays
end

--- An empty directory.
---@return table {path}
function disk.directory()
  return build(function(undo, object) object.path = add_directory(undo) end)
end

--- A loop device on a sparse file.
---@param want? table size = "64M", sector = 512 or 4096, name of the file
---@return table {path, device, backing}
function disk.loop(want)
  disk.need_root()
  return build(function(undo, object)
    add_loop(undo, object, want or {})
    object.path = object.device
  end)
end

local make = {
  ext4 = { "mkfs.ext4", "-q", "-E", "lazy_itable_init=0,lazy_journal_init=0" },
  ext2 = { "mkfs.ext2", "-q" },
  xfs = { "mkfs.xfs", "-q" },
  btrfs = { "mkfs.btrfs", "-q" },
}
local smallest = { ext4 = "64M", ext2 = "64M", xfs = "320M", btrfs = "128M" }

--- A mounted file system: ext4, ext2, xfs or btrfs on a loop device, tmpfs, ramfs.
---@param kind string
---@param want? table size, sector, options (of mount)
---@return table {path, device, backing}
function disk.file_system(kind, want)
  disk.need_root()
  want = want or {}
  return build(function(undo, object)
    local options = want.options or "noatime"
    if make[kind] then
      add_loop(undo, object, { size = want.size or smallest[kind], sector = want.sector })
      local argv = table.move(make[kind], 1, #make[kind], 1, {})
      argv[#argv + 1] = object.device
      process.run(argv)
    elseif kind == "tmpfs" then
      options = options .. ",size=" .. (want.size or "64M")
    end
    object.path = add_directory(undo)
    add_mount(undo, { "-t", kind, "-o", options, object.device or "storlua-test", object.path },
      object.path)
  end)
end

--- A memory cgroup with a limit. `group.run(argv)` runs a program in it.
---@param limit string "64M"
---@return table {path, run}
function disk.memory_group(limit)
  disk.need_root()
  local v1 = fs.try_exists("/sys/fs/cgroup/memory/memory.limit_in_bytes")
  local above = v1 and "/sys/fs/cgroup/memory" or "/sys/fs/cgroup"
  local file = v1 and "memory.limit_in_bytes" or "memory.max"
  return build(function(undo, object)
    object.path = run("mktemp", "-d", "-p", above, "storlua-test.XXXXXX")
    undo(function() run("rmdir", object.path) end)
    lu.skipIf(not fs.try_exists(object.path .. "/" .. file), "no memory cgroup is mounted")
    run("sh", "-c", ("echo %s > %s/%s"):format(limit, object.path, file))
    function object.run(argv)
      return process.try_run { "sh", "-c", "echo $$ > \"$0/cgroup.procs\"; exec \"$@\"",
        object.path, table.unpack(argv) }
    end
  end)
end

--- A directory behind helpers/fault_fs (its rules.h lists the commands).
--- `object:tell(command)` sets a fault, `object:count("hanging")` reads a
--- counter. Nothing of it blocks while a request hangs.
---@param want? table cached = true keeps the page cache in between
---@return table {path, backing}
function disk.fault(want)
  disk.need_root()
  local object = build(function(undo, object)
    object.backing = add_directory(undo)
    object.path = add_directory(undo)
    local argv = { os.getenv("STORLUA_HELPERS") .. "/fault_fs" }
    if want and want.cached then argv[2] = "--cached" end
    table.move({ object.backing, object.path }, 1, 2, #argv + 1, argv)
    local helper = process.start(argv)
    undo(function() helper:close() end)
    lu.assertEquals(helper:read_line(5), "ready")
    -- The helper ends when it is unmounted, or is killed: what hangs gets an
    -- error then.
    undo(function()
      pcall(object.tell, object, "clear") -- an aborted one hears nothing
      run("umount", "-l", object.path)
    end)
    function object.tell(self, command)
      local control <close> = assert(io.open(self.path .. "/.control", "w"))
      assert(control:write(command, "\n"))
    end
    function object.count(self, what)
      local control <close> = assert(io.open(self.path .. "/.control", "r"))
      local text = control:read("a")
      return math.tointeger(tonumber(text:match(what .. " (%d+)")))
    end
  end)
  return object
end

--- Waits until test() is true.
---@async
---@param seconds number fails the test when it takes longer
---@param what string
---@param test fun(): any
---@return any
function disk.wait_until(seconds, what, test)
  for _ = 1, math.ceil(seconds / 0.02) do
    local value = test()
    if value then return value end
    task.sleep(0.02)
  end
  lu.fail(("waited %g s in vain: %s"):format(seconds, what))
end

return disk
