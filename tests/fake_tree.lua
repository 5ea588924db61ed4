-- SPDX-License-Identifier: MIT
--- A made-up sysfs with what sensors are read from. Its files can be changed
--- while it is watched.

local fs = require("storlua.fs")

local fake_tree = {}

local Tree = {}
Tree.__index = Tree

--- Makes a tree. Declare it with <close>.
function fake_tree.new()
  return setmetatable({ dir = fs.temp_dir() }, Tree):init()
end

function Tree:init()
  self.path = self.dir.path
  return self
end

function Tree:__close() getmetatable(self.dir).__close(self.dir) end

--- Writes a file and makes the folders above it.
function Tree:write(path, text)
  local full = self.path .. "/" .. path
  fs.mkdirs(full:match("^(.*)/"))
  local file <close> = assert(io.open(full, "w"))
  assert(file:write(text))
end

function Tree:remove(path) fs.remove_tree(self.path .. "/" .. path) end

--- A thermal zone.
function Tree:zone(number, kind, millicelsius)
  local folder = "class/thermal/thermal_zone" .. number
  self:write(folder .. "/type", kind .. "\n")
  if millicelsius then self:write(folder .. "/temp", millicelsius .. "\n") end
end

--- A group of processors and its time at each clock: {kHz, seconds, …}.
function Tree:policy(number, fields)
  local folder = "devices/system/cpu/cpufreq/policy" .. number
  self:write(folder .. "/scaling_governor", (fields.governor or "performance") .. "\n")
  if fields.maximum then self:write(folder .. "/cpuinfo_max_freq", fields.maximum .. "\n") end
  if fields.limit then self:write(folder .. "/scaling_max_freq", fields.limit .. "\n") end
  if fields.now then self:write(folder .. "/scaling_cur_freq", fields.now .. "\n") end
  if not fields.times then return end
  local lines = {}
  for i = 1, #fields.times, 2 do
    lines[#lines + 1] = ("%d %d\n"):format(fields.times[i],
      math.floor(fields.times[i + 1] * 100 + 0.5))
  end
  self:write(folder .. "/stats/time_in_state", table.concat(lines))
end

--- A disk under its number; returns what device.of_path would find.
---@param number string
---@param directory string below the tree
---@param node? string
---@return table found
function Tree:disk(number, directory, node)
  self:write(directory .. "/dev", number .. "\n")
  fs.mkdirs(self.path .. "/dev/block")
  fs.symlink(self.path .. "/" .. directory, self.path .. "/dev/block/" .. number)
  local disk = { number = number, name = directory:match("[^/]+$"), node = node }
  return { disks = { disk }, single = disk, chain = {}, label = disk.name, kind = "block" }
end

--- The file `ios` of a host; without fields the card sleeps.
function Tree:ios(host, fields)
  local f = fields or { clock = 0, power = 0, width = 0, timing = "0 (legacy)" }
  self:write("kernel/debug/" .. host .. "/ios", table.concat({
    ("clock:\t\t%d Hz"):format(f.clock),
    f.actual and ("actual clock:\t%d Hz"):format(f.actual) or "vdd:\t\t21 (3.3 ~ 3.4 V)",
    "bus mode:\t2 (push-pull)", "chip select:\t0 (don't care)",
    ("power mode:\t%d (%s)"):format(f.power or 2, f.power == 0 and "off" or "on"),
    ("bus width:\t%d (%d bits)"):format(f.width, 1 << f.width),
    "timing spec:\t" .. f.timing, "signal voltage:\t1 (1.80 V)",
    "driver type:\t0 (driver type B)\n",
  }, "\n"))
end

--- The file `err_stats` of a host.
function Tree:err_stats(host, data_crc, command_timeout)
  self:write("kernel/debug/" .. host .. "/err_stats", ("# Command Timeout Occurred:\t %d\n"
    .. "# Command CRC Errors Occurred:\t 0\n# Data Timeout Occurred:\t 0\n"
    .. "# Data CRC Errors Occurred:\t %d\n"):format(command_timeout or 0, data_crc))
end

return fake_tree
