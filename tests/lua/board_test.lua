-- SPDX-License-Identifier: MIT
local lu = require("luaunit")
local board = require("storlua.board")
local board_watch = require("storlua.board.watch")
local device = require("storlua.device")
local fs = require("storlua.fs")

local tests = {}

-- Tables of the vendor's manual: file size and record in kB of 1024 bytes,
-- then kB/s of write, rewrite, read, reread.
local PASSING = {
  { 1024, 4, 17325, 19623, 18309, 20130 },
  { 1024, 1024, 91690, 93953, 133664, 161641 },
  { 16384, 4, 18423, 21648, 23625, 23736 },
  { 16384, 256, 91077, 88937, 152283, 159162 },
  { 16384, 1024, 102095, 99983, 163597, 169954 },
  { 16384, 4096, 102216, 101084, 161169, 160300 },
  { 16384, 16384, 93026, 103119, 157747, 160792 },
  { 131072, 4, 18723, 21457, 25046, 25080 },
  { 131072, 1024, 97717, 92395, 168437, 169027 },
  { 131072, 4096, 100309, 86737, 159881, 159958 },
  { 131072, 16384, 31068, 30734, 161342, 161741 },
  { 262144, 1024, 69923, 97061, 167924, 168228 },
  { 262144, 4096, 70257, 99365, 158394, 158507 },
  { 262144, 16384, 69600, 100196, 162300, 162584 },
}
local COLLAPSE = {
  { 16384, 4, 16528, 18226, 24101, 23748 },
  { 16384, 1024, 89460, 96806, 148825, 159890 },
  { 16384, 2048, 99009, 90244, 151417, 155064 },
  { 16384, 4096, 100021, 90433, 156428, 159981 },
  { 16384, 8192, 101815, 102025, 158681, 161991 },
  { 16384, 16384, 99572, 103136, 161970, 164727 },
  { 32768, 512, 97020, 92220, 140765, 164216 },
  { 32768, 1024, 31191, 31041, 149915, 158399 },
  { 32768, 2048, 26899, 27783, 147326, 148335 },
  { 32768, 4096, 31098, 30301, 154606, 156154 },
  { 32768, 8192, 30679, 30385, 158022, 159438 },
  { 32768, 16384, 29761, 30626, 162190, 163566 },
}

