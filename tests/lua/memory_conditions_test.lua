-- SPDX-License-Identifier: MIT
--- What surrounds a measurement of memory: clocks, heat, and what the memory
--- controllers count.
local conditions = require("storlua.memory.conditions")
local disk = require("disk")
local ecc = require("storlua.memory.ecc")
local fs = require("storlua.fs")
local lu = require("luaunit")
local memory_test = require("storlua.memory.test")

local function put(place, files)
  for path, text in pairs(files) do
    fs.mkdirs(place.path .. "/" .. path:match("^(.*)/"))
    fs.write_atomic(place.path .. "/" .. path, text .. "\n")
  end
end

local CPU <const> = "devices/system/cpu/cpufreq/policy0/scaling_cur_freq"
local ZONE <const> = "class/thermal/thermal_zone0/temp"
local DMC <const> = "class/devfreq/dmc/cur_freq"
local MC <const> = "devices/system/edac/mc/mc0/"

local T = {}

function T.tearDown() conditions.sysfs, ecc.sysfs = "/sys", "/sys" end

function T.test_clocks_and_heat_before_and_after()
  local place <close> = disk.directory()
  put(place, { [CPU] = "1800000", [ZONE] = "61000", ["class/thermal/thermal_zone0/type"] = "cpu",
               [DMC] = "1560000000", ["class/devfreq/ff9a0000.gpu/cur_freq"] = "200000000" })
  conditions.sysfs = place.path
  local result = conditions.around(function(given)
    put(place, { [CPU] = "1200000", [ZONE] = "84500", [DMC] = "528000000" })
    return { value = given.value }
  end, { value = 7 })
  lu.assertEquals(result.value, 7)
  lu.assertEquals(result.conditions, {
    before = { celsius = 61, cpu_mhz = { policy0 = 1800 }, memory_mhz = { dmc = 1560 } },
    after = { celsius = 84.5, cpu_mhz = { policy0 = 1200 }, memory_mhz = { dmc = 528 } } })
  lu.assertEquals(conditions.change(result.conditions),
    "clock of policy0 1800 -> 1200 MHz, memory clock dmc 1560 -> 528 MHz, 61.0 -> 84.5 °C")
  lu.assertEquals(conditions.status().memory_clock, "dmc")
  put(place, { [CPU] = "1210000", [ZONE] = "85000" })
  lu.assertNil(conditions.change { before = result.conditions.after, after = conditions.read() })
end

function T.test_what_is_not_there_is_said()
  local place <close> = disk.directory()
  conditions.sysfs = place.path
  lu.assertEquals(conditions.read(), { cpu_mhz = {}, memory_mhz = {} })
  local status = conditions.status()
  for _, key in ipairs { "temperature", "cpu_clock", "memory_clock" } do
    lu.assertStrContains(status[key], "unavailable")
  end
  local nothing = conditions.read()
  lu.assertNil(conditions.change { before = nothing, after = nothing })
  ecc.sysfs = place.path
  local count = ecc.since(ecc.read())
  lu.assertStrContains(count.reason, "no EDAC driver")
  lu.assertNil(count.corrected) -- not 0: nobody has looked
end

local function counters(place, corrected, uncorrected, dimm)
  put(place, { [MC .. "ce_count"] = corrected, [MC .. "ue_count"] = uncorrected,
               [MC .. "dimm1/dimm_ce_count"] = dimm or 0, [MC .. "dimm1/dimm_ue_count"] = 0,
               [MC .. "dimm1/dimm_label"] = "DIMM_A2",
               ["module/edac_core/parameters/edac_mc_poll_msec"] = 10 })
end

function T.test_errors_that_ecc_saw()
  local place <close> = disk.directory()
  ecc.sysfs = place.path
  counters(place, 5, 1)
  local before = ecc.read()
  lu.assertEquals(ecc.since(before), { corrected = 0, uncorrected = 0 })
  lu.assertNil(ecc.problem(ecc.since(before), 0))
  counters(place, 7, 1, 2)
  local count = ecc.since(before)
  lu.assertEquals({ count.corrected, count.uncorrected }, { 2, 0 })
  lu.assertStrContains(count.where, "mc0: 2 corrected")
  lu.assertStrContains(count.where, "mc0 DIMM_A2: 2 corrected")
  lu.assertNil(ecc.problem(count, 2))
  lu.assertStrContains(ecc.problem(count, 1), "2 corrected")
  counters(place, 5, 2)
  lu.assertStrContains(ecc.problem(ecc.since(before), 100), "1 uncorrected")
  counters(place, 0, 1)
  count = ecc.since(before)
  lu.assertStrContains(count.reason, "began anew")
  lu.assertNil(ecc.problem(count, 0))
  fs.remove_tree(place.path .. "/devices")
  lu.assertStrContains(ecc.since(before).reason, "gone")
end

function T.test_a_controller_that_is_gone_is_not_judged()
  local place <close> = disk.directory()
  ecc.sysfs = place.path
  counters(place, 0, 0)
  put(place, { ["devices/system/edac/mc/mc1/ce_count"] = 0,
               ["devices/system/edac/mc/mc1/ue_count"] = 0 })
  local before = ecc.read()
  lu.assertEquals(ecc.since(before), { corrected = 0, uncorrected = 0 })
  fs.remove_tree(place.path .. "/" .. MC .. "dimm1") -- a part: its controller still counts
  lu.assertEquals(ecc.since(before), { corrected = 0, uncorrected = 0 })
  fs.remove_tree(place.path .. "/devices/system/edac/mc/mc1")
  local count = ecc.since(before)
  lu.assertStrContains(count.reason, "mc1 are gone")
  lu.assertNil(count.corrected)
end

function T.test_a_memory_test_judges_them()
  local place <close> = disk.directory()
  ecc.sysfs = place.path
  local function run(corrected_max)
    counters(place, 0, 0)
    local one <close> = memory_test.start { memory = 1 << 20, passes = 1, fade_seconds = 0.01,
                                            corrected_max = corrected_max }
    counters(place, 3, 0, 3)
    return one:wait()
  end
  local r = run()
  lu.assertEquals(r.errors_total, 0)
  lu.assertStrContains(memory_test.problem(r), "mc0 DIMM_A2: 3 corrected")
  lu.assertNil(memory_test.problem(run(3)))
  local planted = memory_test.run { memory = 1 << 20, passes = 1, patterns = { "random" },
                                    ecc = false }
  lu.assertNil(planted.ecc)
end

return T
