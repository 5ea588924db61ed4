-- SPDX-License-Identifier: MIT
local lu = require("luaunit")
local command_line = require("storlua.cli.command_line")
local fs = require("storlua.fs")
local nearest = require("storlua.nearest")
local options = require("storlua.cli.options")

local tests = {}

local DECLARED = options.declare({
  { name = "dir", type = "list", default = { "." } },
  { name = "size", short = "s", type = "size", default = "64M", min = "4k", max = "1T" },
  { name = "pause", type = "duration", default = 30, min = 0 },
  { name = "hours", type = "duration", default = "48h" },
  { name = "rounds", type = "count" },
  { name = "days", type = "number", max = 1000 },
  { name = "write-limit", type = "rate" },
  { name = "direct", type = "choice", choices = { "auto", "on", "off" }, default = "auto" },
  { name = "verbose", short = "v", type = "flag" },
  { name = "label", short = "l", type = "string" },
}, "options")

local function parse(argv, file)
  return options.complete(DECLARED, command_line.parse(DECLARED, argv), file)
end

local function refused(argv, pattern, file)
  local ok, err = pcall(parse, argv, file)
  lu.assertFalse(ok, table.concat(argv, " "))
  lu.assertEquals(type(err) == "table" and err.code or err, "USAGE")
  lu.assertStrContains(err.message, pattern)
  lu.assertNil(err.message:find("\n"), err.message)
end

function tests.test_defaults()
  local opt = parse {}
  lu.assertEquals(opt, {
    dir = { "." }, size = 64 << 20, pause = 30, hours = 172800, direct = "auto", verbose = false,
  })
  lu.assertEquals(math.type(opt.size), "integer")
end

function tests.test_every_way_to_write_an_option()
  local opt, given = parse { "--size=4k", "-vl", "x y", "--dir", "a", "--dir=-b", "--rounds", "0",
    "--write-limit", "10MB/s", "--pause", "1.5" }
  lu.assertEquals(opt.size, 4096)
  lu.assertTrue(opt.verbose)
  lu.assertEquals(opt.label, "x y")
  lu.assertEquals(opt.dir, { "a", "-b" })
  lu.assertEquals(opt.rounds, 0)
  lu.assertEquals(opt.write_limit, 10000000)
  lu.assertEquals(opt.pause, 1.5)
  lu.assertNil(given.hours)
  lu.assertEquals(given.rounds, 0)
  lu.assertEquals(parse({ "-s8k" }).size, 8192)
  lu.assertEquals(parse({ "--label=a=b" }).label, "a=b")
  lu.assertEquals(parse({ "--label=" }).label, "")
  refused({ "--label", "-a b" }, "if it is meant, write --label='-a b'")
  refused({ "--label", "-a" }, "if it is meant, write --label=-a")
end

function tests.test_a_script_may_change_its_lists()
  table.insert(parse({}).dir, "x")
  lu.assertEquals(parse({}).dir, { "." })
end

function tests.test_bad_sizes()
  for _, text in ipairs { "16E", "0", "4kk", "4k4", "1e3", "", "18446744073709551616",
    "18446744073709551615", "8E", "k", " 4k", "\u{FF14}k", "4096.5", "1", "2T", "-0", "nan" } do
    refused({ "--size=" .. text }, "--size: ")
  end
  refused({ "--size", "-1" }, "--size: the value '-1' begins with a minus")
  refused({ "-s", "-4k" }, "-s: the value '-4k' begins with a minus")
  refused({ "--size=-1" }, "--size: '-1'")
end

function tests.test_bad_durations()
  for _, text in ipairs { "0", "1y", "", "1e3", "4kk", "18446744073709551616", "1h30m", "-1" } do
    refused({ "--hours=" .. text }, "--hours: ")
  end
  refused({ "--hours", "-1" }, "--hours: the value '-1' begins with a minus")
end

function tests.test_numbers()
  lu.assertEquals(math.type(parse({ "--days", "48" }).days), "integer")
  lu.assertEquals(parse({ "--days", "0.25" }).days, 0.25)
  for _, text in ipairs { "0", "-1", "1e3", "0x10", "1,5", "1.", ".5", "", "1001", "inf", "nan",
    "18446744073709551616" } do
    refused({ "--days=" .. text }, "--days: ")
  end
end

function tests.test_errors_name_the_option()
  refused({ "--siez", "4k" }, "unknown option '--siez'; did you mean '--size'?")
  refused({ "--write_limit=1" }, "did you mean '--write-limit'?")
  refused({ "-size", "4k" }, "two minuses: --size")
  refused({ "-x" }, "unknown option '-x'")
  refused({ "-1" }, "unknown option '-1'")
  refused({ "--size" }, "--size: needs a value")
  refused({ "--verbose=1" }, "--verbose: takes no value")
  refused({ "--direct", "of" }, "--direct: 'of': is none of auto, on, off; did you mean 'off'?")
  refused({ "stray" }, "unexpected argument 'stray'")
  refused({ "-v", "--", "--size" }, "unexpected argument '--size'")
  refused({ "--label", "-x" }, "write --label=-x")
  refused({ "--label=a", "--size", "a\nb" }, "'a\\x0ab'")
