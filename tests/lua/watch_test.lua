-- SPDX-License-Identifier: MIT
--- watch.device in runs, on a real folder whose device is a card in a made-up
--- sysfs.

local cli_run = require("cli_run")
local device = require("storlua.device")
local disk = require("disk")
local fake_tree = require("fake_tree")
local fs = require("storlua.fs")
local loop = require("storlua.core.loop")
local lu = require("luaunit")
local procedure_run = require("procedure_run")

local CARD = "devices/platform/fe33/mmc_host/mmc2/mmc2:0001/block/mmcblk2"
local HS200 = { timing = "9 (mmc HS200)", clock = 200000000, width = 3 }

local BODY = [[
local watch = require("storlua.watch")
local watchers <close> = task.scope()
local function put(path, text)
  local file <close> = assert(io.open(%q .. "/" .. path, "w"))
  file:write(text)
end
watch.device(t, watchers, %q, { sysfs = %q, interval_seconds = %s })
]]

local test = {}

-- A tree in which the device of `folder` is a card.
local function card(folder)
  local found = device.of_path(folder)
  if not found.single or found.single.loop then lu.skip(folder .. " lies on no single disk") end
  local tree = fake_tree.new()
  tree:disk(found.single.number, CARD)
  tree:ios("mmc2", HS200)
  tree:err_stats("mmc2", 0)
  tree:zone(0, "soc", 45000)
  return tree
end

local function run(tree, folder, interval, body, thresholds)
  local head = BODY:format(tree.path, folder .. "/storlua.x", tree.path, interval)
  local place <close> = procedure_run.place(head .. body,
    thresholds and ("thresholds = { %s },"):format(thresholds))
  local result = procedure_run.run(place)
  local events = {}
  for _, kind in ipairs { "note", "sensors", "device_change", "check", "count", "measure" } do
    events[kind] = cli_run.events_of(place.run_dir, kind)
  end
  events.verdict = cli_run.verdict(place.run_dir)
  return result, events
end

local function note(events, key)
  for _, one in ipairs(events.note) do
    if one.key == key then return one.value end
  end
end

local ROUNDS = [[
task.sleep(0.15) -- the first sample is made before anything changes
for n in t:rounds { count = 3 } do
  t:measure("null.read", NULL)
  put("class/thermal/thermal_zone0/temp", ("%d\n"):format(45000 + n * 1000))
  task.sleep(0.15)
end
]]

