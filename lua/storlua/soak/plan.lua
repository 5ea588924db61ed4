-- SPDX-License-Identifier: MIT
--- From the options of a soak to a plan for each of its files: where, how large,
--- past the page cache or not. Everything that cannot be is refused here, before
--- a byte is written.

local budget = require("storlua.soak.budget")
local direct = require("storlua.soak.direct")
local fs = require("storlua.fs")
local place = require("storlua.soak.place")
local quantity = require("storlua.quantity")
local room_in = require("storlua.room")
local soak = require("storlua.soak")
local soak_resume = require("storlua.soak.resume")
local storlua = require("storlua")

local soak_plan = {}

local SIZE_MAX_BYTES = 256 << 20
local SECTOR_BYTES = 512
local SIZE_UNIT_BYTES = 4096 -- direct I/O moves whole blocks, of any disk these
local UNIT_SECONDS = { time = 1, seconds = 1, minutes = 60, hours = 3600 }

--- How long the run is to last. Also of a resumed one: what was begun with
--- minutes goes on with minutes.
---@param opt table
---@return number
function soak_plan.seconds(opt)
  local total
  for name, seconds in pairs(UNIT_SECONDS) do
    if opt[name] and total then
      storlua.usage("more than one of --hours, --minutes, --seconds and --time")
    end
    total = opt[name] and opt[name] * seconds or total
  end
  return total or 48 * 3600
end

-- As asked for, else as before the cut, else from what is free.
local function choose_size(t, opt, plan, room_bytes, files)
  local size_bytes = opt.size or t.resume and t.resume.sizes[plan.path]
  if not size_bytes then
    -- several files may lie on one file system
    local share = room_bytes // (2 * files)
    size_bytes = math.min(SIZE_MAX_BYTES, share - share % plan.record_bytes)
  end
  return size_bytes - size_bytes % SIZE_UNIT_BYTES
end

