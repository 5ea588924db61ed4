-- SPDX-License-Identifier: MIT
--- Sampling made-up trees of sysfs and debugfs.

local disk = require("disk")
local fake_tree = require("fake_tree")
local fs = require("storlua.fs")
local lu = require("luaunit")
local sensors = require("storlua.sensors")

local NOTHING = { disks = {}, chain = {}, label = "tmpfs", kind = "none" }
local CARD = "devices/platform/fe33/mmc_host/mmc2/mmc2:0001/block/mmcblk2"

local test = {}

local function open(tree, found)
  return sensors.open(found or NOTHING, { sysfs = tree.path })
end

-- A sample as {metric → value}, its changes and its counts.
local function sample(set)
  local out, values = set:sample(), {}
  for _, one in ipairs(out.samples) do values[one.metric] = one.value end
  return values, out.changes, out.counts
end

function test.test_nothing_there_is_said()
  local tree <close> = fake_tree.new()
  local set = open(tree)
  lu.assertEquals(sample(set), {})
  for _, name in ipairs { "thermal zones", "processor clock", "disk temperature" } do
    lu.assertStrContains(set:status()[name], "unavailable: ")
  end
  lu.assertEquals(set:unavailable(), {
    ["temperature.celsius"] = "the kernel has none", ["mmc.errors"] = "it is no mmc card",
    ["disk.celsius"] = "the disk has no sensor that the kernel knows",
  })
  lu.assertNil(set:ceiling())
  lu.assertNil(set:clock_summary())
end

function test.test_zones()
  local tree <close> = fake_tree.new()
  tree:zone(0, "cpu-thermal", 66400)
  tree:zone(1, "gpu thermal", -5000)
  tree:zone(2, "cpu-thermal", 71000)
  tree:zone(3, "broken", -274000)
  tree:zone(4, "words", "hot")
  local set = open(tree)
  lu.assertEquals(sample(set), {
    ["thermal.cpu-thermal.celsius"] = 66.4, ["thermal.gpu_thermal.celsius"] = -5.0,
    ["thermal.cpu-thermal_2.celsius"] = 71.0, ["temperature.celsius"] = 71.0,
  })
  local status = set:status()["thermal zones"]
  lu.assertStrContains(status, "broken (implausible), words (no number)")
end

-- A zone whose sensor is off answers with EAGAIN or EINVAL.
function test.test_zones_that_do_not_answer()
  local fault <close> = disk.fault()
  local tree <close> = fake_tree.new()
  tree:zone(0, "cpu", 50000)
  for i, name in ipairs { "modem", "wifi" } do
    tree:zone(i, name)
    local file <close> = assert(io.open(fault.path .. "/" .. name, "w"))
    file:write("40000\n")
    fs.symlink(fault.path .. "/" .. name, ("%s/class/thermal/thermal_zone%d/temp"):format(
      tree.path, i))
  end
  tree:zone(3, "gone")
  fault:tell("only modem\nread EAGAIN")
  local set = open(tree)
  lu.assertEquals(sample(set), {
    ["thermal.cpu.celsius"] = 50.0, ["thermal.wifi.celsius"] = 40.0,
    ["temperature.celsius"] = 50.0,
  })
  lu.assertEquals(set:status()["thermal zones"],
    "cpu, wifi; not readable at times: modem (EAGAIN), gone (ENOENT)")
  fault:tell("clear\nonly wifi\nread EINVAL")
  lu.assertEquals(sample(set), {
    ["thermal.cpu.celsius"] = 50.0, ["thermal.modem.celsius"] = 40.0,
    ["temperature.celsius"] = 50.0,
  })
  lu.assertStrContains(set:status()["thermal zones"],
    "cpu, modem, wifi; not readable at times: modem (EAGAIN), wifi (EINVAL)")
end

function test.test_the_disk_s_own_sensors()
  local tree <close> = fake_tree.new()
  local directory = "devices/pci0000:00/0000:01:00.0/nvme/nvme0/nvme0n1"
  local found = tree:disk("259:0", directory)
  tree:write(directory .. "/device/hwmon3/temp1_input", "38850\n")
  tree:write(directory .. "/device/hwmon3/temp1_label", "Composite\n")
  tree:write(directory .. "/device/hwmon3/temp2_input", "51850\n")
  tree:write(directory .. "/device/hwmon3/temp2_label", "Sensor 1\n")
  tree:write(directory .. "/device/device/current_link_speed", "8.0 GT/s PCIe\n")
  tree:write(directory .. "/device/device/current_link_width", "4\n")
  local set = open(tree, found)
  lu.assertEquals(sample(set), { ["disk.celsius"] = 38.85, ["disk.Sensor_1.celsius"] = 51.85 })
  local ceiling, bus = set:ceiling()
  lu.assertEquals(ceiling, 4 * 984615384)
  lu.assertEquals(bus, "PCIe, 4 lanes of 8 GT/s")
