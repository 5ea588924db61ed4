-- SPDX-License-Identifier: MIT
--- What scripts/membw.lua measures after the curve: the operations at a size that
--- is proved to be memory, the ladder of latencies, and what the board's limits
--- say of them.

local bandwidth = require("storlua.memory.bandwidth")
local conditions = require("storlua.memory.conditions")
local errors = require("storlua.errors")
local latency = require("storlua.memory.latency")
local quantity = require("storlua.quantity")

local plan = {
  LADDER_FROM = 4096,
}

--- A size as a segment of a case id: "64KiB", "1_5GiB".
---@param bytes integer
---@return string
function plan.size_id(bytes)
  return (quantity.size_text(bytes):gsub(" ", ""):gsub("[.,]", "_"))
end

--- Writes the event of a result, with what is wrong with it.
function plan.record(t, id, result, spec, problem, labels)
  t:memory(id, { spec = spec, result = result, reason = problem(result), labels = labels })
  return result
end

--- The fields of one measurement, and the options of all where it has none.
---@param options table
---@param fields table
---@return table
function plan.with(options, fields)
  for key, value in pairs(options) do
    if fields[key] == nil then fields[key] = value end
  end
  return fields
end

--- Whether this CPU has an operation, or that kernel of it.
---@param operation string
---@param kernel? string
---@return boolean
function plan.has(operation, kernel)
  local list = bandwidth.kernels(operation)
  for _, name in ipairs(list) do
    if name == kernel then return true end
  end
  return kernel == nil and list[1] ~= nil
end

--- One operation at one size with one number of threads.
---@async
---@param t storlua.Run
---@param fields table of the spec
---@param level string
---@param single number|nil MB/s of one thread: result.scaling is by that
---@return table|nil result nil when it could not start
function plan.operation(t, fields, level, single)
  local id = ("%s.%s.t%d"):format(fields.operation, plan.size_id(fields.size), fields.threads)
  t:phase(id)
  -- What is free may have become less since it was asked.
  local result, spec = errors.try(conditions.around, bandwidth.run, fields)
  if not result then
    t:check(id, false, "%s", spec.message)
    return nil
  end
  result.level, result.scaling = level, single and result.mb_s and result.mb_s / single
  return plan.record(t, id, result, spec, bandwidth.problem)
end

--- Tries on little memory what will be measured: a CPU that is forbidden, an
--- empty pool of huge pages. Returns why it will not go, or nil.
---@async
---@param want table operations, threads (list), options
---@return string|nil
function plan.rehearse(want)
  for _, operation in ipairs(want.operations) do
    if plan.has(operation) then
      local ok, err = bandwidth.try_run(plan.with(want.options, {
        operation = operation, size = 4096, threads = math.max(table.unpack(want.threads)),
        samples = 1, sample_seconds = 1e-6 }))
      if not ok then return err.hint or err.message end
    end
  end
end

--- All operations by all numbers of threads. Each result is on disk before the
--- next begins. show(result, operation, threads) prints it.
---@async
---@param t storlua.Run
---@param want table operations, threads (list), size, level, options, show
---@return table results by operation, of the largest number of threads
---@return {faults: integer, retaken: integer, noisy: integer} sums
function plan.operations(t, want)
  local last, sums = {}, { faults = 0, retaken = 0, noisy = 0 }
  for _, operation in ipairs(want.operations) do
    local single
    if not plan.has(operation) then
      t:note("not_measured." .. operation, "this CPU has no instruction for it")
    end
    for _, threads in ipairs(plan.has(operation) and want.threads or {}) do
      local result = plan.operation(t, plan.with(want.options, {
        operation = operation, size = want.size, threads = threads }), want.level, single)
      if result then
        if threads == 1 then single = result.mb_s end
        last[operation] = result
        sums.faults, sums.retaken = sums.faults + result.faults, sums.retaken + result.retaken
        if result.noisy then sums.noisy = sums.noisy + 1 end
        want.show(result, operation, threads)
      end
    end
  end
  return last, sums
end

-- What the pages of a result are; asked for is not given.
local function pages_of(result, asked)
  if asked ~= "huge" then return asked end
  if not result.huge_bytes then return "unknown" end
  if result.huge_bytes >= result.arena_bytes then return "huge" end
  return result.huge_bytes == 0 and "small" or "mixed"
end

--- The kinds of pages that a ladder is measured with: what was asked for, else
--- small and, where the system gives them, huge ones.
---@async
---@param t storlua.Run
---@param asked string|nil
---@param options table
---@return string[]
function plan.ladder_pages(t, asked, options)
  if asked and asked ~= "huge" then return { asked } end
  local r = latency.run(plan.with(options, { size = 4096, pages = "huge", samples = 1,
    sample_seconds = 1e-6 }))
  local is_huge = pages_of(r, "huge") == "huge"
  if not is_huge then t:note("huge_pages", "the system gives none, or does not tell") end
  if asked then return { asked } end
  return is_huge and { "small", "huge" } or { "small" }
end

-- Four times the size before, up to the top; what was asked for is the last.
local function ladder_sizes(want)
  local list, bytes = {}, plan.LADDER_FROM
  local top = want.asked and want.asked - 1 or want.top
  while bytes <= top do
    list[#list + 1] = bytes
    bytes = bytes * 4
  end
  list[#list + 1] = want.asked
  return list
end

local function rung(t, want, bytes, pages, locality)
  local function id_of(name)
    return ("latency.%s.%s.%s"):format(plan.size_id(bytes), name,
      locality == 0 and "all" or "block")
  end
  t:phase(id_of(pages))
  local result, spec = conditions.around(latency.run, plan.with(want.options, {
    size = bytes, pages = pages, locality = locality }))
  local got = pages_of(result, pages)
  plan.record(t, id_of(got == pages and got or "not_" .. pages), result, spec, latency.problem)
  want.show(result, bytes, got, locality)
end

--- The ladder of latencies: over all of the working set, and within 256 KiB at
--- a time, where misses of the TLB do not count.
---@async
---@param t storlua.Run
---@param want table asked or top (bytes), pages (list), options, show
function plan.ladder(t, want)
  local BLOCK <const> = 256 << 10
  for _, bytes in ipairs(ladder_sizes(want)) do
    for _, pages in ipairs(want.pages) do
      rung(t, want, bytes, pages, 0)
      if bytes > BLOCK and bytes % BLOCK == 0 then rung(t, want, bytes, pages, BLOCK) end
    end
  end
  if want.asked and want.asked > BLOCK and want.asked % BLOCK ~= 0 then
    t:note("not_measured.block", ("%s is no multiple of 256 KiB"):format(
      quantity.size_text(want.asked)))
  end
end

--- Samples for the board's limits of the role ddr: of memory only, as proved.
---@async
---@param t storlua.Run
---@param results table by operation
---@param rules table[] limits
function plan.judge(t, results, rules)
  for _, limit in ipairs(rules) do
    local result = results[limit.metric:match("^([%w_]+)%.mb_s$")]
    if result and result.mb_s and result.level == "DRAM" then
      local metric = "ddr." .. limit.metric
      t:sample(metric, result.mb_s, "MB/s")
      if limit.max and result.mb_s > limit.max then
        t:note("board." .. metric, ("implausible: %.0f MB/s are more than the %.0f that its bus "
          .. "can carry"):format(result.mb_s, limit.max))
      end
    end
  end
end

return plan
