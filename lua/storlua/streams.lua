-- SPDX-License-Identifier: MIT
--- Several workloads with a common start, and one result of all of them:
--- what a spec with `streams` above 1 becomes.

local core = require("storlua.core.streams")
local errors = require("storlua.errors")
local fs = require("storlua.fs")
local medium = require("storlua.workload.medium")
local parts = require("storlua.streams.result")

local streams = {}

local function refuse(format, ...)
  errors.raise("EINVAL", "workload: " .. format, ...)
end

-- How many bytes the streams share when they work on one target.
local function range_of(full)
  if full.range_bytes > 0 then return full.range_bytes end
  local size = full.size_bytes
  if not size and full.path then
    local found = fs.try_stat(full.path)
    size = found and found.kind == "file" and found.size_bytes
  end
  if not size or size <= full.range_offset then
    refuse("streams %d on one target need range_bytes", full.streams)
  end
  return size - full.range_offset
end

-- Neighbouring parts of whole records; the last one has the rest.
local function divide(full, specs)
  local bytes = range_of(full)
  local record = full.record_bytes * math.max(full.vectors, 1)
  local part = bytes // record // full.streams * record
  if part == 0 then
    refuse("streams %d: the range of %d bytes has fewer records than that",
      full.streams, bytes)
  end
  for i, spec in ipairs(specs) do
    spec.range_offset = full.range_offset + (i - 1) * part
    spec.range_bytes = i < full.streams and part or bytes - (i - 1) * part
  end
end

--- The specs of the single streams. With `paths` each has a target of its own
--- and does all that the spec says; else they share the range of one target.
---@param full table complete spec
---@return table[]
function streams.split(full)
  local specs = {}
  for i = 1, full.streams do
    local spec = {}
    for key, value in pairs(full) do spec[key] = value end
    spec.streams, spec.paths, spec.stonewall = 1, nil, nil
    spec.seed = (full.seed + i - 1) & math.maxinteger
    spec.writer = (full.writer + i - 1) & 0xffff
    if full.paths then spec.path = full.paths[i] end
    specs[i] = spec
  end
  if full.paths and #full.paths ~= full.streams then
    refuse("%d paths for %d streams", #full.paths, full.streams)
  end
  if not full.paths then divide(full, specs) end
  return specs
end

---@class storlua.StreamsHandle
---@field spec table the complete spec
local Handle = {}
Handle.__index = Handle
Handle.__name = "storlua.StreamsHandle"

--- Starts all streams and returns at once; the handle is used as that of a
--- single workload.
---@async
---@param full table complete spec with streams > 1
---@param start fun(spec: table, among: table): storlua.WorkloadHandle
---@return storlua.StreamsHandle
function streams.start(full, start)
  local group = errors.check(core.new(full.streams, full.stonewall))
  local self = setmetatable({ spec = full, group = group, handles = {} }, Handle)
  for i, spec in ipairs(streams.split(full)) do
    local ok, handle = pcall(start, spec, { group = group, stream = i - 1 })
    if not ok then
      self:__close()
      error(handle, 0)
    end
    self.handles[i] = handle
    -- They begin when all are there. Targets of their own have no one device.
    if i == 1 and not full.paths and handle.counting then
      self.medium = medium.start(handle.place)
    end
  end
  return self
end

--- The sum over the streams; elapsed_ns is that of the longest.
---@return table
function Handle:progress()
  local sum = { operations = 0, bytes = 0, errors = 0, bad_sectors = 0, elapsed_ns = 0 }
  for _, handle in ipairs(self.handles) do
    local one = handle:progress()
    for key, value in pairs(one) do
      if key == "elapsed_ns" then
        sum[key] = math.max(sum[key], value)
      else
        sum[key] = sum[key] + value
      end
    end
  end
  return sum
end

function Handle:cancel()
  for _, handle in ipairs(self.handles) do handle:cancel() end
end

---@return boolean
function Handle:is_done()
  for _, handle in ipairs(self.handles) do
    if not handle:is_done() then return false end
  end
  return true
end

--- Of the stream that has been in the kernel for longest.
---@return table|nil
function Handle:stuck()
  local worst
  for _, handle in ipairs(self.handles) do
    local one = handle:stuck()
    if one and (not worst or one.seconds > worst.seconds) then worst = one end
  end
  return worst
end

--- Waits for all streams. Raises only when they could not start: with the
--- reason of the one that could not.
---@async
---@return table
function Handle:wait()
  if self.result then return self.result end
  local results, failure = {}, nil
  for i, handle in ipairs(self.handles) do
    local ok, result = pcall(handle.wait, handle)
    if ok then
      results[i] = result
    elseif not failure or failure.code == "ECANCELED" then
      failure = result
    end
    if not ok and not errors.is(result) then break end
  end
  if failure then error(failure, 0) end
  self.result = parts.joined(results, self.group)
  if self.medium then self.medium:judge(self.result) end
  return self.result
end

function Handle:__close()
  for _, handle in ipairs(self.handles) do handle:cancel() end
  for _, handle in ipairs(self.handles) do handle:__close() end
end

return streams
