-- SPDX-License-Identifier: MIT
--- What the tests of storlua.ring share.

local errors = require("storlua.errors")
local lu = require("luaunit")
local ring = require("storlua.ring")
local workload = require("storlua.workload")

local ring_rig = { RECORD = 4096 }

-- Skips where the kernel has no io_uring for us.
function ring_rig.open(options)
  local r, err = ring.try_open(options)
  lu.skipIf(not r and (err.code == "ENOSYS" or err.code == "EPERM"), tostring(err))
  if not r then error(err, 0) end
  return r
end

function ring_rig.layout(path, size)
  local w = workload.run { path = path, operation = "write", size_bytes = size or "4M",
    record_bytes = "64k", stamp = true }
  lu.assertEquals(w["end"], "complete")
end

function ring_rig.assert_fails(code, fn, ...)
  local ok, err = pcall(fn, ...)
  lu.assertFalse(ok)
  lu.assertTrue(errors.is(err), tostring(err))
  lu.assertEquals(err.code, code, err.message)
  return err
end

function ring_rig.assert_misuse(text, fn, ...)
  local ok, err = pcall(fn, ...)
  lu.assertFalse(ok)
  lu.assertStrContains(tostring(err), text)
end

return ring_rig
