-- SPDX-License-Identifier: MIT
---@meta storlua.core.histogram
--- Private to the library. Written by tools/meta.lua from bindings/histogram.c.

local histogram = {}

--- from_sparse({bucket, count, …}, [min_ns, max_ns, mean_ns]) -> histogram | nil, message,
--- "EINVAL", fields
---@param bucket any
---@param count any
---@param min_ns integer
---@param max_ns integer
---@param mean_ns integer
function histogram.from_sparse(bucket, count, min_ns, max_ns, mean_ns) end

--- new() -> histogram
function histogram.new() end

---@class storlua.histogram
local methods = {}

function methods:add() end

function methods:count() end

function methods:max() end

function methods:mean() end

function methods:merge() end

function methods:min() end

--- percentile(percent) -> ns | nil when empty
---@param percent any
function methods:percentile(percent) end

function methods:sparse() end

function methods:summary() end

return histogram
