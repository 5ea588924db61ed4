-- SPDX-License-Identifier: MIT
--- The limits of a board in a real run.

local lu = require("luaunit")
local cli_run = require("cli_run")
local device = require("storlua.device")
local fs = require("storlua.fs")

local tests = {}

local PROCEDURE = [[
return require("storlua").procedure {
  summary = "Writes a little.",
  options = { { name = "record", type = "size", default = "1M" } },
  run = function(t, opt)
    local _ <close> = t:scratch_file("storlua.x")
    t:measure("write", { path = "storlua.x", operation = "write", size_bytes = "4M",
                         record_bytes = opt.record, flush = "end" })
  end,
}
]]

-- A folder on a device that the kernel names, and that name.
local function on_a_device()
  for _, place in ipairs { "/tmp", ".", "/var/tmp" } do
    local folder = fs.temp_dir(place)
    local single = device.of_path(folder.path).single
    if single then return folder, single.name end
    fs.remove_tree(folder.path)
  end
  lu.skip("no folder at hand lies on a single block device")
end

local function board(name, limit)
  return ([[return { name = "kit", roles = { usb = { host = %q, limits = { { metric =
    "write.mb_s", %s, unit = "MB/s", each = "size", applies_to = { order = "sequential",
    record_bytes_min = "1M" } } } } } }]]):format(name, limit)
end

function tests.test_limits_judge_what_they_apply_to()
  local folder <close>, name = on_a_device() -- luacheck: no unused
  local function run(limit, ...)
    fs.write_atomic(folder.path .. "/kit.lua", board(name, limit))
    fs.write_atomic(folder.path .. "/w.lua", PROCEDURE)
    local result = cli_run.run { cwd = folder.path,
      "w.lua", "--board", "./kit.lua", "--output", "run", ... }
    local thresholds = cli_run.events_of(folder.path .. "/run", "threshold")
    local notes = cli_run.events_of(folder.path .. "/run", "note")
    fs.remove_tree(folder.path .. "/run")
    return result.code, thresholds, notes
  end
  local code, thresholds, notes = run("min = 0.001, max = 1e9")
  lu.assertEquals({ code, #thresholds, #notes }, { 0, 1, 0 })
  lu.assertEquals(thresholds[1].metric, "usb.write.mb_s.4MiB")
  code, thresholds = run("min = 1e9")
  lu.assertEquals({ code, thresholds[1].ok }, { 1, false })
  code, thresholds, notes = run("min = 0.001, max = 0.002")
  lu.assertEquals({ code, #thresholds, #notes }, { 0, 1, 1 })
  lu.assertStrContains(notes[1].value, "implausible")
  code, thresholds = run("min = 1e9", "--record", "64k")
  lu.assertEquals({ code, #thresholds }, { 0, 0 })
end

return tests
