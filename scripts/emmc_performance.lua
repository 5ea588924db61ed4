#!/usr/bin/env storlua
-- SPDX-License-Identifier: MIT
--- The eMMC performance test of a board vendor's manual: seven record sizes and
--- five file sizes in loops.

local emmc = require("storlua.emmc")

return emmc.procedure {
  name = "performance",
  title = "performance",
  summary = "eMMC performance: records of 4K to 16M on files of 16K to 256M in loops.",
  description = [[
Each loop measures 28 pairs of file and record size with all tests, about 16 GiB
written and 19 GiB read. The speed limits are those of the board (--board
evb_x5), judged for each file size by itself; the manual's own rule, the highest
number of the table, hides a collapse that the others show.]],
  command = function(dir, round)
    local words = { "-e", "-I", "-a" }
    for _, record in ipairs { "4K", "16K", "64K", "256K", "1M", "4M", "16M" } do
      table.move({ "-r", record }, 1, 2, #words + 1, words)
    end
    for _, size in ipairs { "16K", "1M", "16M", "128M", "256M" } do
      table.move({ "-s", size }, 1, 2, #words + 1, words)
    end
    local rest = { "-f", dir .. "/iozone_data",
                   "-Rb", ("%s/test_iozone_emmc_performance_%d.xls"):format(dir, round) }
    return table.move(rest, 1, 4, #words + 1, words)
  end,
}
