-- SPDX-License-Identifier: MIT
--- Timed I/O: describe it, run it, get one result. The fields of specs and
--- results are in docs/events.md.

local core = require("storlua.core.workload")
local counters = require("storlua.counters")
local device = require("storlua.device")
local errors = require("storlua.errors")
local job = require("storlua.job")
local loop = require("storlua.core.loop")
local medium = require("storlua.workload.medium")
local result = require("storlua.workload.result")
local spec = require("storlua.workload.spec")
local streams = require("storlua.streams")
local task = require("storlua.task")

local workload = {}

--- Gives the specs that come their seed and run id, as the run has them.
---@param run {seed: integer, run_id: integer}
function workload.set_run(run)
  spec.run = { seed = run.seed, run_id = run.run_id }
end

--- The engines of this build.
---@return string[]
function workload.engines() return core.engines() end

--- Whether the running kernel has an engine of this build; else nil and an
--- error whose message names those that are there.
---@param name string
---@return true|nil
---@return storlua.Error|nil
function workload.try_engine(name)
  return errors.try(function() return errors.check(core.probe(name)) end)
end

--- The spec with every default filled in and texts turned into numbers.
--- Raises what is unknown, of the wrong kind, or does not go together.
---@param given table
---@return table
function workload.complete(given)
  if type(given) ~= "table" then error("a workload is described by a table", 2) end
  local full = spec.complete(given)
  local known = false
  for _, name in ipairs(core.engines()) do known = known or name == full.engine end
  if not known then
    errors.raise("EINVAL", "workload: engine '%s' is not in this build: it has %s",
      full.engine, table.concat(core.engines(), ", "))
  end
  errors.check(core.check(spec.to_core(full)))
  return full
end

-- What the path lies on. A file that is still to be made lies where its
-- directory does.
local function place(path)
  if not path then return nil end
  local found, err = device.try_of_path(path)
  if not found and err.code == "ENOENT" then
    found, err = device.try_of_path(path:match("^(.*)/[^/]*$") or ".")
  end
  return found, err
end

-- Of several targets the place is told when they share a device.
local function place_of_all(full)
  local first, err = place(full.path)
  for i = 2, full.paths and #full.paths or 0 do
    local other = place(full.paths[i])
    local disk, another = first and first.single, other and other.single
    if not disk or not another or disk.number ~= another.number then
      return { disks = {}, reason = "targets on several devices" }
    end
  end
  return first, err
end

---@class storlua.WorkloadHandle
---@field spec table the complete spec
local Handle = {}
Handle.__index = Handle
Handle.__name = "storlua.WorkloadHandle"

--- Starts a workload and returns at once. Declare the handle with <close>: it
--- then ends with its block.
---@async
---@param given table
---@param among? {group: userdata, stream: integer} of storlua.streams
---@param is_complete? boolean it is what workload.complete returned
---@return storlua.WorkloadHandle
function workload.start(given, among, is_complete)
  local full = is_complete and given or workload.complete(given)
  if full.streams > 1 then return streams.start(full, workload.start) end
  local self = setmetatable({ spec = full }, Handle)
  local err
  if full.engine ~= "null" then
    self.place, err = place_of_all(full)
    self.counting = counters.start(self.place or
      { disks = {}, reason = err and err.message or "no path" })
  end
  -- Of several streams all are counted together.
  if self.counting and not among then self.medium = medium.start(self.place) end
  local core_spec = spec.to_core(full)
  if among then core_spec.group, core_spec.stream = among.group, among.stream end
  self.job = errors.check(core.start(core_spec))
  return self
end

--- How far it is: operations, bytes, errors, bad_sectors, elapsed_ns.
---@return table
function Handle:progress() return self.ended or self.job:progress() end

--- Asks it to end after the record it is at; wait() then returns the result.
function Handle:cancel()
  if not self.ended then self.job:cancel() end
end

---@return boolean
function Handle:is_done() return self.ended ~= nil or self.job:is_done() end

--- What its thread has been doing in the kernel, nil when it is not there.
---@return table|nil what, offset, seconds, thread, kernel_stack
function Handle:stuck()
  if not self.ended then return self.job:stuck() end
end

-- Virtual time stands still while a job runs; what the operations were
-- declared to last passes afterwards.
local function let_virtual_time_pass(self, r)
  if self.spec.virtual_op_ns == 0 or not loop.is_virtual() then return end
  task.sleep(r.total_ns / 1e9 + self.spec.ramp_seconds)
end

--- Waits until it has ended and returns the result. Raises only if it could
--- not start. When the waiting task is cancelled, so is the workload.
---@async
---@return table
function Handle:wait()
  if self.result then return self.result end
  local r = job.wait(self.job)
  -- Its counters and histograms take 256 KiB that the collector does not see.
  self.ended = self.job:progress()
  self.job:close()
  -- The file may be there only now.
  if self.spec.engine ~= "null" and not self.place then self.place = place(self.spec.path) end
  r.device = self.counting and self.counting:result()
    or { reason = "engine null has no device" }
  self.result = result.complete(r, self.spec, self.place)
  if self.medium then self.medium:judge(r) end
  let_virtual_time_pass(self, r)
  return r
end

function Handle:__close()
  if self:is_done() then return end
  self.job:cancel()
  job.end_or_abandon(self.job)
end

--- Runs a workload. After its first operation everything, errors too, is in
--- the result; it raises only when it could not start.
---@async
---@param given table
---@return table
function workload.run(given)
  return workload.start(given):wait()
end

--- As workload.run, but returns nil and the error when it could not start.
---@async
---@param given table
---@return table|nil
---@return storlua.Error|nil
function workload.try_run(given)
  return errors.try(workload.run, given)
end

return workload
