-- SPDX-License-Identifier: MIT
--- The safety gate: the only way to a block device that may be written to.
--- Without a grant, workload.run refuses a write to any block device.

local core = require("storlua.core.gate")
local errors = require("storlua.errors")
local job = require("storlua.job")
local process = require("storlua.process")
local scheduler = require("storlua.scheduler")

local gate = {}

local LAVA = "lava-target-storage"
local BY_ID = "(/dev/disk/by%-id/%S+)%s*$"

---@class storlua.Grant
---@field path string as it was given; writes go to this path
---@field disk storlua.Disk what the device was when it was granted
---@field id string the unit
local Grant = {}
Grant.__index = Grant
Grant.__name = "storlua.Grant"

-- The scratch devices the administrator of a lab set down, as by-id links.
local function lava_devices(method)
  local argv = { LAVA }
  if method ~= "" then argv[2] = method end
  local result, err = process.try_run(argv)
  if not result or result.code ~= 0 then
    errors.raise("USAGE", "--destroy %s: %s names no device%s", table.concat(argv, ":"), LAVA,
      result and "" or ": " .. err.message)
  end
  local links = {}
  for line in result.stdout:gmatch("[^\n]+") do links[#links + 1] = line:match(BY_ID) end
  return links
end

local function expand(consents)
  local all = {}
  for _, consent in ipairs(consents or {}) do
    local method = consent:match("^" .. LAVA:gsub("%-", "%%-") .. ":?(.*)$")
    if method then
      for _, link in ipairs(lava_devices(method)) do all[#all + 1] = link end
    else
      all[#all + 1] = consent
    end
  end
  return all
end

local function sentence(path, err)
  local texts, plain = {}, "--destroy '" .. tostring(err.id) .. "'"
  for i, reason in ipairs(err.reasons) do
    if reason.code == "consent" and reason.text:sub(-#plain) == plain then
      reason.text = reason.text:sub(1, -#plain - 1) .. "--destroy "
        .. require("storlua.device.consent").word(err.id)
    end
    texts[i] = reason.text
  end
  local message = ("refused to write to %s: %s"):format(path, table.concat(texts, "; "))
  if #err.losses > 0 then
    message = message .. "; on it now: " .. table.concat(err.losses, ", ")
  end
  return message
end

local function open(path, options)
  local grant, disk
  local ok, err = pcall(function()
    grant, disk = job.wait(core.open(path, expand(options.consents),
      options.force_signature or false))
  end)
  if ok then
    return setmetatable({ path = path, disk = disk, id = disk.id, core = grant }, Grant)
  end
  if errors.is(err) and err.code == "REFUSED" then err.message = sentence(path, err) end
  error(err, 0)
end

--- Asks for a device and holds it alone until the grant is closed; declare the
--- grant with <close>. Refused (code REFUSED, with `reasons`, `losses`, `id`)
--- when anybody uses the device or a part of it, when it is read-only or a boot
--- area, when something known lies on it, and unless one of `consents` names
--- this very unit: its id as `storlua devices.lua` prints it, a link in
--- /dev/disk/by-id, or "lava-target-storage[:METHOD]".
---@async
---@param path string any name of the device
---@param options? table consents = list, force_signature = overwrite what is recognised
---@return storlua.Grant
function gate.open(path, options)
  return open(path, options or {})
end

--- As gate.open, but returns nil and the error.
---@async
---@param path string
---@param options? table
---@return storlua.Grant|nil, storlua.Error|nil
function gate.try_open(path, options)
  return errors.try(open, path, options or {})
end

--- Flushes the device and gives it back. Closing twice is harmless.
---@async
function Grant:close()
  local closing = { self.core:close() }
  if closing[1] ~= nil or #closing > 0 then job.wait(table.unpack(closing)) end
end

Grant.__close = function(self, err)
  scheduler.cleanup(function() self:close() end, err)
end

return gate
