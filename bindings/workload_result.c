/* SPDX-License-Identifier: MIT */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <lauxlib.h>

#include "bindings/fields.h"
#include "bindings/histogram.h"
#include "bindings/workload.h"

static void set_integer(lua_State *L, const char *key, uint64_t value) {
  lua_pushinteger(L, (lua_Integer)value);
  lua_setfield(L, -2, key);
}

static void push_error(lua_State *L, const struct sl_error *e) {
  char text[SL_ERROR_TEXT_BYTES];
  lua_createtable(L, 0, 5);
  l_set_text(L, "code", sl_error_name(e->code));
  l_set_text(L, "op", e->op);
  l_set_text(L, "path", e->path);
  l_set_count(L, "offset", e->offset);
  l_set_text(L, "message", sl_error_text(e, text, sizeof text));
}

static void set_tally(lua_State *L, const char *key,
                      const struct sl_tally *tally) {
  lua_createtable(L, 0, 8);
  set_integer(L, "operations", tally->operations);
  set_integer(L, "calls", tally->calls);
  set_integer(L, "short_calls", tally->short_calls);
  set_integer(L, "bytes", tally->bytes);
  set_integer(L, "io_ns", (uint64_t)tally->io_ns);
  l_push_histogram_summary(L, &tally->latency);
  lua_setfield(L, -2, "latency");
  lua_setfield(L, -2, key);
}

static void set_flush(lua_State *L, const struct sl_workload_result *r) {
  if (!r->flushes) return;
  lua_createtable(L, 0, 4);
  set_integer(L, "count", r->flushes);
  set_integer(L, "ns", (uint64_t)r->flush_ns);
  l_push_histogram_summary(L, &r->flush_latency);
  lua_setfield(L, -2, "latency");
  lua_setfield(L, -2, "flush");
}

