#!/usr/bin/env storlua
-- SPDX-License-Identifier: MIT
--- The eMMC stability test of a board vendor's manual: iozone -e -I -az -n 16m
--- -g 2g -q 16m in loops. The real aim is 48 hours without a reboot or a hang.

local emmc = require("storlua.emmc")

return emmc.procedure {
  name = "stability",
  title = "stability",
  summary = "eMMC stability: the matrix of iozone in loops for 48 hours.",
  description = [[
Each loop measures 104 pairs of file and record size with all tests, about 310
GiB written and 360 GiB read. What is read is verified. The test fails on any
failed test, bad sector or kernel error of the device, an operation of more than
30 seconds, a reboot (seen when it goes on with --resume), and where the board
is known, on speeds below its limits.]],
  -- -+d: stamps in every sector, where iozone verifies a constant
  command = function(dir, round)
    return { "-e", "-I", "-az", "-n", "16m", "-g", "2g", "-q", "16m", "-+d",
             "-f", dir .. "/iozone_data",
             "-Rb", ("%s/test_iozone_emmc_stability_%d.xls"):format(dir, round) }
  end,
}
