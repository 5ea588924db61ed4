-- SPDX-License-Identifier: MIT
--- What a killed run has left: removed if it is that very thing, else told.
local disk = require("disk")
local fs = require("storlua.fs")
local lu = require("luaunit")
local marker = require("storlua.ramfs.marker")
local process = require("storlua.process")
local ramfs = require("storlua.ramfs")
local task = require("storlua.task")

local FOLDER <const> = "/run/storlua.ramfs.999999-1.1" -- no process ever began then
local CONTROL <const> = "/sys/class/zram-control/"

-- A zram device of 8 MiB that is closed with the block, unless it is gone.
local function zram()
  disk.need_root()
  lu.skipIf(not fs.try_stat(CONTROL .. "hot_add"), "the kernel has no zram")
  local number = fs.read(CONTROL .. "hot_add"):match("%d+")
  local name = "zram" .. number
  process.run { "sh", "-c", "echo 8M > /sys/block/" .. name .. "/disksize" }
  local device = { name = name, path = "/dev/" .. name }
  function device.exists() return fs.try_stat("/sys/block/" .. name) ~= nil end
  local guard = task.defer(function()
    if not device.exists() then return end
    process.try_run { "sh", "-c", ("for i in 1 2 3 4 5 6 7 8 9; do echo 1 > /sys/block/%s/reset "
      .. "&& echo %s > %shot_remove && exit; sleep 0.2; done"):format(name, number, CONTROL) }
  end)
  return setmetatable(device, { __close = getmetatable(guard).__close })
end

local function leave(device, text)
  fs.mkdir(FOLDER)
  fs.write_atomic(FOLDER .. "/" .. device.name, text)
  return task.defer(function()
    if fs.try_stat(FOLDER) then fs.remove_tree(FOLDER) end
  end)
end

local function text_of(list) return table.concat(list, "\n") end

local T = {}

function T.test_the_very_device_is_removed()
  local device <close> = zram()
  local _ <close> = leave(device, marker.text(device.name, 8 << 20))
  lu.assertStrContains(text_of((ramfs.clean())), "removed " .. device.name)
  lu.assertFalse(device.exists())
  lu.assertNil(fs.try_stat(FOLDER))
end

function T.test_what_is_somebody_elses_stays()
  local device <close> = zram()
  local right = marker.text(device.name, 8 << 20)
  for text, why in pairs {
    [""] = "nothing tells", -- of an earlier version
    [right:gsub("diskseq %d+", "diskseq 1"):gsub("ino %d+", "ino 1")] = "it is another one",
    [right:gsub("^%x+", "00000000")] = "it is another one", -- before the machine was restarted
    [right:gsub("size %d+", "size 65536")] = "set it up anew",
  } do
    local _ <close> = leave(device, text)
    local done, left = ramfs.clean()
    lu.assertTrue(device.exists(), text)
    lu.assertNotStrContains(text_of(done), "removed zram")
    lu.assertStrContains(text_of(left), device.path .. " is left alone: ")
    lu.assertStrContains(text_of(left), why)
    lu.assertNil(fs.try_stat(FOLDER)) -- it is told once
  end
end

function T.test_a_busy_one_is_told_and_tried_again()
  local device <close> = zram()
  local _ <close> = leave(device, marker.text(device.name, 8 << 20))
  do
    local holder <close> = process.start { "sh", "-c", "exec 3<" .. device.path
      .. "; echo ready; exec sleep 60" }
    lu.assertEquals(holder:read_line(10), "ready")
    local _, left = ramfs.clean()
    lu.assertStrContains(text_of(left), "in use")
    lu.assertTrue(device.exists())
    lu.assertNotNil(fs.try_stat(FOLDER))
  end
  ramfs.clean()
  lu.assertFalse(device.exists())
  lu.assertNil(fs.try_stat(FOLDER))
end

function T.test_a_loop_device_of_another_stays()
  local loop <close> = disk.loop { size = "1M" } -- on a disk.img, too
  local device = { name = loop.device:match("[^/]*$") }
  local text = marker.text(device.name, 1 << 20):gsub("(%l+) %d+ size", "%1 1 size")
  local _ <close> = leave(device, text)
  local _, left = ramfs.clean()
  lu.assertStrContains(text_of(left), "left alone")
  lu.assertStrContains(process.run { "losetup", "-a" }.stdout, loop.device .. ":")
end

return T
