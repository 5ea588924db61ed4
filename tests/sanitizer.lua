-- SPDX-License-Identifier: MIT
--- Which sanitizer this program and the one under test were built with:
--- "address", "thread", "valgrind" or false (of nil, require would make true).
--- They keep freed memory, and the thread sanitizer delivers signals only
--- between instrumented calls.

local file <close> = assert(io.open("/proc/self/maps"))
local maps = file:read("a")
return maps:find("libasan", 1, true) and "address"
  or maps:find("libtsan", 1, true) and "thread"
  or maps:find("vgpreload", 1, true) and "valgrind" or false