function test.test_each_round_has_its_minimum_and_maximum()
  local folder <close> = disk.directory()
  local tree <close> = card(folder.path)
  local result, events = run(tree, folder.path, 0.04, ROUNDS)
  lu.assertEquals(result.code, 0, result.stdout .. result.stderr)
  lu.assertEquals(#events.sensors, 3)
  for n, one in ipairs(events.sensors) do
    lu.assertEquals({ one.first_round, one.last_round }, { n, n })
    local heat = one.values["temperature.celsius"]
    lu.assertTrue(heat.min >= 45 and heat.min <= heat.max and heat.max <= 45 + n)
    lu.assertEquals(heat.unit, "C")
  end
  lu.assertEquals(events.sensors[3].values["temperature.celsius"].max, 48)
  lu.assertEquals(note(events, "temperature.celsius"), "45.0 to 48.0 C")
  lu.assertEquals(note(events, "sensors.thermal zones"), "soc")
  lu.assertStrContains(note(events, "sensors.processor clock"), "unavailable")
  lu.assertStrContains(result.stdout, "note  sensors.processor clock: unavailable: no cpufreq")
  lu.assertEquals(events.device_change, {})
end

local RISE = [[put("kernel/debug/mmc2/err_stats", "# Data CRC Errors Occurred:\t 2\n")]]

-- Also one in the last moment, long before the next sample.
function test.test_errors_of_the_host_fail_the_run()
  local folder <close> = disk.directory()
  local tree <close> = card(folder.path)
  for _, interval in ipairs { "0.05", "1000" } do
    tree:err_stats("mmc2", 0)
    local result, events = run(tree, folder.path, interval, [[
      task.sleep(0.2)
      t:measure("null.read", NULL)
      ]] .. RISE .. (interval == "1000" and "" or " task.sleep(0.3)"))
    lu.assertEquals(result.code, 1, result.stdout .. result.stderr)
    lu.assertEquals(#events.device_change, 1)
    local change = events.device_change[1]
    lu.assertEquals({ change.source, change.change, change.fails }, { "mmc2", "errors", true })
    lu.assertEquals(change.before["Data CRC"], 0)
    lu.assertEquals(change.after["Data CRC"], 2)
    lu.assertEquals(events.verdict.reasons[1],
      "sensors.mmc2.errors: mmc2 counted errors: Data CRC 2 more")
    lu.assertStrContains(result.stdout, "mmc2 counted errors: Data CRC 2 more")
    local total
    for _, one in ipairs(events.count) do
      if one.metric == "mmc.errors" then total = one.total end
    end
    lu.assertEquals(total, 2)
  end
end

function test.test_errors_that_can_no_longer_be_read_do_not_pass()
  local folder <close> = disk.directory()
  local tree <close> = card(folder.path)
  local result, events = run(tree, folder.path, "0.05", [[
    task.sleep(0.2)
    t:measure("null.read", NULL)
    put("kernel/debug/mmc2/err_stats", "")
    put("kernel/debug/mmc2/ios", "")
    task.sleep(0.3)]], '"mmc.errors count == 0"')
  lu.assertEquals(result.code, 1, result.stdout .. result.stderr)
  lu.assertEquals(events.verdict.reasons[1], "threshold mmc.errors count == 0: 0: the errors that "
    .. "the host counts can no longer be read: not understood")
  lu.assertStrContains(result.stdout, "200.0 MHz, ceiling 200.0 MB/s, mode not readable at times: "
    .. "not understood; errors counted before: none, not readable at times: not understood")
end

function test.test_a_slower_mode_fails_the_run()
  local folder <close> = disk.directory()
  local tree <close> = card(folder.path)
  local result, events = run(tree, folder.path, "0.05", [[
    task.sleep(0.2)
    t:measure("null.read", NULL)
    put("kernel/debug/mmc2/ios", "clock:\t\t52000000 Hz\npower mode:\t2 (on)\n"
      .. "bus width:\t3 (8 bits)\ntiming spec:\t8 (mmc DDR52)\n")
    task.sleep(0.3)]])
  lu.assertEquals(result.code, 1)
  lu.assertEquals(events.device_change[1].change, "mode")
  lu.assertStrContains(events.verdict.reasons[1],
    "mmc2 runs slower: mmc DDR52, 8 bit, 52.0 MHz, before: mmc HS200, 8 bit, 200.0 MHz")
end

function test.test_a_rate_above_the_bus_is_implausible()
  local folder <close> = disk.directory()
  local tree <close> = card(folder.path)
  tree:ios("mmc2", { timing = "0 (legacy)", clock = 400000, width = 0 }) -- 50 kB/s
  local result, events = run(tree, folder.path, "1000", ([[
    local path = %q
    local _ <close> = t:scratch_file(path)
    task.sleep(0.1)
    for _ = 1, 2 do
      t:measure("write", { path = path, operation = "write", size_bytes = "1M",
                           record_bytes = "64k", flush = "end" })
      t:measure("read", { path = path, operation = "read", record_bytes = "64k" })
    end
    t:measure("null", NULL)]]):format(folder.path .. "/storlua.x"))
  lu.assertEquals(result.code, 0, result.stdout .. result.stderr)
  lu.assertStrMatches(note(events, "bus.write"), "implausible: write at [%d.]+ MB/s is above the "
    .. "bus ceiling of 0.1 MB/s %(legacy, 1 bit, 0.4 MHz%)")
  lu.assertStrContains(note(events, "bus.read"), "it is of memory")
  lu.assertNil(note(events, "bus.null"))
  local told = 0
  for _, one in ipairs(events.note) do
    if one.key:find("^bus%.") then told = told + 1 end
  end
  lu.assertEquals(told, 2)
end

-- A sensor that does not answer is missing; what is about it cannot be judged.
local function run_with_hung_zone(body, setting)
  local folder <close> = disk.directory()
  local fault <close> = disk.fault()
  local tree <close> = card(folder.path)
  local file <close> = assert(io.open(fault.path .. "/temp", "w"))
  file:write("40000\n")
  file:close()
  tree:remove("class/thermal/thermal_zone0/temp")
  fs.symlink(fault.path .. "/temp", tree.path .. "/class/thermal/thermal_zone0/temp")
  fault:tell("only temp\nhang read")
  tree:zone(1, "board", 30000)
  local began = loop.now_ns()
  local result, events = run(tree, folder.path, "0.2", body, setting)
  lu.assertTrue((loop.now_ns() - began) / 1e9 < 8)
  lu.assertEquals(#events.measure, 1)
  lu.assertStrContains(note(events,
    "sensors." .. tree.path .. "/class/thermal/thermal_zone0/temp"), "does not answer")
  -- the others go on
  lu.assertStrContains(note(events, "sensors.thermal zones"), "board; not readable at times: soc")
  return result, events
end

function test.test_a_sensor_that_hangs_holds_nothing_up()
  local result = run_with_hung_zone([[
    require("storlua.sensors").answer_seconds = 0.2
    task.sleep(1.5)
    t:measure("null.read", NULL)]], '"thermal.board.celsius max <= 85"')
  lu.assertEquals(result.code, 0, result.stdout .. result.stderr)
  -- it answers to nobody until the end, which is reached all the same
  result = run_with_hung_zone("task.sleep(0.3) t:measure('null.read', NULL)")
  lu.assertEquals(result.code, 0, result.stdout .. result.stderr)
end

function test.test_a_threshold_about_a_hanging_sensor_fails()
  local body = "require('storlua.sensors').answer_seconds = 0.2 "
    .. "task.sleep(1.5) t:measure('null.read', NULL)"
  local result, events = run_with_hung_zone(body, '"temperature.celsius max <= 85"')
  lu.assertEquals(result.code, 1, result.stdout .. result.stderr)
  lu.assertStrMatches(events.verdict.reasons[1],
    "threshold temperature.celsius max <= 85: .*thermal_zone0/temp does not answer.*")
end

local BOARD = [[return { name = "kit", roles = { usb = { host = %q, rated_write = "10M", sensors = {
  { metric = "kit.volts", unit = "V", read = function() return 3.3 end },
  { metric = "kit.amps", read = function() error("no bus") end },
  { metric = "kit.text", read = function() return "much" end },
} } } }]]

function test.test_what_the_board_says()
  local folder <close> = disk.directory()
  local found = device.of_path(folder.path)
  if not found.single then lu.skip("no single device") end
  local path = folder.path .. "/storlua.x"
  local place <close> = procedure_run.place(([[
    local watchers <close> = task.scope()
    require("storlua.watch").device(t, watchers, %q)
    local _ <close> = t:scratch_file(%q)
    task.sleep(0.2)
    t:measure("write", { path = %q, operation = "write", size_bytes = "1M",
                         record_bytes = "64k", flush = "end" })]]):format(path, path, path))
  local board <close> = assert(io.open(place.path .. "/kit.lua", "w"))
  board:write(BOARD:format(found.single.name))
  board:close()
  local result = procedure_run.run(place, { "--board", "./kit.lua" })
  lu.assertEquals(result.code, 0, result.stdout .. result.stderr)
  local events = { note = cli_run.events_of(place.run_dir, "note") }
  lu.assertStrMatches(note(events, "rated_write"),
    "[%d.]+ %% of the rated life was written: %d+ of 10485760 bytes")
  -- others write to the same disk, so it may be more than the run's own
  local percent = tonumber(note(events, "rated_write"):match("^[%d.]+"))
  lu.assertTrue(percent >= 10, percent)
  lu.assertStrContains(note(events, "sensors.kit.amps"), "unavailable: ")
  lu.assertStrContains(note(events, "sensors.kit.amps"), "no bus")
  lu.assertEquals(note(events, "sensors.kit.text"), "unavailable: it gave much")
  lu.assertNil(note(events, "sensors.kit.volts"))
  local volts
  for _, one in ipairs(cli_run.events_of(place.run_dir, "sample")) do
    if one.metric == "kit.volts" then volts = one.last end
  end
  lu.assertEquals(volts, 3.3)
end

return test
