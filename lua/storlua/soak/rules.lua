-- SPDX-License-Identifier: MIT
--- The limits that a soak is given on the command line. What they are about is
--- known before the start, so one that could never have data is refused then,
--- not after two days.

local nearest = require("storlua.nearest")
local place = require("storlua.soak.place")
local storlua = require("storlua")
local threshold = require("storlua.threshold")

local rules = {}

-- What a measure samples of each case.
local SAMPLED = { mib_s = true, iops = true, p99_ns = true }

local function is_measured(case, opt) return case ~= "rest_read" or opt.pause > 0 end

-- What can stand before ".mib_s": the cases, or the two directions of one that
-- reads and writes.
local function heads_of(cases, opt)
  local heads = {}
  for _, case in ipairs(cases) do
    if case == "random_write" and opt.reads > 0 then
      heads[#heads + 1] = case .. ".read"
      heads[#heads + 1] = case .. ".write"
    elseif is_measured(case, opt) then
      heads[#heads + 1] = case
    end
  end
  return heads
end

local function refuse(text, head, heads, names)
  local known = table.move(heads, 1, #heads, #names + 1, { table.unpack(names) })
  storlua.usage(("--limit \"%s\": nothing here is measured as %s%s; there are %s"):format(text,
    head, nearest.hint(head, known), table.concat(names, ", ")))
end

-- One rule of the command line: as it is, or for each of several directories.
local function expand(text, heads, prefixes, into)
  local metric = threshold.parse(text).metric
  local head, tail = metric:match("^(.+)%.([^.]+)$")
  if not SAMPLED[tail] then
    into[#into + 1] = text
    return
  end
  local names, is_head = {}, {}
  for _, one in ipairs(heads) do
    is_head[one] = true
    for _, prefix in ipairs(prefixes) do names[#names + 1] = prefix .. one end
  end
  if is_head[head] then
    for _, prefix in ipairs(prefixes) do into[#into + 1] = prefix .. text:match("^%s*(.*)$") end
    return
  end
  for _, name in ipairs(names) do
    if name == head then
      into[#into + 1] = text
      return
    end
  end
  refuse(text, head, heads, names)
end

--- The rules of --limit. One about "write" holds for each of several --dir by
--- itself; one about "mnt_sd.write" for that directory.
---@param cases string[] ids of the passes
---@param opt table
---@param resume? table what the earlier part of the run left
---@return string[] a new list
function rules.of(cases, opt, resume)
  local prefixes = place.prefixes(place.names(resume, opt.dir or {}))
  local heads, list = heads_of(cases, opt), {}
  for _, text in ipairs(opt.limit or {}) do expand(text, heads, prefixes, list) end
  return list
end

return rules