end

function test.test_a_partition_and_a_loop_lead_to_the_disk()
  local tree <close> = fake_tree.new()
  local whole = "devices/pci0000:00/usb2/2-1/2-1:1.0/host0/target0:0:0/0:0:0:0/block/sda"
  local found = tree:disk("8:1", whole .. "/sda1")
  tree:write(whole .. "/sda1/partition", "1\n")
  tree:write(whole .. "/device/hwmon/hwmon1/temp1_input", "30000\n")
  tree:write("devices/pci0000:00/usb2/2-1/speed", "480\n")
  tree:write("devices/pci0000:00/usb2/2-1/devnum", "3\n")
  local loop = { disks = { { number = "7:0", name = "loop0", loop = { below = found } } } }
  for _, one in ipairs { found, loop } do
    local set = open(tree, one)
    lu.assertEquals(sample(set), { ["disk.celsius"] = 30.0 })
    lu.assertEquals({ set:ceiling() }, { 60000000, "USB at 480 Mbit/s" })
  end
end

function test.test_clock_throttled_by_one_step()
  local tree <close> = fake_tree.new()
  local times = { 1992000, 1640.67, 1800000, 0, 1416000, 86.17, 408000, 0 }
  tree:policy(4, { maximum = 1992000, limit = 1992000, now = 1992000, times = { 1992000, 0,
    1800000, 0, 1416000, 0, 408000, 0 } })
  local set = open(tree)
  lu.assertEquals(sample(set), { ["cpu.policy4.mhz"] = 1992.0 })
  tree:policy(4, { limit = 1416000, now = 1416000, times = times })
  local values = sample(set)
  lu.assertEquals(values["cpu.policy4.mhz"], 1416.0)
  lu.assertAlmostEquals(values["cpu.policy4.below_max_percent"], 4.99, 0.01)
  lu.assertEquals(set:clock_summary(), "policy4: 86.2 of 1726.8 s (5.0 %) below 1992 MHz, "
    .. "lowest seen 1416 MHz, limit at least 1416 MHz")
end

