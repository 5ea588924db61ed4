-- SPDX-License-Identifier: MIT
--- The kernel's log in a run: a real error of the device under test ends it at
--- once; another device's, or a line that user space wrote, does not.

local cli_run = require("cli_run")
local disk = require("disk")
local kmsg = require("storlua.kmsg")
local lu = require("luaunit")
local procedure_run = require("procedure_run")
local shell = require("shell")
local task = require("storlua.task")

local shell_run = shell.run

-- Like a soak: it would go on for minutes.
local BODY = [[
local watchers <close> = task.scope()
require("storlua.watch").device(t, watchers, %q)
for _ in t:rounds { seconds = %s } do
  t:measure("read", { path = %q, operation = "read", direct = true, record_bytes = "64k",
                      range_bytes = "512k" })
  task.sleep(0.05)
end
]]

local test = {}

local function need_log()
  shell.need_root()
  local log, reason = kmsg.open({ chain = {} })
  if not log then lu.skip("the kernel log is not readable: " .. reason) end
  log:close()
end

local function read_past_end(node, file)
  shell_run("truncate -s 1M '%s'", file)
  shell_run("! dd if=%s of=/dev/null bs=64k skip=40 count=1 iflag=direct status=none", node)
end

-- The kernel limits how often it prints such lines: other tests that fail
-- devices may use the quota up for some seconds.
local function fail_until_told(node, file, is_told)
  for _ = 1, 60 do
    read_past_end(node, file)
    task.sleep(0.3)
    if is_told() then return true end
  end
end

