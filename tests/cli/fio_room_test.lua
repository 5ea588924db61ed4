-- SPDX-License-Identifier: MIT
--- What jobs of fio would lay out is known to fit before anything is written,
--- and what could not be laid out is not left behind.

local disk = require("disk")
local fio_run = require("fio_run")
local fs = require("storlua.fs")
local lu = require("luaunit")
local process = require("storlua.process")

local suite = {}
local fio, assert_passed = fio_run.fio, fio_run.assert_passed

function suite.test_a_layout_that_does_not_fit_is_refused()
  local place <close> = disk.directory()
  local folder <close> = disk.file_system("tmpfs", { size = "8M" })
  local x, y = folder.path .. "/x", folder.path .. "/y"
  for _, words in ipairs {
    { "--name=a", "--filename=" .. x, "--rw=read", "--bs=4k", "--offset=99999g", "--size=4k" },
    { "--name=a", "--filename=" .. x, "--rw=read", "--size=9m" },
    { "--name=a", "--filename=" .. x .. ":" .. y, "--rw=randread", "--size=10m" },
    { "--name=a", "--filename=" .. x, "--rw=read", "--size=5m", "--name=b", "--stonewall",
      "--filename=" .. y, "--rw=trim", "--size=5m" },
  } do
    local refused = fio(place, words)
    local line = table.concat(words, " ")
    lu.assertEquals(refused.code, 2, line)
    lu.assertStrContains(refused.stderr, "job ")
    lu.assertStrContains(refused.stderr, folder.path .. " has room for")
    lu.assertEquals(fs.list(folder.path), {}, line)
  end
  -- What is there counts, and so does what an earlier job writes.
  assert_passed(fio(place, { "--name=a", "--filename=" .. x, "--rw=write", "--size=5m" }))
  assert_passed(fio(place, { "--name=a", "--filename=" .. x, "--rw=read", "--size=6m" }))
  local words = { "--name=a", "--filename=" .. y, "--rw=write", "--size=64m", "--number_ios=4",
    "--name=b", "--stonewall", "--filename=" .. y, "--rw=read", "--size=64m", "--parse-only" }
  lu.assertEquals(fio(place, words).code, 4)
  table.remove(words, 7)
  lu.assertEquals(fio(place, words).code, 2)
end

function suite.test_what_could_not_be_laid_out_is_removed()
  local place <close> = disk.directory()
  local folder <close> = disk.file_system("ext4")
  -- The room is there and the limit of a file's size is below.
  local run = place.path .. "/run"
  local function limited(...)
    return process.try_run { "sh", "-c", "ulimit -f 8192; cd \"$0\"; exec \"$@\"", folder.path,
      os.getenv("STORLUA"), "--output", run, "fio.lua", ... }
  end
  local failed = limited("--name=a", "--filename=x", "--rw=read", "--size=8m")
  lu.assertEquals(failed.code, 1, failed.stdout .. failed.stderr)
  lu.assertStrContains(failed.stdout, "x could not be laid out: removed again")
  lu.assertFalse(fs.exists(folder.path .. "/x"))
end

return suite
