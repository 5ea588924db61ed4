-- SPDX-License-Identifier: MIT
--- What `cmake --install` puts in place works by itself: from an empty
--- environment and an empty folder.
local lu = require("luaunit")
local fs = require("storlua.fs")
local process = require("storlua.process")

local build_dir = fs.realpath(assert(os.getenv("STORLUA")):match("^(.*)/[^/]*$"))

local T = {}

local function install(dir)
  if not process.try_run { "cmake", "--version" } then lu.skip("no cmake here") end
  process.run {
    "cmake", "--install", build_dir, "--prefix", "/usr", env = { DESTDIR = dir.path },
  }
  return dir.path .. "/usr"
end

-- Runs the installed program with nothing around it.
local function run_bare(prefix, ...)
  local empty <close> = fs.temp_dir()
  local spec = { "env", "-i", prefix .. "/bin/storlua", ... }
  spec.cwd, spec.timeout = empty.path, 60
  return process.run(spec).stdout
end

function T.test_installed_program_stands_alone()
  local dir <close> = fs.temp_dir()
  local prefix = install(dir)
  lu.assertEquals(run_bare(prefix, "-e", "print(require('storlua.core.version').storlua ~= nil)"),
    "true\n")
  lu.assertStrContains(run_bare(prefix, "--version"), "storlua ")
  lu.assertStrContains(run_bare(prefix, "list"), "soak")
  lu.assertStrContains(run_bare(prefix, "soak.lua", "--help"), "--hours")
end

function T.test_files_are_where_they_belong()
  local dir <close> = fs.temp_dir()
  local prefix = install(dir)
  lu.assertTrue(fs.exists(prefix .. "/share/man/man1/storlua.1"))
  lu.assertTrue(fs.exists(prefix .. "/share/storlua/lua/storlua/task.lua"))
  lu.assertTrue(fs.exists(prefix .. "/share/storlua/lua/meta/storlua/core/timer.lua"))
  lu.assertTrue(fs.exists(prefix .. "/share/storlua/scripts/soak.lua"))
  lu.assertEquals(fs.list(dir.path), { "usr" })
end

function T.test_the_man_page_is_clean()
  local page = build_dir .. "/../../packaging/storlua.1"
  local result = process.try_run { "groff", "-mandoc", "-Tutf8", "-ww", "-z", page }
  if not result then lu.skip("no groff here") end
  lu.assertEquals(result.stderr, "")
  lu.assertEquals(result.code, 0)
end

return T
