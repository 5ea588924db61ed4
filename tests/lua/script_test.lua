-- SPDX-License-Identifier: MIT
local lu = require("luaunit")
local fs = require("storlua.fs")
local script = require("storlua.script")
local source = require("storlua.source")

local tests = {}

local BOM, SHEBANG = "\u{FEFF}", "#!/usr/bin/env storlua"

-- Every variant raises in its last line; the message must name that line.
function tests.test_line_numbers_of_every_way_to_save_a_file()
  for name, variant in pairs {
    plain = { "\n\nerror('x')\n", 3 },
    no_final_newline = { "\nerror('x')", 2 },
    bom = { BOM .. "\nerror('x')\n", 2 },
    shebang = { SHEBANG .. "\n\nerror('x')\n", 3 },
    bom_and_shebang = { BOM .. SHEBANG .. "\nerror('x')\n", 2 },
    crlf = { "\r\n\r\nerror('x')\r\n", 3 },
    shebang_crlf = { SHEBANG .. "\r\nerror('x')\r\n", 2 },
    all = { BOM .. SHEBANG .. "\r\n\r\nerror('x')", 3 },
  } do
    local chunk = assert(source.compile(variant[1], "s.lua"))
    local ok, message = pcall(chunk)
    lu.assertFalse(ok)
    lu.assertEquals(message, ("s.lua:%d: x"):format(variant[2]), name)
  end
  for _, text in ipairs { "", BOM, SHEBANG, BOM .. SHEBANG } do
    lu.assertNil(assert(source.compile(text, "s.lua"))())
  end
end

function tests.test_what_does_not_load()
  local chunk, message = source.compile("x = = 1", "s.lua")
  lu.assertNil(chunk)
  lu.assertStrContains(message, "s.lua:1:")
  for _, head in ipairs { "", BOM, SHEBANG .. "\n" } do
    local code = head .. string.dump(function() end)
    local bytecode, why = source.compile(code, "s.lua")
    lu.assertNil(bytecode)
    lu.assertStrContains(why, "s.lua:")
  end
end

function tests.test_a_string_keeps_its_bytes()
  local chunk = assert(source.compile("return '\0\255'", "s.lua"))
  lu.assertEquals(chunk(), "\0\255")
  lu.assertEquals(#assert(source.compile([[return "\0\xff"]], "s.lua"))(), 2)
end

function tests.test_look_up()
  local folder <close> = fs.temp_dir()
  fs.write_atomic(folder.path .. "/mine.lua", "return 1")
  local path = folder.path .. "/mine.lua"
  local found = script.find(path)
  lu.assertEquals({ found.path, found.name, found.dir }, { path, "mine", folder.path })
  lu.assertEquals(script.find("mine.lua", folder.path).path, path)
  lu.assertEquals(script.find("mine", folder.path).path, path)
  fs.mkdir(folder.path .. "/dir.lua")
  for _, name in ipairs { "none", folder.path .. "/none.lua", folder.path .. "/dir.lua",
    folder.path .. "/mine" } do
    local ok, err = pcall(script.find, name, folder.path)
    lu.assertFalse(ok, name)
    lu.assertEquals(err.code, "USAGE")
  end
  lu.assertEquals(script.bundled("boards/generic.lua").path, "scripts/boards/generic.lua")
end

return tests
