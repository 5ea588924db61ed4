-- SPDX-License-Identifier: MIT
local lu = require("luaunit")
local event = require("storlua.event")

local test = {}

function test.keys_come_in_a_fixed_order()
  local line = event.encode { zebra = 1, kind = "check", seq = 3, v = 1, ok = true, apple = 2,
                              case_id = "a.b" }
  lu.assertEquals(line,
    '{"v":1,"seq":3,"kind":"check","case_id":"a.b","ok":true,"apple":2,"zebra":1}')
end

function test.as_read_is_what_decode_gives()
  local inner = event.list { 1, 2 }
  local fields = { a = event.null, b = { c = event.null, d = 1 }, e = inner, f = false }
  lu.assertEquals(event.as_read(fields), event.decode(event.encode(fields)))
  lu.assertEquals(event.as_read(fields), { b = { d = 1 }, e = { 1, 2 }, f = false })
  lu.assertEquals(fields.a, event.null, "the event itself is left alone")
  lu.assertTrue(event.as_read(inner) == inner, "nothing to leave out, nothing copied")
end

function test.integers_are_exact()
  lu.assertEquals(event.encode { a = math.maxinteger, b = 172800 * 10 ^ 9 // 1 | 0, c = -1 },
    '{"a":9223372036854775807,"b":172800000000000,"c":-1}')
end

function test.floats_have_a_point_and_no_exponent()
  local cases = {
    [60.0] = "60.0", [0.1] = "0.1", [1e15] = "1000000000000000.0", [-2.5] = "-2.5",
    [172800e9] = "172800000000000.0", [2.0 ^ 53] = "9007199254740992.0",
    [1.5e-7] = "0.00000015", [1e22] = "10000000000000000000000.0",
    [1 / 3] = "0.3333333333333333",
  }
  for value, text in pairs(cases) do
    lu.assertEquals(event.number_text(value + 0.0), text)
    lu.assertEquals(tonumber(text), value)
  end
  lu.assertEquals(event.number_text(0.0), "0.0")
  lu.assertEquals(event.number_text(1e-300), "0.0")
end

function test.what_json_cannot_say_raises()
  for _, bad in ipairs { 0 / 0, math.huge, -math.huge, print, io.stdout } do
    local ok, message = pcall(event.encode, { a = { b = bad } })
    lu.assertFalse(ok)
    lu.assertStrContains(message, "event:")
  end
  local loop = {}
  loop.me = loop
  lu.assertFalse((pcall(event.encode, loop)))
  lu.assertFalse((pcall(event.encode, { [2] = 1 })))
  lu.assertFalse((pcall(event.encode, { ["\xff"] = 1 })))
end

function test.lists_objects_and_null()
  lu.assertEquals(event.encode { a = event.list {}, b = {}, c = event.null, reasons = {} },
    '{"reasons":[],"a":[],"b":{},"c":null}')
  lu.assertEquals(event.encode { notes = event.object {}, x = { 1, 2.5, "t", {} } },
    '{"notes":{},"x":[1,2.5,"t",{}]}')
  local again = event.decode('{"a":[],"b":{}}')
  lu.assertEquals(event.encode(again), '{"a":[],"b":{}}')
end

function test.text_that_is_not_utf8_keeps_its_bytes()
  lu.assertEquals(event.encode { path = "a\xffb\xc3" },
    '{"path":"a\\ufffdb\\ufffd","path_hex":"61ff62c3"}')
  lu.assertEquals(event.encode { argv = { "ok", "\xfe" } },
    '{"argv":["ok","\\ufffd"],"argv_hex":[null,"fe"]}')
  lu.assertEquals(event.encode { path = "é\n\0\"" }, '{"path":"é\\n\\u0000\\""}')
  local line = event.encode { path = "\xff", path_hex = "mine" }
  local _, count = line:gsub("path_hex", "")
  lu.assertEquals(count, 1)
end

function test.decode_tells_what_is_wrong()
  lu.assertEquals(event.decode('{"a":1}').a, 1)
  lu.assertEquals(math.type(event.decode('{"a":9007199254740993}').a), "integer")
  for _, bad in ipairs { "", "{", '{"a":1', "1", '{"a":1}{', "\0\0\0", '{"a":nan}' } do
    local value, message = event.decode(bad)
    lu.assertNil(value, bad)
    lu.assertNotNil(message, bad)
  end
end

return test
