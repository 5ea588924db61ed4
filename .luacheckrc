-- SPDX-License-Identifier: MIT
std = "lua54"
max_line_length = 100
codes = true
