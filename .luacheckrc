-- SPDX-License-Identifier: MIT
std = "lua54"
max_line_length = 100
codes = true
-- Replacing functions of Lua's own library is what this file is for.
files["lua/storlua/stdlib.lua"].ignore = { "122" }
-- Definitions for editors have no bodies.
files["lua/meta"].ignore = { "212", "241" }
