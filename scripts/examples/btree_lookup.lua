#!/usr/bin/env storlua
-- SPDX-License-Identifier: MIT
--- Look-ups in a B-tree on disk: each read says where the next one goes, so a
--- look-up of three levels waits three times. Many look-ups at once show what
--- the device does with the queue that is left.

local clock = require("storlua.clock")
local ring = require("storlua.ring")
local storlua = require("storlua")
local task = require("storlua.task")

local NODE <const> = 4096
local FANOUT <const> = NODE // 8 -- children of a node: one word of 8 bytes each

-- Writes the tree below `levels`: a node holds the record numbers of its
-- children, a leaf the keys times three. Returns the number of nodes.
local function build(path, levels)
  local inner = 0
  for level = 0, levels - 2 do inner = inner + FANOUT ^ level // 1 | 0 end
  local leaves = FANOUT ^ (levels - 1) // 1 | 0
  local r <close> = ring.open { path = path, record_bytes = NODE, slots = 32, write = true }
  local scope <close> = task.scope()
  local next_node = 0
  for slot = 1, 32 do
    scope:spawn("builder " .. slot, function()
      while next_node < inner + leaves do
        local node = next_node
        next_node = node + 1
        for i = 1, FANOUT do
          local key = (node - inner) * FANOUT + i - 1
          r:put_u64(slot, i, node < inner and node * FANOUT + i or 3 * key)
        end
        r:write(slot, node * NODE)
      end
    end)
  end
  scope:join()
  r:fsync()
  return inner + leaves
end

-- Reads the way from the root to the leaf of `key`; returns what it holds.
local function look_up(r, slot, levels, key)
  local node, keys_below = 0, FANOUT ^ (levels - 1) // 1 | 0
  for _ = 2, levels do
    r:read(slot, node * NODE)
    node = r:get_u64(slot, key // keys_below % FANOUT + 1)
    keys_below = keys_below // FANOUT
  end
  r:read(slot, node * NODE)
  return r:get_u64(slot, key % FANOUT + 1)
end

return storlua.procedure {
  summary = "Look-ups in a B-tree on disk: dependent reads, many at once.",
  options = {
    { name = "file", type = "string", path = true, default = "storlua.btree",
      help = "where the tree goes" },
    { name = "tasks", type = "count", default = 16, min = 1, max = 1024,
      help = "look-ups at once" },
    { name = "levels", type = "count", default = 2, min = 2, max = 3,
      help = "2 is 2 MiB in 513 nodes, 3 is 1 GiB" },
    { name = "runtime", type = "duration", default = "5s", help = "how long" },
    { name = "direct", type = "flag", help = "past the page cache" },
  },
  cases = { "lookup.right", "lookup.ended" },
  run = function(t, opt)
    local _ <close> = t:scratch_file(opt.file, { any_name = true })
    local nodes = build(opt.file, opt.levels)
    local r <close> = ring.open { path = opt.file, record_bytes = NODE, slots = opt.tasks,
      direct = opt.direct }
    local keys = FANOUT ^ opt.levels // 1 | 0
    local done, wrong, start_ns = 0, 0, clock.monotonic_ns()
    local timer <close> = task.scope()
    local is_over = false
    timer:spawn("timer", function()
      task.sleep(opt.runtime)
      is_over = true
    end)
    local scope <close> = task.scope()
    for slot = 1, opt.tasks do
      scope:spawn("look-up " .. slot, function()
        while not is_over do
          local key = math.random(0, keys - 1)
          if look_up(r, slot, opt.levels, key) ~= 3 * key then wrong = wrong + 1 end
          done = done + 1
        end
      end)
    end
    scope:join()
    -- The last look-ups end after --runtime.
    local per_s = done / (clock.monotonic_ns() - start_ns) * 1e9
    local read = r:latency().read
    t:note("nodes", nodes)
    t:note("cache", opt.direct and "direct I/O" or "through the page cache: may be warm")
    t:check("lookup.right", done > 0 and wrong == 0, "%d of %d look-ups wrong", wrong, done)
    t:check("lookup.ended", read.count == done * opt.levels, "%d reads for %d look-ups", read.count,
      done)
    t:sample("lookup.per_s", per_s)
    t:sample("read.p50_ns", read.p50_ns, "ns")
    t:sample("read.p99_ns", read.p99_ns, "ns")
    print(("%d look-ups at once: %.0f a second, %d reads each, p50 %.1f us, p99 %.1f us"):format(
      opt.tasks, per_s, opt.levels, read.p50_ns / 1e3, read.p99_ns / 1e3))
  end,
}
