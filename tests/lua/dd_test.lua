-- SPDX-License-Identifier: MIT
--- dd's command line and its closing lines, beside those of dd itself.

local arguments = require("storlua.dd.arguments")
local dd_lines = require("storlua.dd.lines")
local errors = require("storlua.errors")
local lu = require("luaunit")
local process = require("storlua.process")

local suite = {}

local function parse(line)
  local argv = {}
  for word in line:gmatch("%S+") do argv[#argv + 1] = word end
  return errors.try(arguments.parse, argv)
end

function suite.test_lines_of_the_article()
  local w = parse("if=/dev/zero of=/test bs=1M count=500 conv=fsync")
  lu.assertTrue(w.writes)
  lu.assertEquals({ w.path, w.block_bytes, w.count_bytes, w.conv.fsync },
    { "/test", 1 << 20, 500 << 20, true })
  local d = parse("if=/dev/zero of=/run/media/x/test bs=1M count=500 conv=fsync \\oflag=direct")
  lu.assertTrue(d.oflag.direct)
  local r = parse("if=/run/media/x/test of=/dev/null bs=1M iflag=direct")
  lu.assertFalse(r.writes)
  lu.assertEquals({ r.path, r.iflag.direct, r.count_bytes }, { "/run/media/x/test", true })
end

function suite.test_blanks_get_the_right_line()
  for line, shown in pairs {
    ["if=/dev/zero of=/test bs=1M count= 500 conv=fsync"] = "count= 500",
    ["if=/dev/zero of=/test bs=1M count=500 conv = fsync"] = "conv = fsync",
    ["if=/dev/zero of=/test bs=1M count =500 conv=fsync"] = "count =500",
  } do
    local opt, err = parse(line)
    lu.assertNil(opt)
    lu.assertStrContains(err.message, "a blank inside '" .. shown .. "'")
    lu.assertStrContains(err.message, "dd.lua if=/dev/zero of=/test bs=1M count=500 conv=fsync")
  end
end

function suite.test_numbers()
  local function bytes(text) return parse("if=/dev/zero of=x count=1 bs=" .. text).block_bytes end
  for text, value in pairs {
    ["1"] = 1, ["2w"] = 4, ["3b"] = 1536, ["1kB"] = 1000, ["1K"] = 1024, ["1KiB"] = 1024,
    ["1M"] = 1 << 20, ["1MB"] = 1000000, ["2x1M"] = 2 << 20, ["1G"] = 1 << 30, ["7c"] = 7,
  } do lu.assertEquals(bytes(text), value, text) end
  lu.assertEquals(parse("if=x of=/dev/null bs=4K count=8192B skip=2").count_bytes, 8192)
  lu.assertEquals(parse("if=x of=/dev/null bs=4K count=3 skip=2").skip_bytes, 8192)
end

function suite.test_refusals_name_what_is_wrong()
  for line, text in pairs {
    ["if=/dev/zero of=x bs=0 count=1"] = "bs=0",
    ["if=/dev/zero of=x bs=1Q count=1"] = "bs=1Q",
    ["if=/dev/zero of=x bs=-1 count=1"] = "bs=-1",
    ["if=/dev/zero of=x bs=16E count=1"] = "bs=16E is too large",
    ["if=/dev/zero of=x bs=1G count=99999999999"] = "count=99999999999 is too large",
    ["if=/dev/zero of=x count=0"] = "count=0",
    ["if=/dev/zero of=x conv=fsnyc"] = "fsync",
    ["if=/dev/zero of=x conv=sparse"] = "conv=sparse is not taken",
    ["if=/dev/zero of=x count=5 oflag=count_bytes"] = "oflag=count_bytes is not taken",
    ["if=x of=/dev/null skip=5 oflag=skip_bytes"] = "oflag=skip_bytes is not taken",
    ["if=/dev/zero of=x seek=5 iflag=seek_bytes"] = "iflag=seek_bytes is not taken",
    ["if=/dev/zero of=x count=5 iflag=direct"] = "oflag=direct is meant",
    ["if=x of=/dev/null oflag=direct"] = "iflag=direct is meant",
    ["if=/dev/zero of=/dev/null count=1"] = "no storage",
    ["if=a of=b"] = "one side at a time",
    ["of=b"] = "if= is missing",
    ["if=b"] = "of= is missing",
    ["if=b of=/dev/null cuont=1"] = "count",
    ["if=b of=/dev/null bs=1 bs=2"] = "given twice",
    ["if=b of=/dev/null --owerwrite"] = "--overwrite",
    ["if=b of=/dev/null status=quiet"] = "progress",
  } do
    local opt, err = parse(line)
    lu.assertNil(opt, line)
    lu.assertEquals(err.code, "USAGE")
    lu.assertStrContains(err.message, text)
  end
end

function suite.test_closing_lines()
  lu.assertEquals(dd_lines.closing(524288000, 7815320000, 1 << 20, "default"), {
    "500+0 records in", "500+0 records out",
    "524288000 bytes (524 MB, 500 MiB) copied, 7.81532 s, 67.1 MB/s" })
  lu.assertEquals(dd_lines.closing(524288000, 107154000000, 1 << 20, "noxfer"),
    { "500+0 records in", "500+0 records out" })
  lu.assertEquals(dd_lines.copied(524288000, 107154000000):match("%S+ MB/s$"), "4.9 MB/s")
  lu.assertEquals(dd_lines.closing(1, 1, 1, "none"), {})
  lu.assertEquals(dd_lines.records(1536, 1024), "1+1")
end

function suite.test_closing_lines_are_those_of_dd()
  for _, block in ipairs { 1, 10, 999, 1000, 1023, 1024, 9949, 9950, 10240, 99500, 999500,
    1000000, 1048576, 10485760 } do
    local err = process.run { "dd", "if=/dev/zero", "of=/dev/null", "bs=" .. block, "count=3",
      env = { LC_ALL = "C" } }.stderr
    local last = err:match("([^\n]+)\n$")
    local seconds = tonumber(last:match("copied, (%S+) s"))
    local ours = dd_lines.copied(block * 3, math.floor(seconds * 1e9 + 0.5))
    lu.assertEquals(ours:match("^(.- copied)"), last:match("^(.- copied)"))
    lu.assertEquals(ours:match("%d %a+/s$"), last:match("%d %a+/s$"), last)
  end
end

return suite
