-- SPDX-License-Identifier: MIT
--- The order of the keys in a line of the event log. One list serves every
--- kind and every table inside: keys that are not in it come after, sorted.

local text = [[
v seq boot_id t_boot_ns wall kind case_id
script summary version argv options settings thresholds cases board conditions seed run_id
resumed continued carried torn_bytes lost_events limit_bytes
ok status exit_code required message
labels spec result verdict reason reasons
metric statistic operator limit value unit delta total text
checks checks_failed measures measures_failed
key
priority k_seq k_time_ns class device lost
round rounds phase elapsed_ns deadline_ns soaked_ns
target target_id generation generation_min generation_max writer zero_ok
range_offset range_bytes
change before after fails first_round last_round
job task what where seconds kernel_stack abandoned
traceback code op
end error
engine engine_forced operation read_percent path size_bytes record_bytes size_mix percent order
stride_records distribution zipf_theta normal_percent zones visit_percent range_percent
limit_records limit_bytes limit_seconds ramp_seconds direct open_sync
read write trim
operations calls short_calls bytes io_ns mib_s iops latency
flush flush_every stamp verify legal bad_kept rate_bytes_s rate_operations_s
limit_latency_seconds continue_on_error cold steady window_seconds
interval_seconds queue_depth vectors map_sync streams paths stonewall virtual_op_ns
count min min_ns mean mean_ns p50 max max_ns last ns mib_s_with_flush
p50_ns p90_ns p95_ns p99_ns p999_ns p9999_ns histogram
total_ns fill_ns verify_ns pace_ns
clock clock_off_ns
cpu user_ns system_ns voluntary_switches involuntary_switches minor_faults major_faults
visits passes generation_last
series interval_ns directions latency_ns reached at_ns window_ns spread_percent slope_percent
sustained_mib_s
window start_skew_ns streams_mib_s start_ns end_ns
errors errors_total offset length
sectors bad_sectors zero_sectors old_sectors damage bad
bits first_bad_byte expected found
filesystem is_block ram_backed memory_align offset_align
trim_reads_zero trim_granularity_bytes
cache resident_before_bytes source from_medium medium_reason counters
read_bytes write_bytes read_operations write_operations flushes
bytes_written bytes_read verified_bytes kernel_errors
notes failures failures_total failed_cases passed metrics metrics_left_out
]]

local keys = { rank = {}, by_rank = {} }
local count = 0
for key in text:gmatch("%S+") do
  count = count + 1
  if not keys.rank[key] then keys.rank[key], keys.by_rank[count] = count, key end
end

--- Lists by name: an empty table under such a key is [] and not {}.
keys.lists = {}
for key in ([[
argv thresholds cases reasons errors bad legal histogram bytes operations max_ns notes failures
paths streams zones size_mix
]]):gmatch("%S+") do
  keys.lists[key] = true
end

return keys
