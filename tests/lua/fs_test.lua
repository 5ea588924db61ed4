-- SPDX-License-Identifier: MIT
local lu = require("luaunit")
local errors = require("storlua.errors")
local fs = require("storlua.fs")
local process = require("storlua.process")

local function fails_with(code, fn, ...)
  local ok, err = pcall(fn, ...)
  lu.assertFalse(ok)
  lu.assertTrue(errors.is(err), tostring(err))
  lu.assertEquals(err.code, code)
  return err
end

local T = {}

function T.test_write_read_stat()
  local dir <close> = fs.temp_dir()
  local path = dir.path .. "/a file \xff"
  fs.write_atomic(path, "text\0more")
  lu.assertEquals(fs.read(path), "text\0more")
  local stat = fs.stat(path)
  lu.assertEquals(stat.kind, "file")
  lu.assertEquals(stat.size_bytes, 9)
  lu.assertFalse(stat.is_directory)
  lu.assertEquals(math.type(stat.ino), "integer")
  lu.assertEquals(stat.dev, fs.stat(dir.path).dev)
  lu.assertEquals(fs.list(dir.path), { "a file \xff" })
end

function T.test_proc_files_have_no_size()
  lu.assertStrContains(fs.read("/proc/self/status"), "Name:")
end

function T.test_failures_name_the_operation_and_the_path()
  local err = fails_with("ENOENT", fs.read, "/no/such/file")
  lu.assertEquals(err.path, "/no/such/file")
  lu.assertStrContains(err.message, "/no/such/file")
  local result, tried = fs.try_stat("/no/such/file")
  lu.assertNil(result)
  lu.assertEquals(tried.code, "ENOENT")
  lu.assertTrue(fs.try_exists("/"))
end

function T.test_a_path_with_a_nul_is_refused()
  for _, name in ipairs { "stat", "read", "mkdir", "list", "remove", "realpath", "space" } do
    lu.assertErrorMsgContains("contains a NUL", fs[name], "/tmp\0/x")
  end
  lu.assertErrorMsgContains("contains a NUL", fs.rename, "/tmp/a", "b\0")
  lu.assertErrorMsgContains("contains a NUL", fs.write_atomic, "b\0", "")
  lu.assertErrorMsgContains("empty", fs.stat, "")
end

function T.test_exists()
  lu.assertTrue(fs.exists("/proc"))
  lu.assertFalse(fs.exists("/proc/nothing"))
  lu.assertFalse(fs.exists("/proc/version/below"))
end

function T.test_folders()
  local dir <close> = fs.temp_dir()
  local deep = dir.path .. "/a/b//c/"
  fs.mkdirs(deep)
  fs.mkdirs(deep)
  lu.assertTrue(fs.stat(deep).is_directory)
  fails_with("EEXIST", fs.mkdir, dir.path .. "/a")
  fails_with("ENOTEMPTY", fs.remove, dir.path .. "/a")
  fs.write_atomic(dir.path .. "/file", "")
  fails_with("EEXIST", fs.mkdirs, dir.path .. "/file")
  fails_with("ENOTDIR", fs.mkdirs, dir.path .. "/file/below")
  fs.rename(dir.path .. "/file", dir.path .. "/other")
  lu.assertEquals(fs.list(dir.path), { "a", "other" })
  fs.remove(dir.path .. "/other")
  lu.assertEquals(fs.list(dir.path), { "a" })
end

function T.test_temp_dir_is_removed_with_its_content()
  local path
  do
    local dir <close> = fs.temp_dir()
    path = dir.path
    fs.mkdirs(path .. "/a/b")
    fs.write_atomic(path .. "/a/b/c", "x")
    fs.symlink("/etc", path .. "/link")
  end
  lu.assertFalse(fs.exists(path))
  lu.assertTrue(fs.exists("/etc/passwd"))
end

function T.test_links()
  local dir <close> = fs.temp_dir()
  local link = dir.path .. "/link"
  fs.symlink("nowhere", link)
  lu.assertEquals(fs.readlink(link), "nowhere")
  lu.assertFalse(fs.exists(link))
  lu.assertEquals(fs.lstat(link).kind, "link")
  fs.remove(link)
  fs.symlink(".", link)
  lu.assertEquals(fs.realpath(link .. "/../" .. "./"), fs.realpath(dir.path .. "/.."))
  lu.assertEquals(fs.realpath(link), fs.realpath(dir.path))
end

function T.test_remove_tree_does_not_enter_a_mount()
  local dir <close> = fs.temp_dir()
  fs.mkdir(dir.path .. "/mnt")
  if not process.try_run({ "mount", "-t", "tmpfs", "none", dir.path .. "/mnt" }) or
    fs.stat(dir.path .. "/mnt").dev == fs.stat(dir.path).dev then
    lu.skip("cannot mount a tmpfs here")
  end
  fs.write_atomic(dir.path .. "/mnt/kept", "x")
  fails_with("EXDEV", fs.remove_tree, dir.path)
  lu.assertTrue(fs.exists(dir.path .. "/mnt/kept"))
  process.run { "umount", dir.path .. "/mnt" }
end

function T.test_space_and_devices()
  local space = fs.space("/dev/shm")
  lu.assertTrue(space.total_bytes >= space.free_bytes)
  lu.assertTrue(space.free_bytes >= space.available_bytes)
  lu.assertEquals(fs.stat("/dev/null").device, "1:3")
  lu.assertEquals(fs.stat("/dev/null").kind, "character")
  lu.assertTrue(fs.is_writable("/dev/null"))
  lu.assertFalse(fs.is_writable("/no/such"))
end

return T