local function measure(operation, file_kb, record_kb, kb_s, order)
  local bytes = file_kb * 1024
  local part = { bytes = bytes, operations = bytes // (record_kb * 1024),
    io_ns = bytes * 1000000000 // (kb_s * 1024) }
  return {
    spec = { operation = operation, order = order, record_bytes = record_kb * 1024,
      size_bytes = bytes, direct = true },
    result = { [operation] = part, target = { direct = true } },
  }
end

local function measures(table_)
  local list = {}
  for _, row in ipairs(table_) do
    for column, operation in ipairs { "write", "write", "read", "read" } do
      list[#list + 1] = measure(operation, row[1], row[2], row[column + 2])
    end
  end
  return list
end

local function judged(list)
  local by_metric = {}
  for _, verdict in ipairs(board.select("evb_x5"):judge("emmc", list)) do
    by_metric[verdict.metric] = verdict
  end
  return by_metric
end

function tests.test_the_passing_run_of_the_manual_passes()
  local verdicts = judged(measures(PASSING))
  local count = 0
  for metric, verdict in pairs(verdicts) do
    count = count + 1
    lu.assertTrue(verdict.ok, metric)
    lu.assertEquals(verdict.implausible, 0)
  end
  lu.assertEquals(count, 8)
  lu.assertEquals(verdicts["emmc.write.mb_s.128MiB"].count, 6)
  lu.assertAlmostEquals(verdicts["emmc.write.mb_s.128MiB"].value, 91.7, 0.1)
end

function tests.test_the_collapse_of_the_manual_fails()
  local verdicts = judged(measures(COLLAPSE))
  lu.assertTrue(verdicts["emmc.write.mb_s.16MiB"].ok)
  lu.assertFalse(verdicts["emmc.write.mb_s.32MiB"].ok)
  lu.assertAlmostEquals(verdicts["emmc.write.mb_s.32MiB"].value, 31.2, 0.2)
  lu.assertTrue(verdicts["emmc.read.mb_s.32MiB"].ok)
end

function tests.test_what_is_not_judged()
  lu.assertEquals(judged { measure("write", 16384, 4, 16528) }, {})
  lu.assertEquals(judged { measure("write", 16384, 1024, 16528, "random") }, {})
  local warm = measure("read", 16384, 1024, 5000000)
  warm.result.target.direct, warm.result.cache = false, { cold = false }
  lu.assertEquals(judged { warm }, {})
  warm.result.cache.cold = true
  local verdict = judged { warm } ["emmc.read.mb_s.16MiB"]
  lu.assertTrue(verdict.ok)
  lu.assertEquals(verdict.implausible, 1)
  local in_memory = measure("write", 16384, 1024, 10)
  in_memory.result.target.ram_backed = true
  lu.assertEquals(judged { in_memory }, {})
end

-- fwrite of the manual's passing run is a third as fast with large files.
function tests.test_the_c_library_is_not_judged()
  local slow = measure("write", 131072, 16384, 29000)
  slow.spec.engine = "stdio"
  lu.assertEquals(judged { slow }, {})
end

function tests.test_the_flush_counts()
  local slow = measure("write", 16384, 1024, 1000000)
  slow.result.flush = { count = 1, ns = 16384 * 1024 * 1000 // 59 }
  lu.assertFalse(judged { slow } ["emmc.write.mb_s.16MiB"].ok)
end

function tests.test_thresholds_and_samples_share_their_metric()
  local x5 = board.select("evb_x5")
  local one = measure("write", 65536, 1024, 100000)
  lu.assertEquals(x5:thresholds_for("emmc", { one.spec, one.spec }),
    { { metric = "emmc.write.mb_s.64MiB", rule = "p50 >= 60" } })
  local samples = x5:samples("emmc", one.spec, one.result)
  lu.assertEquals(#samples, 1)
  lu.assertEquals(samples[1].metric, "emmc.write.mb_s.64MiB")
  lu.assertAlmostEquals(samples[1].value, 102.4, 0.01)
  lu.assertEquals(#x5:limits_for("emmc", { operation = "read", record_bytes = "4k" }), 0)
  lu.assertEquals(#x5:limits_for("emmc", { operation = "read", record_bytes = "1M" }), 1)
  lu.assertEquals(x5:limits_for("nvme"), {})
end

function tests.test_a_run_is_watched()
  local folder <close> = fs.temp_dir()
  local x5 = board.select("evb_x5")
  local fast = measure("write", 65536, 1024, 300000)
  fast.spec.path = folder.path
  local watch = board_watch.new(x5, "emmc")
  local samples = watch:measure(fast.spec, fast.result)
  lu.assertEquals(#samples, 1)
  lu.assertEquals({ samples[1].metric, samples[1].rule, samples[1].unit },
    { "emmc.write.mb_s.64MiB", "p50 >= 60", "MB/s" })
  lu.assertStrContains(samples[1].implausible, "307.2 MB/s of emmc.write.mb_s.64MiB")
  lu.assertEquals(watch:measure(measure("write", 65536, 4, 10).spec, fast.result), {})
  lu.assertEquals(watch:measure({ operation = "write" }, fast.result), {})

  -- Recognised by the real device under the folder, where there is one.
  local found = device.of_path(folder.path)
  local recognised = board_watch.new(x5)
  lu.assertNil(recognised:role_of(folder.path))
  if found.single then
    x5.roles.emmc.type, x5.roles.emmc.host = nil, found.single.name
    lu.assertEquals(board_watch.new(x5):role_of(folder.path), "emmc")
  end
end

local function limit_text(fields)
  return ("return { name = 'x', roles = { emmc = { limits = { { %s } } } } }"):format(fields)
end

-- Every operation of membw.lua may have a limit, and nothing else.
function tests.test_limits_of_memory()
  local folder <close> = fs.temp_dir()
  local path = folder.path .. "/b.lua"
  local text = "return { name = 'x', roles = { ddr = { limits = {"
    .. " { metric = '%s', min = 1 } } } } }"
  for _, operation in ipairs(require("storlua.memory.bandwidth").OPERATIONS) do
    fs.write_atomic(path, text:format(operation .. ".mb_s"))
    lu.assertEquals(#board.load(path):limits_for("ddr"), 1)
  end
  fs.write_atomic(path, text:format("copi.mb_s"))
  lu.assertErrorMsgContains("did you mean 'copy.mb_s'?", board.load, path)
end

-- Two limits of one metric: fast sequential writes must not lift slow random
-- ones over their limit, nor these pull the others below theirs.
function tests.test_limits_of_one_metric_are_judged_apart()
  local folder <close> = fs.temp_dir()
  fs.write_atomic(folder.path .. "/b.lua", [[return { name = "x", roles = { emmc = { limits = {
    { metric = "write.mb_s", min = 60, applies_to = { order = "sequential" } },
    { metric = "write.mb_s", min = 5, applies_to = { order = "random", record_bytes_max = "4k" } },
    { metric = "write.mb_s", statistic = "min", min = 4,
      applies_to = { order = "random", record_bytes_max = "4k" } },
    { metric = "write.iops", min = 1 } } } } }]])
  local kit, list = board.load(folder.path .. "/b.lua"), {}
  for _ = 1, 2 do
    list[#list + 1] = measure("write", 16384, 1024, 100000)
    list[#list + 1] = measure("write", 16384, 4, 3000, "random")
  end
  local ok = {}
  for _, verdict in ipairs(kit:judge("emmc", list)) do
    ok[verdict.metric .. " " .. verdict.statistic] = verdict.ok
    lu.assertEquals(verdict.count, verdict.metric == "emmc.write.iops" and 4 or 2, verdict.metric)
  end
  lu.assertEquals(ok, { ["emmc.write.mb_s.sequential p50"] = true,
    ["emmc.write.mb_s.random_to_4KiB p50"] = false,
    ["emmc.write.mb_s.random_to_4KiB min"] = false, ["emmc.write.iops p50"] = true })
end

function tests.test_bad_boards_name_the_field()
  local folder <close> = fs.temp_dir()
  local path = folder.path .. "/b.lua"
  for text, pattern in pairs {
    ["return 1"] = "must be a table",
    ["return {}"] = "name is missing",
    ["return { name = 'x', roles = { emc = {} } }"] = "roles.emc is no role; did you mean 'emmc'?",
    ["return { name = 'x', role = {} }"] = "role is not a field; did you mean 'roles'?",
    ["return { name = 'x', roles = { emmc = { size = { min = '4kk' } } } }"] =
      "roles.emmc.size.min",
    ["return { name = 'x', roles = { emmc = { limits = { { metric = 'write.iops' } } } } }"] =
      "roles.emmc.limits[1] needs min or max",
    ["return { name = 'x', roles = { emmc = { limits = { { metric = 'write.iops', min = 2, "
      .. "max = 1 } } } } }"] = "roles.emmc.limits[1].min is above max",
    ["return { name = 'x', roles = { emmc = { limits = { { metric = 'write.iops', min = 2, "
      .. "statistic = 'median' } } } } }"] = "roles.emmc.limits[1].statistic",
    ["return { name = 'x', roles = { emmc = { size = { min = '3G', max = '1G' } } } }"] =
      "roles.emmc.size.min is above max",
    [limit_text "metric = 'write.mbs', min = 1"] =
      "roles.emmc.limits[1].metric 'write.mbs' is none of",
    [limit_text "metric = 'read.iops', min = 1, applies_to = { order = 'sequntial' }"] =
      "applies_to.order 'sequntial' is none of",
    [limit_text "metric = 'read.iops', min = 1, applies_to = { engine = 'psinc' }"] =
      "applies_to.engine 'psinc' is none of",
    [limit_text "metric = 'read.iops', min = 1, applies_to = { engine = { 'psync', 'uring' } }"] =
      "applies_to.engine 'uring' is none of",
    ["return { name = 'x', roles = { ddr = { limits = { { metric = 'copy.mb_s', min = 1, "
      .. "applies_to = { engine = 'psync' } } } } } }"] =
      "roles.ddr.limits[1].applies_to chooses among workloads",
    [limit_text "metric = 'read.iops', min = 1, applies_to = { operation = 'write' }"] =
      "applies_to.operation 'write' has no read.iops",
    [limit_text("metric = 'read.iops', min = 1, applies_to = { record_bytes_min = '2M', "
      .. "record_bytes_max = '1M' }")] = "applies_to.record_bytes_min is above record_bytes_max",
    ["return { name = 'x', roles = { emmc = { sensors = { { metric = 'c' } } } } }"] =
      "roles.emmc.sensors[1].read is missing",
    ["return {"] = "b.lua:1:",
    ["error('no')"] = "b.lua:1: no",
  } do
    fs.write_atomic(path, text)
    local ok, err = pcall(board.load, path)
    lu.assertFalse(ok, text)
    lu.assertEquals(err.code, "USAGE", tostring(err))
    lu.assertStrContains(err.message, pattern)
  end
end

function tests.test_look_up_and_recognition()
  local folder <close> = fs.temp_dir()
  fs.mkdir(folder.path .. "/boards")
  fs.write_atomic(folder.path .. "/boards/soc.lua",
    "return { name = 'soc', compatible = { 'maker,soc' } }")
  fs.write_atomic(folder.path .. "/boards/kit.lua",
    "return { name = 'kit', compatible = { 'maker,kit-2', 'maker,kit' } }")
  lu.assertEquals(board.select("kit", folder.path).name, "kit")
  lu.assertEquals(board.select(folder.path .. "/boards/soc.lua").name, "soc")
  local ok, err = pcall(board.select, "evbx5", folder.path)
  lu.assertFalse(ok)
  lu.assertStrContains(err.message, "did you mean 'evb_x5'?")

  local files = board.compatible_files
  local function machine(content)
    fs.write_atomic(folder.path .. "/compatible", content)
    board.compatible_files = { folder.path .. "/none", folder.path .. "/compatible" }
    local name = board.select("auto", folder.path).name
    board.compatible_files = files
    return name
  end
  lu.assertEquals(machine("maker,kit\0maker,soc\0"), "kit")
  lu.assertEquals(machine("maker,other\0maker,soc\0"), "soc")
  lu.assertEquals(machine("maker,other\0"), "generic")
  lu.assertEquals(machine(""), "generic")
end

function tests.test_roles()
  local function role(fields)
    local x5 = board.select("evb_x5")
    for key, value in pairs(fields.role or {}) do x5.roles.emmc[key] = value end
    return (x5:role_of { single = fields.disk, label = "x", chain = { { name = "mmcblk0" },
      { name = "mmc0" } } })
  end
  local emmc = { name = "mmcblk0", kind = "disk", size_bytes = 32 << 30,
    mmc = { type = "MMC", name = "A", manfid = "0x15" } }
  lu.assertEquals(role { disk = emmc }, "emmc")
  lu.assertEquals(role { disk = { name = "mmcblk1", mmc = { type = "SD" } } }, "sd")
  lu.assertNil(role { disk = { name = "sda" } })
  lu.assertNil(role {})
  lu.assertEquals(role { disk = emmc, role = { host = "mmc0", manufacturer = { "0x13", "0x15" } } },
    "emmc")
  lu.assertNil(role { disk = emmc, role = { host = "mmc1" } })
  lu.assertNil(role { disk = emmc, role = { name = "B" } })
  lu.assertNil(role { disk = emmc, role = { size = { max = 16 << 30 } } })
end

return tests
