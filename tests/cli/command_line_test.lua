-- SPDX-License-Identifier: MIT
--- Options, help and the look-up of scripts as a user meets them.

local lu = require("luaunit")
local cli_run = require("cli_run")
local fs = require("storlua.fs")
local shell = require("shell")

local tests = {}

local PROCEDURE = [[
local storlua = require("storlua")
return storlua.procedure {
  summary = "Tries options.",
  options = {
    { name = "size", short = "s", type = "size", default = "64M", min = "4k",
      help = "of the file" },
    { name = "hours", type = "duration", default = 1.5, help = "how long" },
    { name = "path", type = "string" },
  },
  thresholds = { "write.mib_s p50 >= 1.5" },
  cases = function(opt) return { "write", "size_" .. opt.size } end,
  run = function() error("nothing may run here") end,
}
]]

local function workshop()
  local folder = fs.temp_dir()
  fs.write_atomic(folder.path .. "/try.lua", PROCEDURE)
  return folder
end

local function run(folder, argv)
  argv.cwd = folder.path
  return cli_run.run(argv)
end

local function refused(folder, argv, pattern)
  local result = run(folder, argv)
  local words = table.concat(argv, " ")
  lu.assertEquals(result.code, 2, words .. "\n" .. result.stderr)
  lu.assertEquals(result.stdout, "", words)
  lu.assertStrContains(result.stderr, pattern)
  lu.assertStrMatches(result.stderr, "storlua: [^\n]+\n")
end

function tests.test_bad_values_touch_nothing()
  local folder <close> = workshop()
  for _, text in ipairs { "16E", "-1", "0", "4kk", "1e3", "", "18446744073709551616" } do
    refused(folder, { "try.lua", "--size", text }, "--size: ")
    refused(folder, { "try.lua", "--size=" .. text }, "--size: ")
    refused(folder, { "try.lua", "--hours", text }, "--hours: ")
    refused(folder, { "--cleanup-timeout", text, "try.lua" }, "--cleanup-timeout: ")
  end
  refused(folder, { "try.lua", "--log-limit", "1k" }, "--log-limit: '1k': must be at least 1M")
  refused(folder, { "try.lua", "--board", "evbx5" }, "did you mean 'evb_x5'?")
  refused(folder, { "try.lua", "--report", "text=" }, "--report: ")
  refused(folder, { "try.lua", "--options", "none.lua" }, "--options: none.lua")
  lu.assertEquals(fs.list(folder.path), { "try.lua" })
  fs.write_atomic(folder.path .. "/o.lua",
    'return { ["log-limit"] = "2M", log_limit = "4M" }')
  refused(folder, { "try.lua", "--options", "o.lua" }, "log-limit is given twice")
end

function tests.test_unknown_names_get_the_nearest_right_one()
  local folder <close> = workshop()
  refused(folder, { "try.lua", "--siez", "4k" }, "did you mean '--size'?")
  refused(folder, { "try.lua", "--resum", "x" }, "did you mean '--resume'?")
  refused(folder, { "--outptu", "x", "try.lua" }, "did you mean '--output'?")
  refused(folder, { "--size", "4k", "try.lua" }, "options of the script follow its name")
  refused(folder, { "genric.lua" }, "no script 'genric.lua'")
  refused(folder, { "report", "x", "--too", "text" }, "did you mean '--to'?")
  refused(folder, { "reprot", "x" }, "did you mean 'report'?")
  refused(folder, { "sok" }, "did you mean 'soak.lua'?")
  refused(folder, { "report" }, "RUN_DIR is required")
  lu.assertNotStrContains(run(folder, { "." }).stderr, "did you mean")
  for _, option in ipairs { "--script-dir", "--lua-dir" } do
    refused(folder, { option, "none", "try.lua" }, option .. ": ")
    refused(folder, { "try.lua", option, "try.lua" }, option .. ": try.lua is not a folder")
  end
  refused(folder, { "list", "x" }, "unexpected argument 'x'")
  refused(folder, {}, "the name of a script is missing")
  refused(folder, { "./none.lua" }, "./none.lua: No such file")
  refused(folder, { "./" }, "Is a directory")
