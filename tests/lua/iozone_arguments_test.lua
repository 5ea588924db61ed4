-- SPDX-License-Identifier: MIT
--- Command lines of iozone as people have them: taken as they stand, done right
--- where iozone misreads them, or refused with the reason.

local lu = require("luaunit")
local arguments = require("storlua.iozone.arguments")
local iozone = require("storlua.iozone")

local suite = {}

local K, M = 1024, 1 << 20

local function parse(line)
  local argv = {}
  for word in line:gmatch("%S+") do argv[#argv + 1] = word end
  return arguments.parse(argv)
end

local function refused(line, part)
  local ok, err = pcall(parse, line)
  lu.assertFalse(ok, line)
  lu.assertEquals(type(err) == "table" and err.code, "USAGE", tostring(err))
  lu.assertStrContains(err.message, part)
end

function suite.test_the_lines_of_the_documents()
  local o = parse "-e -I -az -n 16m -g 2g -q 16m -f /d/iozone_data -Rb /d/out_1.xls"
  lu.assertTrue(o.include_flush and o.direct and o.auto and o.no_crossover and o.matrices)
  lu.assertEquals({ o.min_size, o.max_size, o.max_record }, { 16 * M, 2 << 30, 16 * M })
  lu.assertEquals({ o.path, o.workbook }, { "/d/iozone_data", "/d/out_1.xls" })
  lu.assertEquals(#iozone.matrix(o).rows, 104)

  o = parse("-e -I -a -r 4K -r 16K -r 64K -r 256K -r 1M -r 4M -r 16M -s 16K -s 1M -s 16M -s 128M "
    .. "-s 256M -f /d/iozone_data -Rb /d/x.xls")
  lu.assertEquals(#o.records, 7)
  lu.assertEquals(o.sizes, { 16 * K, M, 16 * M, 128 * M, 256 * M })

  o = parse "-Raz -b out.xls -i 0 -i 1 -i 2 -S 512 -g 8M -+r"
  lu.assertEquals(o.tests, { 0, 1, 2 })
  lu.assertEquals({ o.cache_kib, o.max_size, o.open_sync, o.sync_reads },
    { 512, 8 * M, "full", true })
  lu.assertEquals(#iozone.matrix(o).rows, 68)

  o = parse "-e -I -a -n 64k -g 256k -Rb out.xls -f FILE"
  lu.assertEquals(#iozone.matrix(o).rows, 18)
  o = parse "-e -I -a -s 300M -r 128k -i 0 -i 1"
  lu.assertEquals(#iozone.matrix(o).rows, 1)
  o = parse "-s64 -r4"
  lu.assertEquals({ o.sizes, o.records }, { { 64 * K }, { 4 * K } })
  lu.assertEquals(#parse("-a -I").tests, 8)
  lu.assertEquals(parse("-i 2 -w").keep, true)
end

function suite.test_defaults()
  local o = parse ""
  local m = iozone.matrix(o)
  lu.assertEquals({ m.rows[1].size_bytes, m.rows[1].record_bytes, #m.rows },
    { 512 * K, 4 * K, 1 })
  lu.assertEquals(o.unit, "kb_s")
end

function suite.test_what_iozone_misreads()
  refused("-s 1MB", "would have taken it for 1 kB")
  refused("-r 4KB", "taken it for 4 kB")
  refused("-s 64KiB", "taken it for 64 kB")
  refused("-s 1.5m", "taken it for 1024 kB")
  refused("-s abc", "its default")
  refused("-r 0", "its default")
  refused("-s -1", "not the flag")
  refused("-s", "needs a value")
  refused("-i 13", "no test '13'")
  refused("-i wirte", "did you mean 'write'")
  refused("-R -V -l 1", "needs a pattern")
  refused("-g 8m", "is for auto mode")
  refused("-q 8m", "is for auto mode")
  refused("-a -s 1m -g 8m", "one names a range")
  refused("-a -n 8m -g 4m", "no size lies between")
  refused("-r 8k -s 4k", "larger than the file")
  refused("-O -N", "exclude each other")
  refused("/mnt/nbd", "-f")
  lu.assertEquals(parse("-i 12").tests, { 12 })
  lu.assertEquals(parse("-i 9").tests, { 9 })
  lu.assertEquals(#iozone.matrix(parse "-r 4k -r 64k -r 16k -s 1m -i 0").rows, 3)
  local m = iozone.matrix(parse "-a -r 1m -i 0")
  lu.assertEquals(m.rows[1].size_bytes, M)
end

function suite.test_engines()
  local o = parse "-B -i 0"
  lu.assertEquals(o.engine, "mmap")
  o = parse "-G"
  lu.assertEquals({ o.engine, o.map_sync }, { "mmap", "record" })
  lu.assertEquals(#o.said, 1)
  lu.assertEquals(parse("-D").map_sync, "async")
  lu.assertEquals(parse("-G -B").map_sync, "record")
  o = parse "-H 4"
  lu.assertEquals({ o.engine, o.queue_depth }, { "posixaio", 4 })
  lu.assertEquals(parse("-k 8").queue_depth, 8)
  refused("-H 4 -k 4", "same test")
  refused("-B -H 4", "cannot be joined")
  refused("-B -I", "page cache")
  refused("-H", "needs a value")
  refused("-H 0", "no count")
end

function suite.test_unsupported_flags_are_named()
  refused("-Q", "-Q is not supported")
  refused("-+m file", "-+m is not supported: there is no cluster mode")
  refused("-aJ 4", "-J is not supported")
  refused("-+z", "histogram")
  refused("-?", "no such flag")
  refused("-ah", "-h stands alone")
  refused("--frobnicate", "unknown option --frobnicate")
  refused("--recrod 4k", "did you mean '--record'")
  refused("--direct=yes", "takes no value")
  refused("-b -R", "looks like a flag")
end

function suite.test_long_options()
  local o = parse("--size 64M --record 4k --record 1M --test write,read --direct --file /x "
    .. "--overwrite")
  lu.assertEquals(o.sizes, { 64 * M })
  lu.assertEquals(o.records, { 4 * K, M })
  lu.assertEquals(o.tests, { 0, 1 })
  lu.assertTrue(o.direct and o.overwrite)
  lu.assertEquals(o.path, "/x")
  lu.assertEquals(parse("--size=4096").sizes, { 4096 })
  refused("--size 1MX", "--size: '1MX'")
end

function suite.test_combined_letters()
  local o = parse "-ecIoOwi0 -i1"
  lu.assertTrue(o.include_flush and o.include_close and o.direct and o.keep)
  lu.assertEquals({ o.open_sync, o.unit }, { "full", "ops_s" })
  lu.assertEquals(o.tests, { 0, 1 })
  o = parse "-+d+u"
  lu.assertTrue(o.stamp)
  lu.assertTrue(o.cpu)
  lu.assertEquals(parse("-A").tests, { 0, 1 })
  lu.assertEquals(#parse("-E").tests, 12)
end

function suite.test_throughput()
  local o = parse "-e -t 1 -t 2 -r 64k -s 1m -i 0 -i 1 -i 2 -i 8 -C -R -b X -F a b"
  lu.assertEquals({ o.streams, o.files }, { { 1, 2 }, { "a", "b" } })
  local m = iozone.matrix(o)
  lu.assertEquals({ #m.rows, m.cells }, { 2, 14 })
  local cell = m.rows[2].cells[1]
  lu.assertEquals(cell.case_id, "iozone.t2.1024k.64k.write")
  lu.assertEquals({ cell.spec.streams, cell.spec.paths, cell.spec.stonewall },
    { 2, { "a", "b" }, true })
  lu.assertEquals(m.rows[1].cells[1].spec.path, "a")
  lu.assertEquals(m:paths(), { "a", "b" })
  o = parse "-t1 -i0 -i2 -r1k -s1g"
  lu.assertEquals({ o.streams, o.files, o.tests }, { { 1 }, { "iozone.DUMMY.0" }, { 0, 2 } })
  lu.assertEquals(parse("-l 1 -u 3").streams, { 1, 2, 3 })
  lu.assertEquals(parse("-u 4").streams, { 1, 2, 3, 4 })
  lu.assertEquals(#parse("-t 2").tests, 10)
  lu.assertEquals(iozone.matrix(parse "-t 2 -x -T").rows[1].cells[1].spec.stonewall, false)
  refused("-t 2 -a", "-a and -t")
  refused("-t 2 -f x", "-F names")
  refused("-t 2 -s 1m -s 2m", "one file size")
  refused("-t 2 -N", "-N and -t")
  refused("-t 2 -U /mnt", "-U and -t")
  refused("-t 0", "no count")
  refused("-t 3 -F a b", "2 names for 3 streams")
  refused("-t 2 -F a a", "named twice")
  refused("-t 2 -F a ./a", "./a is named twice")
  refused("-t 2 -F b/a .//b/./a", "named twice")
  refused("-t 2 -F /tmp/a //tmp/a", "named twice")
  refused("-C", "for throughput mode")
  refused("-l 3 -u 2", "larger")
  refused("-F -t 2", "needs the names")
end

function suite.test_flags_in_words()
  local text = table.concat(parse("-e -z -a -+r").flag_words, "\n")
  lu.assertStrContains(text, "-e: the flush at the end of a write counts")
  lu.assertStrContains(text, "it fills nothing")
  lu.assertStrContains(text, "reads still come from the page cache")
  lu.assertEquals(parse("-b 'x").command, "-b ''\\''x'")
end

function suite.test_help_fits()
  for line in arguments.help():gmatch("[^\n]+") do lu.assertTrue(#line <= 80, line) end
end

return suite
