/* SPDX-License-Identifier: MIT */
/* The memory of a slot, without a Lua string per operation. */
#include "bindings/ring.h"

#include <string.h>

#include "bindings/error.h"
#include "core/io/stamp.h"

/* The memory of the slot at index 2; raises while the kernel has it. */
static unsigned char *check_slot(lua_State *L, size_t *size) {
  struct sl_ring *ring = l_check_ring(L);
  lua_Integer slot = l_check_range(L, 2, 1, sl_ring_slots(ring));
  unsigned char *data = sl_ring_data(ring, (unsigned)slot - 1);
  if (!data) luaL_argerror(L, 2, "the slot has an operation under way");
  *size = sl_ring_record_bytes(ring);
  return data;
}

/* Bytes [first, first+count) of the slot, counted from 1. */
static unsigned char *check_range(lua_State *L, lua_Integer count) {
  size_t size;
  unsigned char *data = check_slot(L, &size);
  lua_Integer first = l_check_range(L, 3, 1, (lua_Integer)size);
  luaL_argcheck(L, count <= (lua_Integer)size - first + 1, 4,
                "past the end of the slot");
  return data + first - 1;
}

/* The numbers lie in the medium's order: little endian. */
static uint64_t little_endian(uint64_t value) {
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
  return __builtin_bswap64(value);
#else
  return value;
#endif
}

static unsigned char *check_word(lua_State *L) {
  size_t size;
  unsigned char *data = check_slot(L, &size);
  return data + 8 * (l_check_range(L, 3, 1, (lua_Integer)size / 8) - 1);
}

/* ring:get_u64(slot, index) -> integer; index counts words of 8 bytes from 1 */
static int l_get_u64(lua_State *L) {
  uint64_t value;
  memcpy(&value, check_word(L), sizeof value);
  lua_pushinteger(L, (lua_Integer)little_endian(value));
  return 1;
}

/* ring:put_u64(slot, index, value) */
static int l_put_u64(lua_State *L) {
  unsigned char *word = check_word(L);
  uint64_t value = little_endian((uint64_t)luaL_checkinteger(L, 4));
  memcpy(word, &value, sizeof value);
  return 0;
}

/* ring:get(slot, first, count) -> string */
static int l_get(lua_State *L) {
  lua_Integer count = l_check_range(L, 4, 0, INT32_MAX);
  lua_pushlstring(L, (const char *)check_range(L, count), (size_t)count);
  return 1;
}

/* ring:put(slot, first, string) */
static int l_put(lua_State *L) {
  size_t count;
  const char *text = luaL_checklstring(L, 4, &count);
  memcpy(check_range(L, (lua_Integer)count), text, count);
  return 0;
}

struct sectors {
  unsigned char *data;
  size_t count;
  struct sl_stamp first;
};

/* (ring, slot, offset, generation, bytes, run, target) */
static struct sectors check_sectors(lua_State *L) {
  size_t size;
  struct sectors s = {.data = check_slot(L, &size)};
  lua_Integer offset = l_check_range(L, 3, 0, INT64_MAX);
  luaL_argcheck(L, offset % SL_SECTOR_BYTES == 0, 3,
                "stamped data begins at a multiple of 512");
  lua_Integer generation = l_check_range(L, 4, 1, UINT32_MAX);
  lua_Integer bytes = l_check_range(L, 5, 1, (lua_Integer)size);
  luaL_argcheck(L, bytes % SL_SECTOR_BYTES == 0, 5,
                "stamped data is a multiple of 512 bytes");
  s.count = (size_t)bytes / SL_SECTOR_BYTES;
  s.first =
      (struct sl_stamp){.address = (uint64_t)offset / SL_SECTOR_BYTES,
                        .generation = (uint32_t)generation,
                        .run = (uint32_t)l_check_range(L, 6, 0, UINT32_MAX),
                        .target = (uint32_t)l_check_range(L, 7, 0, UINT32_MAX)};
  return s;
}

/* ring:fill(slot, offset, generation, bytes, run, target) */
static int l_fill(lua_State *L) {
  struct sectors s = check_sectors(L);
  sl_stamp_fill(s.data, s.count, &s.first);
  return 0;
}

/* ring:verify(the same) -> true
 *                        | false, {offset, damage, generation?, bits?} */
static int l_verify(lua_State *L) {
  struct sectors s = check_sectors(L);
  size_t bad = sl_stamp_compare(s.data, s.count, &s.first);
  lua_pushboolean(L, bad == s.count);
  if (bad == s.count) return 1;
  struct sl_stamp expected = s.first;
  struct sl_verdict verdict;
  expected.address += bad;
  sl_stamp_judge(s.data + bad * SL_SECTOR_BYTES, &expected, NULL, &verdict);
  lua_createtable(L, 0, 4);
  lua_pushinteger(L, (lua_Integer)(expected.address * SL_SECTOR_BYTES));
  lua_setfield(L, -2, "offset");
  lua_pushstring(L, sl_damage_name(verdict.damage));
  lua_setfield(L, -2, "damage");
  if (verdict.has_header) {
    lua_pushinteger(L, verdict.found.generation);
    lua_setfield(L, -2, "generation");
  }
  lua_pushinteger(L, verdict.bits);
  lua_setfield(L, -2, "bits");
  return 2;
}

const luaL_Reg l_ring_data_methods[] = {{"get_u64", l_get_u64},
                                        {"put_u64", l_put_u64},
                                        {"get", l_get},
                                        {"put", l_put},
                                        {"fill", l_fill},
                                        {"verify", l_verify},
                                        {NULL, NULL}};
