-- SPDX-License-Identifier: MIT
--- What every soak shares: passes over one file whose every sector says when
--- it was written, and a ledger of what the medium has promised, which
--- storlua.soak.resume checks after a crash.
---
--- A pass that writes is announced (`writing`) before it starts and confirmed
--- (`flushed`) after its flush returned; both are on disk before the next step.
--- Whoever resumes can tell from them which generations are legal: the one that
--- was promised, and the one that was under way.

local medium = require("storlua.workload.medium")

local soak = {}

---@class storlua.SoakPlan
---@field path string the test file
---@field target_id integer part of every stamp: tells the files of a run apart
---@field prefix string before each case id: empty unless there are several files
---@field size_bytes integer
---@field record_bytes integer of sequential passes
---@field random_bytes integer of random passes
---@field part_bytes integer how much a random pass rewrites
---@field read_percent integer share of reads in a random pass that writes
---@field direct boolean
---@field cached_why? string why direct I/O cannot be had
---@field in_memory? boolean the file system is
---@field engine string
---@field generation integer newest generation that was begun
---@field base integer generation of the whole file on the medium, 0 for none
---@field area? storlua.SoakArea what was rewritten since
---@field budget storlua.SoakBudget of all files of the run
---@field is_cut? boolean the time ended a pass before its end
---@field is_verified? boolean the whole file was, at least once
---@field keep? fun(reason: string|nil) makes the file stay when the run ends, or not
---@field found_bytes? integer size of the file before the run claimed it; nil: there was none

---@class storlua.SoakArea
---@field offset integer
---@field bytes integer
---@field generation integer
---@field written_bytes integer less than bytes: which sectors is not known

--- Makes the plan of one file from its fields.
---@param fields table path, target_id, prefix, size_bytes, record_bytes, …
---@return storlua.SoakPlan
function soak.plan(fields)
  fields.generation, fields.base = 0, 0
  return fields
end

-- What a pass goes over: everything, or a part that moves from pass to pass.
local function range_of(plan, pass)
  if not pass.part or plan.part_bytes >= plan.size_bytes then
    return { offset = 0, bytes = plan.size_bytes }
  end
  local places = (plan.size_bytes - plan.part_bytes) // plan.random_bytes + 1
  local place = (plan.seed * 31 + plan.generation * 0x9E3779B97F4A7C15) >> 1
  return { offset = place % places * plan.random_bytes, bytes = plan.part_bytes }
end

local function workload_spec(plan, pass, generation)
  local null = plan.engine == "null"
  return {
    path = not null and plan.path or nil,
    engine = plan.engine,
    order = pass.order,
    seed = plan.seed + generation,
    record_bytes = pass.order == "random" and plan.random_bytes or plan.record_bytes,
    range_bytes = plan.size_bytes,
    direct = plan.direct,
    generation = generation,
    target_id = plan.target_id,
    rate_bytes_s = plan.rate_bytes_s,
    virtual_op_ns = null and 1000000 or nil,
  }
end

local function write_spec(plan, pass, range, generation, seconds)
  local spec = workload_spec(plan, pass, generation)
  local reads = pass.part and plan.read_percent > 0 and plan.base > 0
  spec.operation = reads and "mixed" or "write"
  spec.read_percent = reads and plan.read_percent or nil
  spec.stamp, spec.flush = true, "end"
  spec.size_bytes = plan.size_bytes
  spec.range_offset, spec.range_bytes = range.offset, range.bytes
  if reads and plan.engine ~= "null" then
    spec.verify = true
    spec.legal = { { offset = range.offset, length = range.bytes,
                     generation_min = plan.base, generation_max = generation } }
  end
  if seconds then
    spec.limit_records = (range.bytes - 1) // spec.record_bytes + 1 -- one pass
    spec.limit_seconds = math.max(seconds, 0.001)
  end
  return spec
end

local function ledger(plan, range, generation)
  return { target = plan.path, generation = generation,
           range_offset = range.offset, range_bytes = range.bytes }
end

--- Writes the range of a pass, which soak.reserve allowed, once and flushes it;
--- past `seconds` it stops, and plan.is_cut says so.
---@async
---@param t storlua.Run
---@param plan storlua.SoakPlan
---@param pass table id, order, part
---@param labels table
---@param seconds? number
function soak.write(t, plan, pass, labels, seconds)
  local range, generation = range_of(plan, pass), plan.generation + 1
  plan.generation = generation
  t:event("writing", ledger(plan, range, generation))
  local id = plan.prefix .. pass.id
  local result = t:measure(id, write_spec(plan, pass, range, generation, seconds),
    { labels = labels, on_result = soak.keeper(t, plan, id) })
  soak.end_if_bad(t, plan, id, result.verify)
  if result["end"] ~= "complete" then
    t:abort("the pass %s did not complete (%s): nothing more is written", id, result["end"])
  end
  local written_bytes = result.write and result.write.bytes or 0
  plan.budget:give_back(range.bytes - written_bytes)
  local moved_bytes = written_bytes + (result.read and result.read.bytes or 0)
  plan.is_cut = moved_bytes < range.bytes
  if written_bytes == range.bytes then
    t:event("flushed", ledger(plan, range, generation))
    if range.bytes == plan.size_bytes then
      plan.base, plan.area = generation, nil
      return
    end
  end
  plan.area = { offset = range.offset, bytes = range.bytes, generation = generation,
                written_bytes = written_bytes }
