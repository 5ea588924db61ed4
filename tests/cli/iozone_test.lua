-- SPDX-License-Identifier: MIT
--- The iozone procedure as a user runs it: real files, bad input, outputs.

local cli_run = require("cli_run")
local disk = require("disk")
local fs = require("storlua.fs")
local lu = require("luaunit")
local process = require("storlua.process")
local workbook = require("storlua.workbook")

local suite = {}

local function words_of(line)
  local words = {}
  for word in line:gmatch("%S+") do words[#words + 1] = word end
  return words
end

-- Runs iozone.lua in a folder with the results in its "run".
local function iozone(folder, line, more)
  local argv = { "--output", folder .. "/run", "iozone.lua", table.unpack(words_of(line)) }
  argv.cwd = folder
  for key, value in pairs(more or {}) do argv[key] = value end
  if fs.exists(folder .. "/run") then fs.remove_tree(folder .. "/run") end
  return cli_run.run(argv)
end

local function last(folder, kind) return cli_run.events_of(folder .. "/run", kind)[1] end

local function refused(folder, line, part)
  local result = iozone(folder, line)
  lu.assertEquals(result.code, 2, line .. "\n" .. result.stdout .. result.stderr)
  lu.assertStrContains(result.stdout .. result.stderr, part)
  return result
end

-- The numbers under each head, by where the columns end.
local function table_of(text)
  local heads, rows = nil, {}
  for line in text:gmatch("[^\n]+") do
    if line:find("^ +kB +reclen") then
      heads, rows = line, {}
    elseif heads and line:find("^ +%d+ +%d+") then
      local row, at = {}, 1
      for first, number, finish in line:gmatch("()(%d+)%*?()") do
        at = finish
        row[#row + 1] = { number = math.tointeger(tonumber(number)), from = first,
          to = first + #number - 1 }
      end
      lu.assertTrue(at > 1)
      rows[#rows + 1] = row
    end
  end
  return heads, rows
end

function suite.test_a_matrix_on_a_disk()
  local place <close> = disk.file_system("ext4")
  local folder <close> = fs.temp_dir()
  local result = iozone(folder.path, "-e -I -a -n 64k -g 256k -R -f " .. place.path .. "/FILE")
  lu.assertEquals(result.code, 0, result.stdout .. result.stderr)
  lu.assertFalse(fs.exists(place.path .. "/FILE"))
  lu.assertEquals(fs.list(place.path), { "lost+found" })
  local finish = last(folder.path, "x_iozone_end")
  lu.assertEquals({ finish.planned, finish.done, finish.skipped_cells }, { 234, 234, 0 })
  lu.assertEquals(#cli_run.events_of(folder.path .. "/run", "measure"), 234)
  local heads, rows = table_of(result.stdout)
  lu.assertEquals(#rows, 18)
  for _, row in ipairs(rows) do
    lu.assertEquals(#row, 15)
    -- each number ends under the end of a head
    for _, cell in ipairs(row) do
      lu.assertNotNil(heads:sub(cell.to, cell.to):find("%S"), heads)
      lu.assertNotNil(heads:sub(cell.to + 1, cell.to + 1):find("^%s?$"), heads)
    end
  end
  -- stdio under -I is the cache, the rest is not
  lu.assertStrContains(result.stdout, "* cached")
  for _, event in ipairs(cli_run.events_of(folder.path .. "/run", "measure")) do
    lu.assertEquals(event.result.target.direct, event.spec.engine ~= "stdio")
  end
  lu.assertStrContains(result.stdout, "\"Stride read report\"")
end

function suite.test_columns_stay_in_place()
  local folder <close> = fs.temp_dir()
  local result = iozone(folder.path, "-s 64k -i 0 -i 5 -i 7 -e")
  lu.assertEquals(result.code, 0, result.stderr)
  local heads, rows = table_of(result.stdout)
  local function ends(name) return select(2, heads:find(" " .. name .. "%f[%s\0]")) end
  local row = rows[1]
  lu.assertEquals(row[3].to, ends("write"))
  -- "stride read" is the read after the record rewrite
  lu.assertEquals(row[5].to, select(2, heads:find("rewrite +read", 80)))
  lu.assertEquals({ row[6].to, row[7].to }, { ends("fread"), ends("freread") })
end

function suite.test_tmpfs_and_xfs()
  for _, kind in ipairs { "tmpfs", "xfs" } do
    local place <close> = disk.file_system(kind)
    local folder <close> = fs.temp_dir()
    local result = iozone(folder.path, "-az -n 64k -g 128k -E -+d -+u -f " .. place.path .. "/F")
    lu.assertEquals(result.code, 0, result.stdout .. result.stderr)
    local finish = last(folder.path, "x_iozone_end")
    lu.assertEquals(finish.skipped_cells, 0)
    lu.assertEquals(finish.done, 11 * 21)
    lu.assertEquals(cli_run.verdict(folder.path .. "/run").bad_sectors, 0)
    lu.assertTrue(cli_run.verdict(folder.path .. "/run").verified_bytes > 1000000)
    lu.assertEquals(#cli_run.events_of(folder.path .. "/run", "x_iozone_cpu"), 11 * 21)
    lu.assertEquals(result.stdout:find("lay in memory", 1, true) ~= nil, kind == "tmpfs")
  end
end

function suite.test_the_engines()
  local folder <close> = fs.temp_dir()
  for line, engine in pairs { ["-B"] = "mmap", ["-G"] = "mmap", ["-D -B"] = "mmap",
    ["-H 4"] = "posixaio", ["-k 2"] = "posixaio" } do
    local result = iozone(folder.path, "-s 1m -r 16k -+d " .. line)
    lu.assertEquals(result.code, 0, line .. result.stdout .. result.stderr)
    for _, event in ipairs(cli_run.events_of(folder.path .. "/run", "measure")) do
      lu.assertEquals(event.spec.engine, engine)
    end
    local plan = last(folder.path, "x_iozone_plan")
    lu.assertEquals(plan.cells, 9)
    lu.assertEquals(plan.skipped[1].cells, 4)
    lu.assertStrContains(plan.skipped[1].reason, "for the tests 0 to 5")
  end
end

function suite.test_throughput()
  local folder <close> = fs.temp_dir()
  local result = iozone(folder.path, "-t 1 -t 2 -t 3 -r 64k -s 1m -C -R -+d --test "
    .. "write,read,random,mix,fwrite,fread,record,pwritev")
  lu.assertEquals(result.code, 0, result.stdout .. result.stderr)
  lu.assertEquals(fs.list(folder.path), { "run" })
  local finish = last(folder.path, "x_iozone_end")
  lu.assertEquals({ finish.planned, finish.done }, { 42, 42 })
  for _, event in ipairs(cli_run.events_of(folder.path .. "/run", "measure")) do
    local streams = event.labels.streams
    if streams and streams > 1 then
      lu.assertEquals(#event.result.streams, streams)
      for _, one in ipairs(event.result.streams) do
        lu.assertEquals((one.verify or { bad_sectors = 0 }).bad_sectors, 0)
      end
    end
  end
  for _, part in ipairs { "Children see throughput for  3 initial writers",
    "Parent sees throughput for  2 random readers", "Min throughput per stream",
    "Child[2] xfer count =", "\"Throughput report\"" } do
    lu.assertStrContains(result.stdout, part)
  end
  -- sums and means are those of the streams
  for line, rates in result.stdout:gmatch("Children see throughput for [^=]*= +([%d.]+)(.-)\n\n") do
    local sum, count = 0, 0
    for rate in rates:gmatch("Throughput = +([%d.]+)") do
      sum, count = sum + tonumber(rate), count + 1
    end
    lu.assertAlmostEquals(sum, tonumber(line), 0.01 * count + 0.01)
  end
  local later = cli_run.run { "report", folder.path .. "/run", "--to", "matrix" }
  lu.assertEquals(later.code, 0, later.stderr)
  lu.assertStrContains(later.stdout, "random writers")
end

function suite.test_units_and_flush()
  local folder <close> = fs.temp_dir()
  iozone(folder.path, "-s 1m -r 64k -i 0 -e -w")
  lu.assertEquals(fs.list(folder.path), { "iozone.tmp", "run" })
  local event = last(folder.path, "measure")
  local ns = event.result.write.io_ns + event.result.flush.ns
  local _, rows = table_of(cli_run.run { "report", folder.path .. "/run", "--to", "iozone" }.stdout)
  lu.assertEquals(rows[1][3].number, (1 << 20) * 1000000000 // ns // 1024)
  -- kept by -w: it is the user's now, and reading it is no harm
  local result = iozone(folder.path, "-s 1m -r 64k -i 1 -O")
  lu.assertEquals(result.code, 0, result.stdout)
  lu.assertStrContains(result.stdout, "operations per second")
  event = last(folder.path, "measure")
  _, rows = table_of(result.stdout)
  lu.assertEquals(rows[1][3].number, 16 * 1000000000 // event.result.read.io_ns)
  lu.assertEquals(fs.stat(folder.path .. "/iozone.tmp").size_bytes, 1 << 20)
  refused(folder.path, "-s 2m -i 1", "the largest file of the matrix is 2 MiB")
  result = iozone(folder.path, "-s 1m -r 64k -i 0 -N --overwrite")
  lu.assertEquals(result.code, 0, result.stdout)
  lu.assertFalse(fs.exists(folder.path .. "/iozone.tmp"))
end

function suite.test_files_that_are_not_ours()
  local folder <close> = fs.temp_dir()
  fs.write_atomic(folder.path .. "/mine", "precious")
  fs.mkdir(folder.path .. "/dir")
  refused(folder.path, "-i 0 -f mine", "--overwrite")
  lu.assertEquals(fs.read(folder.path .. "/mine"), "precious")
  refused(folder.path, "-i 0 -f dir", "is a directory")
  refused(folder.path, "-i 0 -f /dev/null", "neither a file")
  refused(folder.path, "-i 0 -f /dev/no-such-disk", "no such device")
  lu.assertFalse(fs.exists("/dev/no-such-disk"))
  refused(folder.path, "-i 0 -f none/x", "no such file or directory")
  refused(folder.path, "-s 1g -r 1m -i 1 -f mine", "the largest file")
  local device <close> = disk.loop()
  refused(folder.path, "-i 0 -f " .. device.path, "is a device")
end

function suite.test_places_that_do_not_do()
  local folder <close> = fs.temp_dir()
  local memory <close> = disk.file_system("tmpfs", { size = "1536k" })
  refused(folder.path, "-I -f " .. memory.path .. "/x", "lies on tmpfs, which is memory")
  refused(folder.path, "-a -g 4m -f " .. memory.path .. "/x", "has room for")
  lu.assertEquals(fs.list(memory.path), {})
  local ram <close> = disk.file_system("ramfs")
  refused(folder.path, "-I -f " .. ram.path .. "/x", "lies on ramfs, which is memory")
  local read_only <close> = disk.file_system("tmpfs", { options = "ro" })
  refused(folder.path, "-f " .. read_only.path .. "/x", "read-only")
end

function suite.test_sectors_larger_than_records()
  local folder <close> = fs.temp_dir()
  local place <close> = disk.file_system("ext4", { sector = "4096" })
  refused(folder.path, "-I -r 1k -r 4k -s 64k -f " .. place.path .. "/x",
    "multiples of 4096 bytes past the cache: records of 1024")
  refused(folder.path, "-I -r 4k -s 66k -f " .. place.path .. "/x", "a file of 67584")
  local result = iozone(folder.path, "-r 1k -s 64k -i 0 -f " .. place.path .. "/x")
  lu.assertEquals(result.code, 0, result.stdout)
end

function suite.test_outputs_are_tried_before_the_run()
  local folder <close> = fs.temp_dir()
  lu.skipIf(not workbook.available(), "no module for workbooks")
  refused(folder.path, "-s 64k -b none/out.xls", "cannot be written")
  refused(folder.path, "-s 64k --csv /proc/x.csv", "cannot be written")
  fs.mkdir(folder.path .. "/out.xlsx")
  refused(folder.path, "-s 64k -b out.xls", "is a directory")
  lu.assertEquals(#cli_run.events_of(folder.path .. "/run", "measure"), 0)
end

function suite.test_a_workbook()
  lu.skipIf(not workbook.available(), "no module for workbooks")
  local folder <close> = fs.temp_dir()
  local result = iozone(folder.path, "-Raz -b out.xls -i 0 -i 1 -i 2 -S 512 -n 64k -g 128k -+r")
  lu.assertEquals(result.code, 0, result.stdout .. result.stderr)
  lu.assertStrContains(result.stdout, "out.xls is written as out.xlsx")
  lu.assertEquals(fs.read(folder.path .. "/out.xlsx"):sub(1, 4), "PK\3\4")
  lu.assertFalse(fs.exists(folder.path .. "/out.xls"))
  -- the same later, from the events
  local later = cli_run.run { "report", folder.path .. "/run", "--to", "xlsx",
    "--output", folder.path .. "/later.xlsx" }
  lu.assertEquals(later.code, 0, later.stderr)
  lu.assertEquals(fs.read(folder.path .. "/later.xlsx"):sub(1, 4), "PK\3\4")
  for _, format in ipairs { "matrix", "csv", "iozone", "text", "junit" } do
    local one = cli_run.run { "report", folder.path .. "/run", "--to", format }
    lu.assertEquals(one.code, 0, format .. one.stderr)
  end
  local csv = cli_run.run { "report", folder.path .. "/run", "--to", "csv" }.stdout
  lu.assertStrContains(csv, "iozone.64k.4k.write")
  lu.assertStrContains(csv, "cached")
end

-- A program without the module beside it: a static one on a board.
function suite.test_no_module_for_workbooks()
  local folder <close> = fs.temp_dir()
  fs.mkdir(folder.path .. "/bin")
  process.run { "cp", cli_run.program, folder.path .. "/bin/storlua" }
  local function alone(...)
    return process.try_run { folder.path .. "/bin/storlua", cwd = folder.path, ... }
  end
  local result = alone("--output", "run", "iozone.lua", "-s", "64k", "-i", "0", "-b", "out.xls")
  lu.assertEquals(result.code, 0, result.stdout .. result.stderr)
  lu.assertStrContains(result.stdout, "storlua report run --to xlsx --output out.xlsx")
  result = alone("report", "run", "--to", "xlsx", "--output", "out.xlsx")
  lu.assertEquals(result.code, 2)
  lu.assertStrContains(result.stderr, "on a host that can")
  lu.assertFalse(fs.exists(folder.path .. "/out.xlsx"))
end

function suite.test_help_cases_and_bad_words()
  local result = cli_run.run { "iozone.lua", "-h" }
  lu.assertEquals(result.code, 0)
  lu.assertStrContains(result.stdout, "-+r, --rsync")
  result = cli_run.run { "iozone.lua", "--list-cases", "-s", "64k", "-i", "0" }
  lu.assertEquals(result.stdout, "iozone.64k.4k.write\niozone.64k.4k.rewrite\n")
  result = cli_run.run { "iozone.lua", "-s", "1MB" }
  lu.assertEquals(result.code, 2)
  lu.assertStrContains(result.stderr, "1 kB")
  result = cli_run.run { "iozone.lua", "-Q" }
  lu.assertEquals(result.code, 2)
  lu.assertStrContains(result.stderr, "-Q is not supported")
end

return suite