end

function tests.test_help()
  local folder <close> = workshop()
  for _, argv in ipairs { { "--help" }, { "-h" }, { "try.lua", "--help" }, { "try.lua", "-h" },
    { "try.lua", "--size", "4kk", "--help" }, { "report", "--help" } } do
    local result = run(folder, argv)
    lu.assertEquals({ result.code, result.stderr }, { 0, "" })
    lu.assertStrMatches(result.stdout, "usage: storlua .*")
    for line in result.stdout:gmatch("[^\n]+") do lu.assertTrue(utf8.len(line) <= 80, line) end
  end
  local text = run(folder, { "try.lua", "--help" }).stdout
  lu.assertStrContains(text, "-s, --size SIZE")
  lu.assertStrContains(text, "(at least 4k; default 64M)")
  lu.assertStrContains(text, "  write.mib_s p50 >= 1.5\n")
end

function tests.test_cases_and_options_file()
  local folder <close> = workshop()
  fs.write_atomic(folder.path .. "/o.lua", "return { size = '8k' }")
  local function cases(argv) return run(folder, argv).stdout end
  lu.assertEquals(cases { "try.lua", "--list-cases" }, "write\nsize_67108864\n")
  lu.assertEquals(cases { "--list-cases", "try.lua", "-s4k" }, "write\nsize_4096\n")
  lu.assertEquals(cases { "try.lua", "--options", "o.lua", "--list-cases" }, "write\nsize_8192\n")
  lu.assertEquals(cases { "--options", "o.lua", "try.lua", "--size=16k", "--list-cases" },
    "write\nsize_16384\n")
end

function tests.test_foreign_command_line()
  local folder <close> = workshop()
  fs.write_atomic(folder.path .. "/foreign.lua", [[
    local storlua = require("storlua")
    return storlua.procedure {
      summary = "Takes anything.", usage = "  if=FILE  input",
      arguments = function(argv)
        if not argv[1] then storlua.usage("if=FILE is missing") end
        return { words = argv }
      end,
      cases = function(opt) return { "n" .. #opt.words } end,
      run = print,
    }
  ]])
  lu.assertEquals(run(folder, { "--list-cases", "foreign.lua", "-I", "-az", "--output" }).stdout,
    "n3\n")
  lu.assertStrContains(run(folder, { "foreign.lua", "--help" }).stdout, "\n  if=FILE  input\n")
  refused(folder, { "foreign.lua" }, "if=FILE is missing")
  refused(folder, { "--options", "o.lua", "foreign.lua" }, "reads its own command line")
end

function tests.test_list()
  local folder <close> = workshop()
  fs.write_atomic(folder.path .. "/plain.lua", "os.remove('try.lua')")
  local result = run(folder, { "--script-dir", folder.path, "list" })
  lu.assertEquals({ result.code, result.stderr }, { 0, "" })
  lu.assertStrMatches(result.stdout, ".*try%.lua +Tries options%..*")
  lu.assertStrMatches(result.stdout, ".*plain%.lua +%(a plain script%).*")
  lu.assertTrue(fs.exists(folder.path .. "/try.lua"))
end

function tests.test_the_locale_changes_nothing()
  local folder <close> = workshop()
  shell.run("localedef -i de_DE -f UTF-8 '%s/de_DE.UTF-8'", folder.path)
  local env = { LOCPATH = folder.path, LC_ALL = "de_DE.UTF-8" }
  for _, argv in ipairs { { "try.lua", "--help" }, { "--help" }, { "list" },
    { "try.lua", "--size=1.5G", "--list-cases" }, { "try.lua", "--size", "1,5G" },
    { "-e", "assert(os.setlocale('')); print(require('storlua.quantity').size_text(3 << 29))" },
  } do
    argv.env = nil
    local plain = run(folder, argv)
    argv.env = env
    local german = run(folder, argv)
    lu.assertEquals({ german.code, german.stdout, german.stderr },
      { plain.code, plain.stdout, plain.stderr })
  end
end

return tests