-- The sizes of all files, which fit beside each other.
local function choose_sizes(t, opt, dirs, plans)
  local files = {}
  for i, plan in ipairs(plans) do
    local room, existing = room_in.directory(dirs[i]), fs.try_stat(plan.path)
    local own_bytes = existing and existing.allocated_bytes or 0
    plan.found_bytes = existing and existing.size_bytes
    plan.in_memory = room.in_memory
    plan.size_bytes = choose_size(t, opt, plan, room.bytes + own_bytes, #plans)
    -- a larger one of an earlier run does not shrink
    files[i] = { dir = dirs[i], bytes = plan.size_bytes,
                 own_bytes = math.min(own_bytes, plan.size_bytes) }
  end
  place.check_room(files)
end

-- Each sector says when it was written.
local function check_records(opt)
  for name, bytes in pairs { record = opt.record, ["random-record"] = opt.random_record } do
    if bytes % SECTOR_BYTES ~= 0 then
      storlua.usage(("--%s: %d is no multiple of %d, the bytes of a sector"):format(name, bytes,
        SECTOR_BYTES))
    end
  end
end

local function check_sizes(plan)
  local record_bytes = math.max(plan.record_bytes, plan.random_bytes)
  if plan.size_bytes < record_bytes then
    storlua.usage(("the size of the test file, %s, is smaller than one record (%s); see --size, "
      .. "--record and --random-record"):format(quantity.size_text(plan.size_bytes),
      quantity.size_text(record_bytes)))
  end
end

-- A limit that no first round can keep.
local function check_write_limit(opt, plans)
  local bytes = 0
  for _, plan in ipairs(plans) do bytes = bytes + plan.size_bytes end
  if not opt.write_limit or bytes <= opt.write_limit then return end
  storlua.usage(("--write-limit allows not even one pass over %s"):format(plans[2]
    and ("the files, %s in all"):format(quantity.size_text(bytes))
    or "a file of " .. quantity.size_text(bytes)))
end

-- Whole records of the random passes, at least one.
local function part_of(plan, percent)
  local bytes = plan.size_bytes * percent // 100
  return math.max(plan.random_bytes, bytes - bytes % plan.random_bytes)
end

local function plan_of(t, opt, dir, prefix, index)
  return soak.plan {
    path = dir .. "/storlua.soak", target_id = index, engine = opt.engine, seed = t.seed,
    prefix = prefix, size_bytes = opt.size or SIZE_MAX_BYTES, record_bytes = opt.record,
    random_bytes = opt.random_record, read_percent = opt.reads, rate_bytes_s = opt.rate,
    rests = opt.pause > 0,
  }
end

-- What was promised is verified, or the run does not go on.
local function check_ledger(earlier, plans)
  local paths = {}
  for _, plan in ipairs(plans) do paths[plan.path] = true end
  local path = soak_resume.unmatched(earlier, paths)
  if path then
    storlua.usage(("the earlier part wrote %s, and no --dir leads there: what it promised would "
      .. "not be verified"):format(path))
  end
end

--- The plans of all files of a run.
---@async
---@param t storlua.Run
---@param opt table
---@return storlua.SoakPlan[]
function soak_plan.make(t, opt)
  if opt.rewrite < 1 or opt.rewrite > 100 or opt.reads > 95 then
    storlua.usage("--rewrite is 1 to 100 per cent, --reads 0 to 95")
  end
  check_records(opt)
  local dirs, plans = place.directories(t, opt), {}
  local prefixes = place.prefixes(place.names(t.resume, dirs))
  for i, dir in ipairs(dirs) do plans[i] = plan_of(t, opt, dir, prefixes[i], i) end
  if opt.engine ~= "null" then
    place.check(dirs)
    -- the same from every folder, and by every name
    for i, plan in ipairs(plans) do plan.path = fs.realpath(dirs[i]) .. "/storlua.soak" end
    choose_sizes(t, opt, dirs, plans)
  end
  local shared = budget.new(opt.write_limit, t:written_bytes())
  for _, plan in ipairs(plans) do
    check_sizes(plan)
    plan.part_bytes = part_of(plan, opt.rewrite)
    plan.budget = shared
  end
  check_write_limit(opt, plans)
  if opt.engine == "null" then return plans end
  if t.resume then check_ledger(t.resume, plans) end
  for _, plan in ipairs(plans) do direct.choose(t, opt, plan) end
  return plans
end

local function rated_bytes(t, opt)
  local role = opt.role and t.board and t.board.roles[opt.role]
  return role and role.rated_write
end

--- Bytes that a round writes to all files.
---@param plans storlua.SoakPlan[]
---@return integer
function soak_plan.round_bytes(plans)
  local bytes = 0
  for _, plan in ipairs(plans) do bytes = bytes + plan.size_bytes + plan.part_bytes end
  return bytes
end

local function how_it_reads(plan)
  if plan.direct then return "past the page cache" end
  if plan.in_memory then return "all of it in memory" end
  return "with the page cache dropped before it reads"
    .. (plan.cached_why and (" (%s)"):format(plan.cached_why) or "")
end

--- Says what will be done, before it is done.
---@param t storlua.Run
---@param opt table
---@param plans storlua.SoakPlan[]
---@param seconds number
function soak_plan.say(t, opt, plans, seconds)
  local how_long = quantity.duration_text(seconds)
  if opt.rounds then
    how_long = ("%d round%s, %s at most"):format(opt.rounds, opt.rounds == 1 and "" or "s",
      how_long)
  end
  for _, plan in ipairs(plans) do
    t:note(plan.prefix .. "plan", ("%s for %s: each round writes %s, rewrites %s of it in random "
      .. "order and verifies all, %s"):format(plan.path, how_long,
      quantity.size_text(plan.size_bytes), quantity.size_text(plan.part_bytes),
      how_it_reads(plan)))
  end
  local round_bytes, rated = soak_plan.round_bytes(plans), rated_bytes(t, opt)
  local total = opt.rounds and opt.rounds * round_bytes
  total = math.min(total or math.maxinteger, opt.write_limit or math.maxinteger)
  t:note("plan.writes", ("%s%s%s"):format(quantity.size_text(round_bytes) .. " a round",
    total < math.maxinteger and ", at most " .. quantity.size_text(total) .. " in all"
      or "; how much in all is said after the first round",
    rated and (", %.2g %% a round of what its maker rates it for"):format(
      100 * round_bytes / rated) or ""))
end

--- Says, from the first round, how much the whole run will write.
---@param t storlua.Run
---@param opt table
---@param round_ns integer how long the round took
---@param round_bytes integer what it wrote
---@param seconds number of the run
function soak_plan.estimate(t, opt, round_ns, round_bytes, seconds)
  local rounds = math.max(1, seconds * 1e9 / (round_ns + opt.pause * 1e9))
  if opt.rounds then rounds = math.min(rounds, opt.rounds) end
  local total = math.floor(math.min(rounds * round_bytes, opt.write_limit or math.huge))
  local rated = rated_bytes(t, opt)
  t:note("plan.estimate", ("at this speed the run writes about %s in all%s"):format(
    quantity.size_text(total), rated
      and (", %.2g %% of what its maker rates it for"):format(100 * total / rated) or ""))
end

return soak_plan
