/* SPDX-License-Identifier: MIT */
/* What lies in the buffers, and what must lie there afterwards.  Plain C on
 * purpose: it is what the kernels are compared with. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory/bandwidth_private.h"

/* Equal starts of the buffers within a page would let a load wait for the
 * store before it on some CPUs. */
enum { APART = 5 * 4096 + 1024, CHECK_STEP = 1 << 20 };

/* The stop flag is read after each of these: 80 ms at 200 MB/s. */
enum { CHUNK = 16 << 20 };

static size_t buffer_count(enum sl_memory_op op) {
  const struct sl_memory_op_facts *facts = sl_memory_op_facts(op);
  return op == SL_MEMORY_LM_RDWR ? 1 : facts->reads + facts->writes;
}

int64_t sl_buffers_arena_bytes(int64_t bytes, enum sl_memory_op op) {
  const int64_t count = (int64_t)buffer_count(op);
  return count * bytes + (count - 1) * APART;
}

static uint64_t mix(uint64_t x) {
  x = (x ^ (x >> 31)) * 0x7fb5d329728ea185u;
  x = (x ^ (x >> 27)) * 0x81dadef4bc2dd44du;
  return x ^ (x >> 33);
}

/* A whole number as a double: sums of two, and three times one, are exact,
 * whether the CPU fuses or not. */
static uint64_t word_of(uint64_t seed, uint64_t index) {
  const double number = (double)(1 + (mix(seed + index) & 0xffffff));
  uint64_t bits;
  memcpy(&bits, &number, sizeof bits);
  return bits;
}

static bool stopped(const atomic_bool *stop) {
  return atomic_load_explicit(stop, memory_order_relaxed);
}

static int fill_words(unsigned char *to, size_t bytes, uint64_t seed,
                      const atomic_bool *stop) {
  for (size_t i = 0; i < bytes; i += 8) {
    if (i % CHECK_STEP == 0 && stopped(stop)) return -ECANCELED;
    const uint64_t word = word_of(seed, i / 8);
    memcpy(to + i, &word, sizeof word);
  }
  return 0;
}

static uint64_t load(const unsigned char *at) {
  uint64_t word;
  memcpy(&word, at, sizeof word);
  return word;
}

static uint32_t load32(const unsigned char *at) {
  uint32_t word;
  memcpy(&word, at, sizeof word);
  return word;
}

static size_t chunk_bytes(const struct sl_buffers *b, size_t chunk) {
  const size_t left = b->bytes - chunk * b->chunk;
  return left < b->chunk ? left : b->chunk;
}

static uint64_t read_sum(const struct sl_buffers *b, enum sl_memory_op op,
                         size_t chunk) {
  const unsigned char *at = b->a + chunk * b->chunk;
  const size_t bytes = chunk_bytes(b, chunk);
  const size_t stride = op == SL_MEMORY_LM_RD ? 16 : 4;
  uint64_t words = 0;
  uint32_t ints = 0;
  for (size_t i = 0; i < bytes && op == SL_MEMORY_READ; i += 8)
    words += load(at + i);
  for (size_t i = 0; i < bytes && op != SL_MEMORY_READ; i += stride)
    ints += load32(at + i);
  return op == SL_MEMORY_READ ? words : ints;
}

static int cut_up(struct sl_buffers *b, enum sl_memory_op op,
                  const atomic_bool *stop) {
  b->chunk = b->bytes < CHUNK ? b->bytes : CHUNK;
  b->chunks = (b->bytes + b->chunk - 1) / b->chunk;
  b->sums = calloc(b->chunks, sizeof *b->sums);
  if (!b->sums) return -ENOMEM;
  for (size_t i = 0; i < b->chunks && sl_memory_op_facts(op)->writes == 0;
       i++) {
    if (stopped(stop)) return -ECANCELED;
    b->sums[i] = read_sum(b, op, i);
  }
  return 0;
}

void sl_buffers_release(struct sl_buffers *b) {
  free(b->sums);
  b->sums = NULL;
  sl_arena_unmap(&b->arena);
}

