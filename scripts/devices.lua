#!/usr/bin/env storlua
-- SPDX-License-Identifier: MIT
--- Which block devices there are, what is on them, who uses them, and the id
--- by which --destroy names each.

local block_list = require("storlua.block_list")
local block_record = require("storlua.block_record")
local device_details = require("storlua.device.details")
local device_table = require("storlua.device.table")
local device_watch = require("storlua.device.watch")
local errors = require("storlua.errors")
local event = require("storlua.event")
local storlua = require("storlua")

local function print_json(document)
  document.v = 1
  io.stdout:write(event.encode(document), "\n")
end

-- Loop and zram devices without anything behind them are only names.
local function list(opt)
  local present = {}
  for _, block in ipairs(block_list.read()) do
    if opt.all or device_watch.is_present(block) then present[#present + 1] = block end
  end
  if not opt.json then
    io.stdout:write(device_table.text(present))
    return
  end
  local records = event.list()
  for i, block in ipairs(present) do records[i] = block_record.of(block) end
  print_json { devices = records }
end

local function show(opt)
  local block, err = errors.try(block_list.find, block_list.read(), opt.device)
  if not block then storlua.usage(err.message) end
  local asked = device_details.ask(block)
  if opt.json then
    print_json { device = block_record.of(block, asked) }
  else
    io.stdout:write(device_details.text(block, asked))
  end
end

local function watch(opt)
  local changes <close> = device_watch.open()
  if changes.reason then
    io.stderr:write("looking once a second: ", changes.reason, "\n")
  end
  while true do
    local change = changes:next()
    if opt.json then
      print_json {
        action = change.action, changes = event.list(change.changes),
        device = block_record.of(change.block),
      }
    else
      local block = change.block
      io.stdout:write(("%-8s  %-12s  %s%s\n"):format(change.action, block.name, block.id or "no id",
        change.changes and "  " .. table.concat(change.changes, ", ") or ""))
    end
    io.stdout:flush()
  end
end

return storlua.procedure {
  summary = "List block devices: what they are, what is on them, who uses them.",
  description = [[
Without arguments all devices as a tree. With DEVICE (a name, node, id, or any
path: the device it lies on) that one in depth; an eMMC, SD card or NVMe drive
is then asked about its health, which reads a block of it.

The last column is the id of the unit, as --destroy takes it.]],
  options = {
    { name = "device", type = "string", path = true, positional = true,
      help = "this one in depth" },
    { name = "json", type = "flag", help = "one JSON document; with --watch one a line" },
    { name = "watch", type = "flag",
      help = "print what appears, vanishes or changes, until Ctrl-C" },
    { name = "all", type = "flag", help = "also loop and zram devices that are not in use" },
  },
  tool = true,
  run = function(_, opt)
    if opt.watch and opt.device then storlua.usage("--watch takes no device") end
    if opt.watch then
      watch(opt)
    elseif opt.device then
      show(opt)
    else
      list(opt)
    end
  end,
}
