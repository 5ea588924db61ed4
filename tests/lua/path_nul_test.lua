-- SPDX-License-Identifier: MIT
--- A path that contains a NUL names another file for C: every call that takes
--- a path refuses it, and what stands before the NUL is not touched.

local board = require("storlua.board")
local cache = require("storlua.cache")
local conditions = require("storlua.conditions")
local device = require("storlua.device")
local disk = require("disk")
local fs = require("storlua.fs")
local lu = require("luaunit")
local process = require("storlua.process")
local room = require("storlua.room")
local serial = require("storlua.serial")
local target = require("storlua.target")
local workload = require("storlua.workload")

local suite = {}

local function refused(what, fn, ...)
  local ok, message = pcall(fn, ...)
  lu.assertFalse(ok, what)
  lu.assertStrContains(tostring(message), "contains a NUL", what)
end

local FS = { "stat", "lstat", "exists", "is_writable", "space", "mkdir", "mkdirs", "list", "remove",
             "remove_tree", "readlink", "realpath", "read", "temp_dir" }

function suite.test_every_call_refuses_it()
  local place <close> = disk.directory()
  local path = place.path .. "/x"
  local bad = path .. "\0y"
  fs.write_atomic(path, "precious")
  for _, name in ipairs(FS) do refused("fs." .. name, fs[name], bad) end
  for _, name in ipairs { "rename", "symlink" } do
    refused("fs." .. name, fs[name], bad, path)
    refused("fs." .. name, fs[name], path, bad)
  end
  refused("fs.write_atomic", fs.write_atomic, bad, "new")
  for _, name in ipairs { "residency", "drop_file", "drop_device" } do
    refused("cache." .. name, cache[name], bad)
  end
  refused("workload", workload.run, { path = bad, operation = "write", size_bytes = "64k" })
  refused("workload", workload.run, { paths = { bad, path }, streams = 2, operation = "write",
                                      size_bytes = "64k" })
  refused("device", device.of_path, bad)
  refused("conditions", conditions.collect, bad)
  refused("room", room.directory, bad)
  refused("target.look", target.look, bad)
  refused("serial", serial.open, bad)
  refused("board", board.load, bad)
  refused("process", process.run, { "true", cwd = bad })
  refused("process", process.run, { "true", bad })
  refused("process", process.run, { bad })
  for _, name in ipairs { "open", "lines", "input", "output" } do
    refused("io." .. name, io[name], bad)
  end
  refused("os.remove", os.remove, bad)
  refused("os.rename", os.rename, bad, path)
  refused("os.rename", os.rename, path, bad)
  refused("loadfile", loadfile, bad)
  refused("dofile", dofile, bad)
  if package.loadlib then refused("package.loadlib", package.loadlib, bad, "*") end
  refused("package.searchpath", package.searchpath, bad, "?")
  lu.assertEquals(fs.read(path), "precious")
  lu.assertEquals(fs.list(place.path), { "x" })
end

return suite