int sl_buffers_fill(struct sl_buffers *b, enum sl_memory_op op, unsigned thread,
                    const atomic_bool *stop) {
  const uint64_t seed = (uint64_t)(thread + 1) << 48;
  const size_t count = buffer_count(op);
  unsigned char *starts[3] = {b->arena.data, b->arena.data, b->arena.data};
  int code = 0;
  for (size_t i = 0; i < count && code == 0; i++) {
    starts[i] = b->arena.data + i * (b->bytes + APART);
    code = fill_words(starts[i], b->bytes, seed * (i + 1), stop);
  }
  b->dst = starts[0];
  b->a = starts[count > 1 ? 1 : 0];
  b->b = starts[count > 2 ? 2 : 0];
  b->wrong_at = -1;
  if (code == 0) code = cut_up(b, op, stop);
  return code == 0 ? 0 : sl_error_set(&b->error, code, "fill", NULL, -1);
}

void sl_buffers_poison(struct sl_buffers *b, size_t chunk, size_t step) {
  unsigned char *start = b->dst + chunk * b->chunk;
  const size_t bytes = chunk_bytes(b, chunk);
  for (size_t i = 0; i < bytes; i += step) {
    /* At 16 bytes there is what the ops of lmbench write. */
    unsigned char *at = start + i + (step > 16 ? mix(i) % (step / 16) * 16 : 0);
    const uint64_t other = ~load(at);
    memcpy(at, &other, sizeof other);
  }
}

static double number(const unsigned char *at) {
  double value;
  memcpy(&value, at, sizeof value);
  return value;
}

static uint64_t bits(double value) {
  uint64_t word;
  memcpy(&word, &value, sizeof word);
  return word;
}

/* The word that `op` leaves at offset `i`, and which of its bits count. */
static uint64_t expected_at(const struct sl_buffers *b, enum sl_memory_op op,
                            uint64_t value, size_t i, uint64_t *counts) {
  const uint64_t ints = (value & 0xffffffff) * 0x100000001u;
  const uint32_t one = 1;
  unsigned char first;
  memcpy(&first, &one, 1);
  const uint64_t low_int = first ? 0xffffffffu : 0xffffffff00000000u;
  *counts = UINT64_MAX;
  switch (op) {
    case SL_MEMORY_WRITE:
    case SL_MEMORY_WRITE_NT:
      return value;
    case SL_MEMORY_FILL:
      return (value & 0xff) * 0x0101010101010101u;
    case SL_MEMORY_ZERO:
      return 0;
    case SL_MEMORY_COPY:
    case SL_MEMORY_COPY_NT:
    case SL_MEMORY_MEMCPY:
    case SL_MEMORY_LM_FCP:
      return load(b->a + i);
    case SL_MEMORY_SCALE:
      return bits(3.0 * number(b->a + i));
    case SL_MEMORY_ADD:
      return bits(number(b->a + i) + number(b->b + i));
    case SL_MEMORY_TRIAD:
      return bits(number(b->a + i) + 3.0 * number(b->b + i));
    case SL_MEMORY_LM_FWR:
      return ints;
    case SL_MEMORY_LM_WR:
    case SL_MEMORY_LM_RDWR:
      *counts = i % 16 == 0 ? low_int : 0;
      return ints;
    case SL_MEMORY_LM_CP:
      *counts = i % 16 == 0 ? low_int : 0;
      return load(b->a + i);
    case SL_MEMORY_READ:
    case SL_MEMORY_LM_RD:
    case SL_MEMORY_LM_FRD:
    case SL_MEMORY_OPS:
      break;
  }
  *counts = 0;
  return 0;
}

void sl_buffers_verify(struct sl_buffers *b, enum sl_memory_op op,
                       uint64_t value, size_t chunk) {
  const size_t from = chunk * b->chunk, to = from + chunk_bytes(b, chunk);
  for (size_t i = from; i < to; i += 8) {
    uint64_t counts;
    const uint64_t expected = expected_at(b, op, value, i, &counts);
    const uint64_t found = load(b->dst + i);
    if (((expected ^ found) & counts) == 0) continue;
    b->wrong_at = (int64_t)i;
    b->expected = expected;
    b->found = found;
    return;
  }
}

uint64_t sl_buffers_checksum(const struct sl_buffers *b,
                             const atomic_bool *stop) {
  uint64_t sum = 0;
  for (size_t i = 0; i < b->bytes; i += 8) {
    if (i % CHECK_STEP == 0 && stopped(stop)) return 0;
    sum += load(b->dst + i);
  }
  return sum;
}
