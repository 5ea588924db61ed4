-- SPDX-License-Identifier: MIT
--- The X5 evaluation board (evb_x5), eMMC 5.1 in HS200 mode.
---
--- The limits are those of the vendor's stress manual: reading 90 to 150 MB/s,
--- writing 60 to 120 MB/s are usual; its passing run reaches 168 and 102. They
--- hold for sequential records of 1 MiB and more, judged for each file size by
--- itself: pooled over sizes, a collapse at one size hides behind the others.
--- HS200 moves at most 200 MB/s over the bus; more was not the device.
---
--- The board is not recognised by itself: its device tree names only the SoC,
--- which other boards share. Say --board evb_x5.

local MIB = 1 << 20

-- The C library's fwrite goes through the page cache: its rate is another one.
local ENGINES = { "psync", "sync", "libaio", "io_uring", "posixaio" }

local function sequential(operation)
  return { operation = operation, order = "sequential", engine = ENGINES, record_bytes_min = MIB }
end

return {
  name = "evb_x5",
  summary = "X5 evaluation board, eMMC 5.1 (HS200)",
  roles = {
    emmc = {
      type = "MMC",
      scratch = "/userdata",
      limits = {
        { metric = "write.mb_s", statistic = "p50", min = 60, max = 200, unit = "MB/s",
          applies_to = sequential("write"), each = "size" },
        { metric = "read.mb_s", statistic = "p50", min = 90, max = 200, unit = "MB/s",
          applies_to = sequential("read"), each = "size" },
      },
    },
    sd = { type = "SD" },
  },
}