/* A list of what `offset` finds in each point of a direction. */
static void set_parts(lua_State *L, const char *key,
                      const struct sl_workload_result *r, int op,
                      size_t offset) {
  lua_createtable(L, (int)r->series_count, 0);
  for (unsigned i = 0; i < r->series_count; i++) {
    uint64_t value;
    const char *part = (const char *)&r->series_parts[i].of[op];
    memcpy(&value, part + offset, sizeof value);
    lua_pushinteger(L, (lua_Integer)value);
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
  lua_setfield(L, -2, key);
}

/* Of the directions in which anything moved. */
static void set_directions(lua_State *L, const struct sl_workload_result *r) {
  static const char *const names[] = {"read", "write", "trim"};
  const struct sl_tally *tallies[] = {&r->read, &r->write, &r->trim};
  lua_createtable(L, 0, 3);
  for (int op = 0; op < 3; op++) {
    if (!tallies[op]->operations) continue;
    lua_createtable(L, 0, 3);
    set_parts(L, "bytes", r, op, offsetof(struct sl_series_part, bytes));
    set_parts(L, "operations", r, op,
              offsetof(struct sl_series_part, operations));
    set_parts(L, "latency_ns", r, op,
              offsetof(struct sl_series_part, latency_ns));
    lua_setfield(L, -2, names[op]);
  }
  lua_setfield(L, -2, "directions");
}

static void set_series(lua_State *L, const struct sl_workload_result *r) {
  int count = (int)r->series_count;
  lua_createtable(L, 0, 4);
  l_set_count(L, "interval_ns", r->series_interval_ns);
  lua_createtable(L, count, 0); /* series bytes */
  lua_createtable(L, count, 0); /* series bytes operations */
  lua_createtable(L, count, 0); /* series bytes operations max */
  for (int i = 0; i < count; i++) {
    lua_pushinteger(L, (lua_Integer)r->series[i].bytes);
    lua_rawseti(L, -4, i + 1);
    lua_pushinteger(L, (lua_Integer)r->series[i].operations);
    lua_rawseti(L, -3, i + 1);
    lua_pushinteger(L, (lua_Integer)r->series[i].max_ns);
    lua_rawseti(L, -2, i + 1);
  }
  lua_setfield(L, -4, "max_ns");
  lua_setfield(L, -3, "operations");
  lua_setfield(L, -2, "bytes");
  if (r->series_parts) set_directions(L, r);
  lua_setfield(L, -2, "series");
}

/* How steady it was, as last looked at. */
static void set_steady(lua_State *L, const struct sl_workload_result *r) {
  const struct sl_steady *s = &r->steady;
  lua_createtable(L, 0, 6);
  l_set_flag(L, "reached", s->is_reached);
  if (s->is_known) {
    l_set_count(L, "at_ns", s->at_ns);
    l_set_count(L, "window_ns", s->window_ns);
    lua_pushnumber(
        L, s->mean_bytes / 1048576 / ((double)r->series_interval_ns / 1e9));
    lua_setfield(L, -2, "mib_s");
    lua_pushnumber(L, s->spread_percent);
    lua_setfield(L, -2, "spread_percent");
    lua_pushnumber(L, s->slope_percent);
    lua_setfield(L, -2, "slope_percent");
  }
  lua_setfield(L, -2, "steady");
}

static void set_errors(lua_State *L, const struct sl_workload_result *r) {
  static const char *const ops[] = {"read", "write", "trim"};
  lua_createtable(L, (int)r->error_count, 0);
  for (unsigned i = 0; i < r->error_count; i++) {
    const struct sl_io_error *error = &r->errors[i];
    lua_createtable(L, 0, 4);
    l_set_text(L, "op", error->is_flush ? "flush" : ops[error->op]);
    l_set_text(L, "code", sl_error_name(error->code));
    if (!error->is_flush) set_integer(L, "offset", error->offset);
    set_integer(L, "count", error->count);
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
  lua_setfield(L, -2, "errors");
  set_integer(L, "errors_total", r->errors_total);
}

static void set_stamp(lua_State *L, const char *key,
                      const struct sl_stamp *stamp) {
  lua_createtable(L, 0, 5);
  set_integer(L, "address", stamp->address);
  set_integer(L, "run_id", stamp->run);
  set_integer(L, "generation", stamp->generation);
  set_integer(L, "target_id", stamp->target);
  set_integer(L, "writer", stamp->writer);
  lua_setfield(L, -2, key);
}

static void set_hex(lua_State *L, const char *key, const unsigned char *data) {
  enum { SHOWN = 64 };
  char text[SHOWN * 2 + 1];
  for (int i = 0; i < SHOWN; i++)
    snprintf(text + 2 * i, 3, "%02x", data[i]);
  l_set_text(L, key, text);
}

static void push_bad(lua_State *L, const struct sl_bad_sector *bad) {
  lua_createtable(L, 0, 8);
  set_integer(L, "offset", bad->offset);
  l_set_text(L, "kind", sl_damage_name(bad->verdict.damage));
  set_integer(L, "bits", bad->verdict.bits);
  set_integer(L, "first_bad_byte", bad->verdict.first_bad);
  set_stamp(L, "expected", &bad->expected);
  if (bad->verdict.has_header) set_stamp(L, "found", &bad->verdict.found);
  set_hex(L, "found_hex", bad->found);
  set_hex(L, "expected_hex", bad->wanted);
}

static void set_verify(lua_State *L, const struct sl_workload_result *r) {
  lua_createtable(L, 0, 6);
  set_integer(L, "sectors", r->verified_sectors);
  set_integer(L, "bad_sectors", r->bad_sectors);
  set_integer(L, "zero_sectors", r->zero_sectors);
  set_integer(L, "old_sectors", r->old_sectors);
  lua_newtable(L);
  for (int kind = 0; kind < SL_DAMAGE_KINDS; kind++) {
    if (r->damage[kind])
      set_integer(L, sl_damage_name((enum sl_damage)kind), r->damage[kind]);
  }
  lua_setfield(L, -2, "damage");
  lua_createtable(L, (int)r->bad_count, 0);
  for (unsigned i = 0; i < r->bad_count; i++) {
    push_bad(L, &r->bad[i]);
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
  lua_setfield(L, -2, "bad");
  lua_setfield(L, -2, "verify");
}

static void set_target(lua_State *L, const struct l_workload *work) {
  const struct sl_workload_result *r = &work->result;
  lua_createtable(L, 0, 9);
  l_set_text(L, "path", work->path);
  l_set_flag(L, "is_block", r->is_block);
  l_set_flag(L, "direct", r->is_direct);
  l_set_flag(L, "ram_backed", r->is_ram);
  set_integer(L, "memory_align", r->memory_align);
  set_integer(L, "offset_align", r->offset_align);
  set_integer(L, "filesystem_magic", r->filesystem_magic);
  set_integer(L, "size_bytes", r->file_bytes_after);
  l_set_flag(L, "huge_pages", r->huge_pages);
  if (work->spec.operation >= SL_TRIM) {
    const struct sl_trim_facts *facts = &r->trim_facts;
    l_set_flag(L, "trim_reads_zero", facts->is_zero_promised);
    if (facts->granularity_bytes)
      set_integer(L, "trim_granularity_bytes", facts->granularity_bytes);
  }
  lua_setfield(L, -2, "target");
  lua_createtable(L, 0, 4);
  l_set_count(L, "resident_before_bytes", r->resident_before);
  l_set_count(L, "unbacked_before_bytes", r->unbacked_before);
  l_set_text(L, "source", r->residency_source);
  lua_setfield(L, -2, "cache");
}

static void set_usage(lua_State *L, const struct sl_usage *usage) {
  lua_createtable(L, 0, 6);
  l_set_count(L, "user_ns", usage->user_ns);
  l_set_count(L, "system_ns", usage->system_ns);
  l_set_count(L, "voluntary_switches", usage->voluntary_switches);
  l_set_count(L, "involuntary_switches", usage->involuntary_switches);
  l_set_count(L, "minor_faults", usage->minor_faults);
  l_set_count(L, "major_faults", usage->major_faults);
  lua_setfield(L, -2, "cpu");
}

static void set_engine_notes(lua_State *L, const struct sl_workload_result *r) {
  lua_createtable(L, (int)r->engine_note_count, 0);
  for (unsigned i = 0; i < r->engine_note_count; i++) {
    lua_pushstring(L, r->engine_notes[i]);
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
  lua_setfield(L, -2, "notes");
}

void l_workload_push_result(lua_State *L, const struct l_workload *work) {
  const struct sl_workload_spec *spec = &work->spec;
  const struct sl_workload_result *r = &work->result;
  luaL_checkstack(L, 12, NULL);
  lua_createtable(L, 0, 32);
  l_set_text(L, "end", sl_end_name(r->end));
  l_set_text(L, "engine", r->engine->name);
  l_set_count(L, "queue_depth", r->queue_depth);
  if (r->error.code) {
    push_error(L, &r->error);
    lua_setfield(L, -2, "error");
  }
  enum sl_operation what = spec->operation;
  if (what == SL_READ || what == SL_MIXED) set_tally(L, "read", &r->read);
  if (what != SL_READ && what != SL_TRIM) set_tally(L, "write", &r->write);
  if (what >= SL_TRIM) set_tally(L, "trim", &r->trim);
  set_flush(L, r);
  l_set_count(L, "total_ns", r->total_ns);
  l_set_count(L, "fill_ns", r->fill_ns);
  l_set_count(L, "verify_ns", r->verify_ns);
  l_set_count(L, "pace_ns", r->pace_ns);
  l_set_count(L, "open_ns", r->open_ns);
  l_set_count(L, "close_ns", r->close_ns);
  if (r->clock) l_set_text(L, "clock", r->clock);
  l_set_count(L, "clock_off_ns", r->clock_off_ns);
  set_usage(L, &r->usage);
  l_set_count(L, "boot_start_ns", r->boot_start_ns);
  set_integer(L, "visits", r->next_visit);
  set_integer(L, "passes", r->passes);
  if (r->generation_last) set_integer(L, "generation_last", r->generation_last);
  set_series(L, r);
  if (spec->steady.window_ns) set_steady(L, r);
  set_errors(L, r);
  set_engine_notes(L, r);
  if (spec->verify) set_verify(L, r);
  if (spec->engine->needs_target) set_target(L, work);
}