function test.test_clock_throttled_for_most_of_the_time()
  local tree <close> = fake_tree.new()
  local clocks = { 1794000, 345.54, 1716000, 3.11, 1612000, 4.39, 1508000, 6.96, 1404000, 8.99,
                   1196000, 9.76, 1014000, 10.21, 780000, 36.42, 416000, 672.66 }
  local start = table.move(clocks, 1, #clocks, 1, {})
  for i = 2, #start, 2 do start[i] = 1000 end
  tree:policy(0, { times = start })
  local set = open(tree)
  lu.assertEquals(sample(set), {})
  lu.assertStrContains(set:status()["processor clock"], "clock not readable at times")
  for i = 2, #clocks, 2 do clocks[i] = clocks[i] + 1000 end
  tree:policy(0, { times = clocks })
  lu.assertAlmostEquals(sample(set)["cpu.policy0.below_max_percent"], 68.5, 0.1)
  -- a driver that was loaded anew counts from 0: no interval to tell of
  tree:policy(0, { times = { 1794000, 1, 416000, 1 } })
  lu.assertEquals(sample(set), {})
end

function test.test_no_account_of_times_is_said()
  local tree <close> = fake_tree.new()
  tree:policy(0, { maximum = 1500000, now = 1200000, governor = "ondemand" })
  local set = open(tree)
  lu.assertEquals(sample(set), { ["cpu.policy0.mhz"] = 1200.0 })
  lu.assertEquals(set:status()["processor clock"],
    "policy0 at most 1500 MHz (ondemand), no account of the time at each clock")
  tree:write("devices/system/cpu/cpufreq/policy0/stats/time_in_state", "garbage\n")
  lu.assertEquals(sample(set), { ["cpu.policy0.mhz"] = 1200.0 })
end

-- timing, clock, actual clock, width; what the bus can carry
local MODES = {
  { { timing = "7 (sd uhs DDR50)", clock = 50000000, actual = 50000000, width = 2 }, 50000000 },
  { { timing = "9 (mmc HS200)", clock = 200000000, actual = 187500000, width = 3 }, 187500000 },
  { { timing = "10 (mmc HS400)", clock = 100000000, width = 3 }, 200000000 },
  { { timing = "2 (sd high-speed)", clock = 50000000, width = 2 }, 25000000 },
  { { timing = "6 (sd uhs SDR104)", clock = 50000000, width = 2 }, 25000000 },
}

function test.test_modes_and_their_ceilings()
  for _, mode in ipairs(MODES) do
    local tree <close> = fake_tree.new()
    local found = tree:disk("179:0", CARD)
    tree:ios("mmc2", mode[1])
    tree:err_stats("mmc2", 0)
    local set = open(tree, found)
    lu.assertNil(set:ceiling())
    local values, changes = sample(set)
    lu.assertEquals(values, {
      ["mmc2.clock_mhz"] = (mode[1].actual or mode[1].clock) / 1e6,
    })
    lu.assertEquals(changes, {})
    lu.assertEquals((set:ceiling()), mode[2])
    lu.assertStrContains(set:status().mmc2, mode[1].timing:match("%((.*)%)"))
    lu.assertStrContains(set:status().mmc2, "errors counted before: none")
  end
end

function test.test_suspended_is_no_mode()
  local tree <close> = fake_tree.new()
  tree:write("node", ("x"):rep(4096))
  local found = tree:disk("179:0", CARD, tree.path .. "/node") -- is read to wake it
  tree:ios("mmc2")
  tree:err_stats("mmc2", 0)
  local set = open(tree, found)
  lu.assertEquals(sample(set), {})
  lu.assertNil(set:ceiling())
  lu.assertStrContains(set:status().mmc2, "mode unknown: the card sleeps")
  tree:ios("mmc2", MODES[1][1])
  sample(set)
  tree:ios("mmc2")
  local _, changes = sample(set)
  lu.assertEquals(changes, {})
  tree:ios("mmc2", MODES[1][1])
  _, changes = sample(set)
  lu.assertEquals(changes, {})
end

function test.test_a_slower_mode_fails_and_a_faster_one_does_not()
  local tree <close> = fake_tree.new()
  local found = tree:disk("179:0", CARD)
  tree:err_stats("mmc2", 0)
  tree:ios("mmc2", MODES[2][1])
  local set = open(tree, found)
  sample(set)
  tree:ios("mmc2", { timing = "8 (mmc DDR52)", clock = 52000000, width = 3 })
  local _, changes = sample(set)
  lu.assertEquals(#changes, 1)
  lu.assertEquals({ changes[1].change, changes[1].fails }, { "mode", true })
  lu.assertEquals(changes[1].text, "mmc2 runs slower: mmc DDR52, 8 bit, 52.0 MHz, before: "
    .. "mmc HS200, 8 bit, 187.5 MHz")
  lu.assertEquals(changes[1].after.ceiling_bytes_s, 104000000)
  tree:ios("mmc2", MODES[2][1])
  _, changes = sample(set)
  lu.assertEquals({ #changes, changes[1].fails }, { 1, false })
  lu.assertEquals({ set:ceiling() }, { 187500000, "mmc HS200, 8 bit, 187.5 MHz" })
end

function test.test_errors_the_host_counts()
  local tree <close> = fake_tree.new()
  local found = tree:disk("179:0", CARD)
  tree:ios("mmc2", MODES[2][1])
  tree:err_stats("mmc2", 3)
  local set = open(tree, found)
  local _, changes = sample(set)
  lu.assertEquals(changes, {})
  lu.assertStrContains(set:status().mmc2, "errors counted before: Data CRC 3")
  tree:err_stats("mmc2", 5, 1)
  local counts
  _, changes, counts = sample(set)
  lu.assertEquals(#changes, 1)
  lu.assertEquals(changes[1].text, "mmc2 counted errors: Command Timeout 1 more, Data CRC 2 more")
  lu.assertTrue(changes[1].fails)
  lu.assertEquals({ counts[1].metric, counts[1].n }, { "mmc.errors", 3 })
  lu.assertEquals(changes[1].before, { ["Command Timeout"] = 0, ["Data CRC"] = 3 })
  tree:err_stats("mmc2", 0) -- begun anew
  _, changes = sample(set)
  lu.assertEquals(changes, {})
end

function test.test_no_debugfs_is_said()
  local tree <close> = fake_tree.new()
  local set = open(tree, tree:disk("179:0", CARD))
  lu.assertEquals(sample(set), {})
  lu.assertStrContains(set:status().mmc2, "mode unavailable: debugfs is not mounted")
  lu.assertStrContains(set:status().mmc2, "before: unavailable: debugfs is not mounted")
  tree:write("kernel/debug/mmc2/ios", "nonsense\n")
  lu.assertEquals(sample(open(tree, tree:disk("179:1", CARD .. "x"))), {})
end

-- The host of a wireless chip is no storage: only the disk's own host counts.
function test.test_other_hosts_are_left_alone()
  local tree <close> = fake_tree.new()
  local found = tree:disk("179:0", CARD)
  tree:ios("mmc2", MODES[2][1])
  tree:err_stats("mmc2", 0)
  tree:ios("mmc1", MODES[4][1])
  tree:err_stats("mmc1", 0)
  local set = open(tree, found)
  sample(set)
  tree:err_stats("mmc1", 9)
  local values, changes = sample(set)
  lu.assertNil(values["mmc1.clock_mhz"])
  lu.assertEquals(changes, {})
end

return test
