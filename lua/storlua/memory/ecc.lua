-- SPDX-License-Identifier: MIT
--- What the memory controllers have corrected, or could not: the counters of
--- the kernel's EDAC drivers. A pattern test alone never sees a corrected error.

local fs = require("storlua.fs")

local ecc = { sysfs = "/sys" }

local DEFAULT_POLL_SECONDS = 1

local function number(path)
  return math.tointeger(tonumber((fs.try_read(path) or ""):match("^%d+")))
end

local function add(counts, folder, name, prefix)
  for kind, file in pairs { corrected = "ce_count", uncorrected = "ue_count" } do
    counts[#counts + 1] = { where = name, kind = kind, part = prefix ~= "",
                            value = number(folder .. "/" .. prefix .. file) }
  end
end

local function entries(folder, pattern)
  local list = {}
  for _, name in ipairs(fs.try_list(folder) or {}) do
    if name:find(pattern) then list[#list + 1] = name end
  end
  table.sort(list)
  return list
end

--- All counters now; nil and why not.
---@return table[]|nil counts {where, kind, part, value}: a controller, or a part of one
---@return string|nil why
function ecc.read()
  local above, counts = ecc.sysfs .. "/devices/system/edac/mc", {}
  for _, mc in ipairs(entries(above, "^mc%d+$")) do
    local folder = above .. "/" .. mc
    add(counts, folder, mc, "")
    for _, dimm in ipairs(entries(folder, "^dimm%d+$")) do
      local label = (fs.try_read(folder .. "/" .. dimm .. "/dimm_label") or ""):match("^[^\n]+")
      add(counts, folder .. "/" .. dimm, ("%s %s"):format(mc, label or dimm), "dimm_")
    end
  end
  for _, one in ipairs(counts) do
    if one.value and not one.part then return counts end
  end
  return nil, "the kernel has no EDAC driver for it: what ECC corrects is not seen"
end

--- How long an error takes at most until it is counted, where a driver polls.
---@return number seconds
function ecc.delay_seconds()
  local ms = number(ecc.sysfs .. "/module/edac_core/parameters/edac_mc_poll_msec")
  return (ms and ms / 1000 or DEFAULT_POLL_SECONDS) + 0.1
end

---@class storlua.EccCount
---@field corrected? integer since `before`
---@field uncorrected? integer
---@field where? string which controllers and modules, in words
---@field reason? string why nothing is known; then there is no count

--- What was counted since `before`.
---@param before table[]|nil of ecc.read
---@param why string|nil of ecc.read
---@return storlua.EccCount
function ecc.since(before, why)
  local after = before and ecc.read()
  if not after then return { reason = why or "the counters are gone" } end
  local result, places, old, seen = { corrected = 0, uncorrected = 0 }, {}, {}, {}
  for _, one in ipairs(before) do old[one.where .. one.kind] = one.value end
  for _, one in ipairs(after) do seen[one.where .. one.kind] = true end
  for _, one in ipairs(before) do
    if not one.part and not seen[one.where .. one.kind] then
      return { reason = ("the counters of %s are gone: not judged"):format(one.where) }
    end
  end
  for _, one in ipairs(after) do
    local from = old[one.where .. one.kind]
    if not one.part and (not from or not one.value or one.value < from) then
      return { reason = ("the counters of %s began anew: not judged"):format(one.where) }
    end
    local more = from and one.value and one.value - from or 0
    if not one.part then result[one.kind] = result[one.kind] + more end
    if more > 0 then places[#places + 1] = ("%s: %d %s"):format(one.where, more, one.kind) end
  end
  result.where = places[1] and table.concat(places, ", ")
  return result
end

--- A count in words.
---@param count storlua.EccCount
---@return string
function ecc.text(count)
  if count.reason then return "not watched: " .. count.reason end
  return ("%d corrected, %d uncorrected errors counted in this pass%s"):format(count.corrected,
    count.uncorrected, count.where and " (" .. count.where .. ")" or "")
end

--- Why a count is no good, or nil. `allowed` corrected errors pass.
---@param count storlua.EccCount
---@param allowed integer
---@return string|nil
function ecc.problem(count, allowed)
  if (count.uncorrected or 0) > 0 or (count.corrected or 0) > allowed then
    return ("the memory controller counted errors: %s"):format(count.where)
  end
end

return ecc