local function start(place, node, seconds, more)
  procedure_run.write(place.script, BODY:format(node, seconds, node),
    'thresholds = { "kernel.errors count == 0" },')
  local argv = { "--output", place.run_dir, cwd = place.path }
  table.move(more or {}, 1, more and #more or 0, 3, argv)
  argv[#argv + 1] = place.script
  local run = cli_run.start(argv)
  run:wait_event(place.run_dir, function(one) return one.kind == "measure" end, 10)
  return run
end

local function place_of_run()
  local place = disk.directory()
  place.script, place.run_dir = place.path .. "/case.lua", place.path .. "/run"
  return place
end

function test.test_a_kernel_error_ends_the_run_at_once()
  need_log()
  local devices <close> = shell.place()
  local node, file = devices:loop("img", "4M")
  local name = node:match("[^/]+$")
  local place <close> = place_of_run()
  local run <close> = start(place, node, 120)
  local function errors()
    local list = {}
    for _, one in ipairs(cli_run.events_of(place.run_dir, "kernel")) do
      if one.class == "error" then list[#list + 1] = one end
    end
    return list
  end
  lu.assertTrue(fail_until_told(node, file, function() return errors()[1] end))
  local result = run:finish(5)
  local said = result.stdout .. result.stderr
  lu.assertEquals(result.code, 1, said)
  local line = errors()[1]
  lu.assertStrContains(line.text, "I/O error, dev " .. name)
  lu.assertEquals(line.device, name)
  local verdict = cli_run.verdict(place.run_dir)
  lu.assertEquals(verdict.status, "failed")
  lu.assertTrue(verdict.kernel_errors >= 1)
  lu.assertStrContains(verdict.reasons[1], line.text)
  lu.assertStrContains(result.stdout, "kernel  " .. line.text)
  local report = cli_run.run { "report", place.run_dir }
  lu.assertStrContains(report.stdout, line.text)
  local verdicts = cli_run.events_of(place.run_dir, "verdict")
  lu.assertTrue((verdicts[1].t_boot_ns - line.t_boot_ns) / 1e9 < 3)
end

function test.test_forged_lines_and_other_devices_do_not()
  need_log()
  local devices <close> = shell.place()
  local node = devices:loop("good", "4M")
  local bad, file = devices:loop("bad", "4M")
  local place <close> = place_of_run()
  local run <close> = start(place, node, 3)
  shell_run("echo '<3>I/O error, dev %s, sector 0 op 0x0:(READ)' > /dev/kmsg",
    node:match("[^/]+$"))
  read_past_end(bad, file)
  local result = run:finish(20)
  lu.assertEquals(result.code, 0, result.stdout .. result.stderr)
  lu.assertEquals(cli_run.verdict(place.run_dir).kernel_errors, 0)
  lu.assertNil(result.stdout:find("kernel  I/O", 1, true))
end

-- What was overwritten may have been the error.
function test.test_lines_that_were_lost_do_not_pass()
  local place <close> = place_of_run()
  procedure_run.write(place.script, ([[
    local gaps = { { lost = 3 }, { lost = 4 } }
    require("storlua.kmsg").open = function()
      local log = { take = function() return table.remove(gaps) end }
      function log:lines() return function() return self:take() or task.sleep(60) end end
      return setmetatable(log, { __close = function() end })
    end
    local watchers <close> = task.scope()
    require("storlua.watch").device(t, watchers, %q)
    task.sleep(0.2)
    t:check("done", true)]]):format(place.path), 'thresholds = { "kernel.errors count == 0" },')
  local result = cli_run.run { "--output", place.run_dir, place.script, cwd = place.path }
  lu.assertEquals(result.code, 1, result.stdout .. result.stderr)
  lu.assertEquals(cli_run.verdict(place.run_dir).reasons[1], "threshold kernel.errors count == 0: "
    .. "0: lines of the kernel's log were overwritten before they could be read")
  lu.assertStrContains(result.stdout,
    "kernel_log: 7 lines were overwritten before they could be read")
end

local BOARD = [[return { name = "kit", roles = { usb = { host = %q, kernel = {
  names = { %q }, patterns = { "^%s: detected capacity change" }, ignore = { "I/O error" },
} } } }]]

-- Growing a loop device is a harmless line to everybody else.
function test.test_what_the_board_knows_of_lines()
  need_log()
  local devices <close> = shell.place()
  local node, file = devices:loop("img", "4M")
  local other, other_file = devices:loop("other", "4M")
  local name, other_name = node:match("[^/]+$"), other:match("[^/]+$")
  local place <close> = place_of_run()
  local board <close> = assert(io.open(place.path .. "/kit.lua", "w"))
  board:write(BOARD:format(name, other_name, other_name))
  board:close()
  local run <close> = start(place, node, 120, { "--board", "./kit.lua" })
  for _ = 1, 3 do read_past_end(node, file) end -- ignored
  task.sleep(0.5)
  lu.assertEquals(cli_run.events_of(place.run_dir, "verdict"), {})
  -- the kernel limits how often it prints this line, too
  for mib = 5, 64 do
    shell_run("truncate -s %dM '%s' && losetup -c %s", mib, other_file, other)
    task.sleep(0.3)
    if cli_run.events_of(place.run_dir, "kernel")[1] then break end
  end
  local result = run:finish(5)
  lu.assertEquals(result.code, 1, result.stdout .. result.stderr)
  lu.assertStrContains(cli_run.verdict(place.run_dir).reasons[1],
    other_name .. ": detected capacity change")
  lu.assertEquals(cli_run.events_of(place.run_dir, "kernel")[1].device, other_name)
end

function test.test_a_log_that_is_not_readable_is_said()
  shell.need_root()
  local place <close> = place_of_run()
  procedure_run.write(place.script, [[
    local watchers <close> = task.scope()
    require("storlua.watch").device(t, watchers, ".")
    t:measure("null.read", NULL)]])
  -- a log on a file system without devices: nobody may open it
  shell_run([[cd '%s' && mkdir nodev && unshare -m sh -c '
    mount -t tmpfs -o nodev none nodev && mknod nodev/kmsg c 1 11 &&
    mount --bind nodev/kmsg /dev/kmsg && exec "%s" --output "%s" case.lua']],
    place.path, cli_run.program, place.run_dir)
  local value
  for _, one in ipairs(cli_run.events_of(place.run_dir, "note")) do
    if one.key == "kernel_log" then value = one.value end
  end
  lu.assertStrMatches(value, "unavailable: EACCES.*")
end

function test.test_patterns_of_a_board_are_checked()
  local shape = require("storlua.board.shape")
  for text, why in pairs { ["a["] = "']' is missing", ["%"] = "ends with", ["(x"] = "')' is",
                           ["x)"] = "'(' is", ["%b("] = "%b lacks", ["%fx"] = "%f lacks",
                           ["[^]"] = "']' is missing", ["%1"] = "no capture" } do
    for _, field in ipairs { "patterns", "ignore" } do
      lu.assertErrorMsgContains(why, shape.check,
        { name = "kit", roles = { usb = { kernel = { [field] = { text } } } } })
    end
  end
  for _, text in ipairs { "[]]", "[^]]x", "%[", "(%w+)=%1", "%b()", "%f[%w]x", "[%]]", "a-b.*$" } do
    shape.check { name = "kit", roles = { usb = { kernel = { ignore = { text } } } } }
    lu.assertTrue(pcall(string.find, "abc", text))
  end
end

return test