end

--- Takes what one more pass writes from the budget; false when there is not so
--- much left.
---@param plan storlua.SoakPlan
---@param pass table
---@return boolean
function soak.reserve(plan, pass) return plan.budget:reserve(range_of(plan, pass).bytes) end

--- Whether a verification found bad sectors.
---@param verify? table
---@return boolean
function soak.has_bad(verify) return verify ~= nil and verify.bad_sectors > 0 end

local function damage_text(id, verify)
  local kinds = {}
  for kind, count in pairs(verify.damage) do
    if count > 0 then kinds[#kinds + 1] = ("%d %s"):format(count, kind) end
  end
  table.sort(kinds)
  return ("%s: %d bad sectors (%s), the first at byte %d"):format(id, verify.bad_sectors,
    table.concat(kinds, ", "), verify.bad[1].offset)
end

--- What keeps the file when a measure has found bad sectors, also one that was
--- cut off.
---@param t storlua.Run
---@param plan storlua.SoakPlan
---@param id string case id of the measure
---@return fun(result: table)
function soak.keeper(t, plan, id)
  return function(result)
    if not soak.has_bad(result.verify) then return end
    if plan.keep then plan.keep(damage_text(id, result.verify)) end
    t:note("evidence", ("%s is kept; remove it and its .owner file when done"):format(plan.path))
  end
end

--- The next pass would overwrite what a verification found: bad sectors are the
--- last thing of a run.
---@param t storlua.Run
---@param plan storlua.SoakPlan
---@param id string case id of the measure
---@param verify? table
function soak.end_if_bad(t, plan, id, verify)
  if not soak.has_bad(verify) then return end
  t:abort("%s; %s is kept as evidence", damage_text(id, verify), plan.path)
end

-- What a verification must find. Where a pass rewrote only some sectors of an
-- area, both generations are legal in it, and how many hold the older one tells
-- whether a rewrite was lost: the second value.
local function expect(plan, spec)
  local area = plan.area
  if not area then return end
  if plan.base == 0 then -- the first layout, cut: its beginning
    spec.generation, spec.range_bytes = area.generation, area.written_bytes
    return
  end
  local old_bytes = area.bytes - area.written_bytes
  spec.legal = { {
    offset = area.offset, length = area.bytes, generation_max = area.generation,
    generation_min = old_bytes == 0 and area.generation or plan.base,
  } }
  return old_bytes // 512
end

--- Reads the whole file once and compares every sector.
---@async
---@param t storlua.Run
---@param plan storlua.SoakPlan
---@param pass table id, order
---@param labels table
function soak.verify(t, plan, pass, labels)
  local id, null = plan.prefix .. pass.id, plan.engine == "null"
  local spec = workload_spec(plan, pass, plan.base)
  spec.operation = "read"
  spec.verify = not null
  spec.cold = not plan.direct and not null and "drop" or nil
  local old_sectors = not null and expect(plan, spec) or nil
  if spec.range_bytes == 0 then return end -- cut before the first record
  local result = t:measure(id, spec, { labels = labels, on_result = soak.keeper(t, plan, id) })
  if null then return end
  soak.check_source(t, id, result)
  soak.end_if_bad(t, plan, id, result.verify)
  if result["end"] ~= "complete" then
    t:abort("the pass %s did not complete (%s): not all was verified", id, result["end"])
  end
  if old_sectors then
    t:check(id .. ".rewritten", result.verify.old_sectors == old_sectors,
      "%d sectors hold what was there before the last pass, %d were left to it",
      result.verify.old_sectors, old_sectors)
  end
  plan.is_verified = plan.is_verified or spec.range_bytes == plan.size_bytes
end

--- A verification that was served from memory says nothing about the medium.
---@param t storlua.Run
---@param id string case id of the measure
---@param result table
function soak.check_source(t, id, result)
  local target, cache = result.target, result.cache
  if target.ram_backed then
    t:note("cold_reads", "no cold read was possible: the file system lies in memory")
    return
  end
  if cache.from_medium == nil then
    t:note("cold_reads", "not shown to come from the medium: " .. (cache.medium_reason or "?"))
  end
  if not target.direct and not cache.cold then
    t:check(id .. ".from_medium", false,
      cache.resident_before_bytes
        and "%s bytes of the file were in the page cache: not all of it came from the medium"
        or "residency is unknown here (%s): use direct I/O",
      cache.resident_before_bytes or cache.source)
  else
    t:check(id .. ".from_medium", not medium.was_passed_by(result),
      "not all of it came from the medium: %s", cache.medium_reason or "")
  end
end

return soak
