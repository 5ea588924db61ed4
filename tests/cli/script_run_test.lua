-- SPDX-License-Identifier: MIT
--- Plain scripts: where they are found, what they see, how they end.

local lu = require("luaunit")
local cli_run = require("cli_run")
local fs = require("storlua.fs")

local tests = {}

local BOM, SHEBANG = "\u{FEFF}", "#!/usr/bin/env storlua"

local function with_script(folder, name, text, argv)
  local file = assert(io.open(folder.path .. "/" .. name, "wb"))
  file:write(text)
  file:close()
  argv = argv or { name }
  argv.cwd = folder.path
  return cli_run.run(argv)
end

function tests.test_exit_codes()
  local folder <close> = fs.temp_dir()
  for text, code in pairs {
    [""] = 0, ["return"] = 0, ["return 7"] = 7, ["return 3.0"] = 3, ["return true"] = 0,
    ["return false"] = 1, ["return 256"] = 3, ["return {}"] = 3, ["error('x')"] = 3,
    ["x = = 1"] = 2, ["require('storlua').usage('no')"] = 2,
    ["return require('storlua').procedure { summary = 's' }"] = 2,
  } do
    local result = with_script(folder, "s.lua", text)
    lu.assertEquals(result.code, code, text .. "\n" .. result.stderr)
    lu.assertEquals(result.stderr == "", code == 0 or text:find("^return [7f3]") ~= nil, text)
  end
end

function tests.test_errors_name_file_and_line_however_it_was_saved()
  local folder <close> = fs.temp_dir()
  for text, line in pairs {
    ["\nerror('x')"] = 2, [BOM .. "\nerror('x')"] = 2, [SHEBANG .. "\n\nerror('x')\n"] = 3,
    [BOM .. SHEBANG .. "\r\n\r\nerror('x')\r\n"] = 3,
  } do
    local result = with_script(folder, "s.lua", text)
    lu.assertEquals(result.code, 3)
    lu.assertStrContains(result.stderr, ("s.lua:%d: x"):format(line))
  end
  local result = with_script(folder, "s.lua", BOM .. SHEBANG .. "\r\n\r\nx = = 1")
  lu.assertEquals(result.code, 2)
  lu.assertStrMatches(result.stderr, "storlua: s%.lua:3: [^\n]+\n")
  result = with_script(folder, "s.lua", string.dump(function() end))
  lu.assertEquals(result.code, 2)
  lu.assertStrContains(result.stderr, "precompiled chunk")
end

function tests.test_names()
  local folder <close> = fs.temp_dir()
  for _, name in ipairs { "a b.lua", "größe \u{1F600}.lua", "\xff\xfe.lua", "list.lua",
    ("n"):rep(251) .. ".lua", "noending" } do
    local result = with_script(folder, name, "print(arg[0])")
    lu.assertEquals({ result.code, result.stdout }, { 0, name .. "\n" })
  end
  lu.assertEquals(with_script(folder, "-x.lua", "return 9", { "./-x.lua" }).code, 9)
  lu.assertEquals(with_script(folder, "-x.lua", "return 9", { "--", "-x.lua" }).code, 9)
  lu.assertEquals(with_script(folder, "list", "return 9", { "./list" }).code, 9)
end

function tests.test_arg_and_varargs()
  local folder <close> = fs.temp_dir()
  local result = with_script(folder, "s.lua", "print(arg[0], arg[1], arg[2], #arg, arg[-1], ...)",
    { "-q", "s.lua", "--size", "-1" })
  lu.assertEquals(result.stdout, "s.lua\t--size\t-1\t2\t-q\t--size\t-1\n")
end

function tests.test_code_on_the_command_line()
  local folder <close> = fs.temp_dir()
  local result = with_script(folder, "m.lua", "return 5",
    { "-e", "print(..., #arg) return require('m')", "a" })
  lu.assertEquals({ result.code, result.stdout }, { 5, "a\t3\n" })
  result = cli_run.run { "-e", "x = = 1" }
  lu.assertEquals(result.code, 2)
  lu.assertStrContains(result.stderr, "(command line):1:")
  lu.assertEquals(cli_run.run { "-e", "require('storlua.task').sleep(0.01) return 4" }.code, 4)
  lu.assertEquals(cli_run.run { "-e", "error('x')" }.code, 3)
end

function tests.test_what_require_finds()
  local folder <close> = fs.temp_dir()
  for _, name in ipairs { "scripts", "scripts/storlua", "lib", "lib/storlua" } do
    fs.mkdir(folder.path .. "/" .. name)
  end
  local function put(path, value)
    fs.write_atomic(folder.path .. "/" .. path, ("return %q"):format(value))
  end
  put("scripts/both.lua", "beside")
  put("lib/both.lua", "path")
  put("lib/only.lua", "path")
  put("cwd.lua", "cwd")
  put("scripts/storlua/task.lua", "shadow")
  put("lib/storlua/task.lua", "shadow")
  put("scripts/storlua/none.lua", "shadow")
  put("scripts/argparse.lua", "shadow")
  fs.write_atomic(folder.path .. "/scripts/s.lua", [[
    print(require("both"), require("only"), (pcall(require, "cwd")))
    print(type(require("storlua.task")), type(require("argparse")))
    print((pcall(require, "storlua.none")))
  ]])
  local result = cli_run.run { "scripts/s.lua", cwd = folder.path,
    env = { STORLUA_PATH = folder.path .. "/lib/?.lua" } }
  lu.assertEquals(result.stderr, "")
  lu.assertEquals(result.stdout, "beside\tpath\tfalse\ntable\ttable\nfalse\n")
end

function tests.test_the_library_from_disk()
  local folder <close> = fs.temp_dir()
  fs.mkdir(folder.path .. "/storlua")
  fs.write_atomic(folder.path .. "/storlua/tcp.lua", "return 'from disk'")
  local code = "print(require('storlua.tcp'), type(require('storlua.task')))"
  for _, argv in ipairs { { "--lua-dir", folder.path, "-e", code },
    { "--lua-dir=" .. folder.path, "-e", code },
    { "-e", code, env = { STORLUA_LUA_DIR = folder.path } } } do
    local result = cli_run.run(argv)
    lu.assertEquals({ result.code, result.stdout }, { 0, "from disk\ttable\n" })
  end
end

function tests.test_script_folders()
  local folder <close> = fs.temp_dir()
  for i, name in ipairs { "one", "two", "here" } do
    fs.mkdir(folder.path .. "/" .. name)
    fs.write_atomic(folder.path .. "/" .. name .. "/s.lua", "return " .. i)
  end
  local one, two = folder.path .. "/one", folder.path .. "/two"
  local function code(argv)
    argv.cwd = argv.cwd or folder.path
    return cli_run.run(argv).code
  end
  lu.assertEquals(code { "s.lua" }, 2)
  lu.assertEquals(code { "s.lua", env = { STORLUA_SCRIPTS = two .. ":" .. one } }, 2)
  lu.assertEquals(code { "--script-dir", one, "s", env = { STORLUA_SCRIPTS = two } }, 1)
  lu.assertEquals(code { "s.lua", cwd = folder.path .. "/here",
    env = { STORLUA_SCRIPTS = two } }, 3)
end

return tests
