-- SPDX-License-Identifier: MIT
--- What a part of a run had found is found, whoever goes on with it from where.

local cli_run = require("cli_run")
local disk = require("disk")
local fs = require("storlua.fs")
local lu = require("luaunit")
local procedure_run = require("procedure_run")

local suite = {}

-- Runs the body until it says that it is done, kills it and goes on.
local function cut_and_resume(place, ...)
  local first = { "--output", place.run_dir, cwd = place.path, ... }
  first[#first + 1] = place.script
  do
    local run <close> = cli_run.start(first)
    run:wait_event(place.run_dir, function(one) return one.key == "cut here" end, 20)
    run:signal("KILL")
    run:finish(10)
  end
  local result = cli_run.run { "--resume", place.run_dir, place.script, cwd = "/" }
  return result, cli_run.verdict(place.run_dir)
end

local function procedure(body, fields)
  return procedure_run.place(("if not t.resume then %s t:note('cut here', true) task.sleep(60) end "
    .. "t:check('fine', true)"):format(body), fields)
end

function suite.test_a_test_of_memory_that_failed()
  local place <close> = procedure([[
    t:memory("memory", { spec = {}, result = {}, reason = "3 wrong words" }) ]])
  local result, verdict = cut_and_resume(place)
  lu.assertEquals({ result.code, verdict.measures_failed }, { 1, 1 }, result.stderr)
  lu.assertStrContains(verdict.reasons[1], "3 wrong words")
end

function suite.test_a_metric_that_was_lost()
  local place <close> = procedure("t:lost('heat', 'the sensor hangs')",
    "thresholds = { 'heat max < 90' },")
  local result, verdict = cut_and_resume(place)
  lu.assertEquals(result.code, 1, result.stderr)
  lu.assertStrContains(table.concat(verdict.reasons, "\n"), "the sensor hangs")
end

function suite.test_a_stalled_operation()
  disk.need_root()
  local fault <close> = disk.fault()
  fault:tell("slow write 1500")
  local place <close> = procedure(([[
    t:measure("w", { path = %q, operation = "write", size_bytes = "4k", record_bytes = "4k" }) ]])
    :format(fault.path .. "/data"))
  local result, verdict = cut_and_resume(place, "--stuck", "500ms")
  lu.assertEquals(result.code, 1, result.stderr)
  lu.assertStrContains(verdict.reasons[1], "is stuck in write")
  local starts = cli_run.events_of(place.run_dir, "start")
  lu.assertEquals(starts[2].settings.stuck_seconds, 0.5)
end

-- From its file, although the folder is another one, and with the rules that
-- the measures of the earlier part had made.
function suite.test_the_board()
  local place <close> = procedure([[
    t:measure("w", { path = "w", operation = "write", size_bytes = "4M", flush = "end" }) ]])
  local device = require("storlua.device").of_path(place.path).single
  if not device then lu.skip("no folder at hand lies on a single block device") end
  fs.write_atomic(place.path .. "/kit.lua", ([[return { name = "kit", roles = { usb = { host = %q,
    limits = { { metric = "write.mb_s", min = 1e9, unit = "MB/s", each = "size",
    applies_to = { order = "sequential" } } } } } }]]):format(device.name))
  local result, verdict = cut_and_resume(place, "--board", "./kit.lua")
  lu.assertEquals(cli_run.events_of(place.run_dir, "start")[2].board, "kit")
  lu.assertEquals(result.code, 1, result.stderr)
  lu.assertStrContains(verdict.reasons[1], "usb.write.mb_s")
  fs.remove_tree(place.path .. "/kit.lua")
end

return suite
