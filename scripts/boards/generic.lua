-- SPDX-License-Identifier: MIT
--- Any machine: tells eMMC, SD and NVMe apart and sets no limits.
return {
  name = "generic",
  summary = "any machine, without limits",
  roles = {
    emmc = { type = "MMC" },
    sd = { type = "SD" },
    nvme = { type = "nvme" },
  },
}