end

function tests.test_positionals()
  local declared = options.declare({
    { name = "device", type = "string", positional = true, required = true },
    { name = "others", type = "list", positional = true },
    { name = "json", type = "flag" },
  }, "options")
  local function positional(argv)
    return (options.complete(declared, command_line.parse(declared, argv)))
  end
  lu.assertEquals(positional { "a", "--json" }, { device = "a", others = {}, json = true })
  lu.assertEquals(positional { "a", "b", "--", "-c" }.others, { "b", "-c" })
  local _, err = pcall(positional, {})
  lu.assertEquals(err.message, "device is required")
end

function tests.test_an_empty_path()
  local declared = options.declare({
    { name = "out", type = "string", path = true },
    { name = "dir", type = "list", path = true },
    { name = "runs", type = "list", path = true, positional = true },
  }, "options")
  local function message(argv)
    local _, err = pcall(command_line.parse, declared, argv)
    return err.code == "USAGE" and err.message
  end
  lu.assertEquals(message { "--out=" }, "--out: '': must not be empty: a path is needed")
  lu.assertEquals(message { "--out", "" }, "--out: '': must not be empty: a path is needed")
  lu.assertEquals(message { "--dir=a", "--dir=" }, "--dir: '' must not be empty: a path is needed")
  lu.assertEquals(message { "a", "" }, "runs: '' must not be empty: a path is needed")
  local folder <close> = fs.temp_dir()
  fs.write_atomic(folder.path .. "/options.lua", "return { dir = { '' } }")
  local _, err = pcall(options.read_file, declared, folder.path .. "/options.lua")
  lu.assertStrContains(err.message, "must not be empty: a path is needed")
end

function tests.test_options_file()
  local folder <close> = fs.temp_dir()
  local function file(text)
    local path = folder.path .. "/options.lua"
    fs.write_atomic(path, text)
    return path
  end
  local good = file("return { size = '1M', pause = 0.5, dir = { 'x' }, ['write-limit'] = 5 }")
  local opt, given = parse({ "--size", "2M" }, good)
  lu.assertEquals({ opt.size, opt.pause, opt.write_limit, opt.dir }, { 2 << 20, 0.5, 5, { "x" } })
  lu.assertEquals(given.pause, 0.5)
  refused({}, "unknown option 'siez'; did you mean 'size'?", file("return { siez = 1 }"))
  refused({}, "size: '1': must be at least 4k", file("return { size = 1 }"))
  refused({}, "dir", file("return { dir = 'x' }"))
  refused({}, "must be a text or a number", file("return { size = true }"))
  refused({}, "options.lua:1:", file("return {"))
  refused({}, "attempt to call", file("return { size = print() }"))
  refused({}, "must return a table", file(""))
  refused({}, "No such file", folder.path .. "/none.lua")
end

function tests.test_bad_declarations()
  local function bad(option, pattern)
    local ok, err = pcall(options.declare, { option }, "options")
    lu.assertFalse(ok)
    lu.assertEquals(err.code, "DECLARATION", tostring(err))
    lu.assertStrContains(err.message, pattern)
  end
  bad({ type = "size" }, "options[1].name is missing")
  bad({ name = "x", typ = "size" }, "options[1].typ is not a field; did you mean 'type'?")
  bad({ name = "x", type = "sise" }, "did you mean 'size'?")
  bad({ name = "X y", type = "size" }, "options[1].name")
  bad({ name = "x", type = "size", short = "xy" }, "options[1].short")
  bad({ name = "x", type = "size", default = "1k", min = "4k" }, "options[1].default '1k': must be")
  bad({ name = "x", type = "size", default = "4kk" }, "options[1].default")
  bad({ name = "x", type = "size", min = "1e3" }, "options[1].min")
  bad({ name = "x", type = "string", min = 1 }, "options[1].min")
  bad({ name = "x", type = "size", path = true }, "options[1].path is for the types")
  bad({ name = "x", type = "string", path = true, default = "" }, "options[1].default '': must not")
  bad({ name = "x", type = "choice" }, "options[1].choices is missing")
  bad({ name = "x", type = "choice", choices = { "a" }, default = "b" }, "options[1].default")
  bad({ name = "x", type = "flag", default = true }, "options[1].default")
  bad({ name = "x", type = "count", required = true, default = 1 }, "options[1].required")
  bad("x", "options[1] must be a table")
end

function tests.test_nearest()
  lu.assertEquals(nearest.distance("size", "siez"), 1)
  lu.assertEquals(nearest.distance("", "abc"), 3)
  lu.assertEquals(nearest.distance("kitten", "sitting"), 3)
  lu.assertEquals(nearest.find("outptu", { "options", "output" }), "output")
  lu.assertEquals(nearest.find("min", { "minutes", "hours" }), "minutes")
  lu.assertNil(nearest.find("zzzz", { "size", "dir" }))
end

return tests
