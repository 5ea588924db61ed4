-- SPDX-License-Identifier: MIT
--- verify=: what a job has written is read back, and its stamps are compared.

local words = require("storlua.fio.words")

local verify = {}

local NO_VERIFY = { ["0"] = true, none = true, null = true }

--- Takes verify= off a job where it says no; raises where it cannot be.
---@param job table
function verify.check(job)
  if not job.verify or NO_VERIFY[job.verify] then
    job.verify = nil
    return
  end
  if job.verify:find("^pattern") then
    words.usage("job %s: verify=%s: stamps are verified, patterns are not", job.name, job.verify)
  end
  if job.operation ~= "write" then
    words.usage("job %s: verify= is for jobs that write: what they wrote is read back", job.name)
  end
  if job.engine == "null" then words.usage("job %s: the null engine keeps no data", job.name) end
  if job.block_bytes % 512 ~= 0 then
    words.usage("job %s: verify= needs blocks of 512 bytes or multiples of that", job.name)
  end
end

--- The workload that reads back what a job has written, and compares it.
---@param spec table of the job, complete
---@param result table
---@return table|nil spec nil when nothing was written
function verify.spec(spec, result)
  local records = (spec.range_bytes + spec.record_bytes - 1) // spec.record_bytes
    * (spec.paths and #spec.paths or 1)
  local written = result.visits
  if written == 0 then return nil end
  local back = {
    path = spec.path, paths = spec.paths, one_after_other = spec.one_after_other,
    operation = "read", order = spec.order, seed = spec.seed,
    record_bytes = spec.record_bytes, range_offset = spec.range_offset,
    range_bytes = spec.range_bytes, direct = spec.direct, verify = true,
    generation = spec.generation, cold = not spec.direct and "drop" or nil,
  }
  if written <= records then
    -- The same order finds what was written, and nothing else.
    back.limit_records = written
    return back
  end
  local last = result.generation_last
  back.generation = last
  if written % records ~= 0 then
    back.legal = { { offset = spec.range_offset, length = spec.range_bytes,
                     generation_min = last - 1, generation_max = last } }
  end
  return back
end

return verify
