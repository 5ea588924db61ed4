/* SPDX-License-Identifier: MIT */
/* The loops of one instruction set.  A unit defines the macros below and
 * includes this once; it is no header of its own.
 *
 *   VWORD, VDOUBLE  vector types of 64-bit words and of doubles
 *   LIST, ISA       name of the list, text of the instruction set
 *   NT_STORE(p, v, w) optional: a store of two vectors past the cache
 *   NT_END()        with it: makes those stores visible
 *
 * The streams of a kernel are equal parts of the buffer that advance
 * together: at DRAM four of them beat a wider vector. */

#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)

/* Also for types that alias: buffers are read as words and as doubles. */
typedef VWORD word_at __attribute__((may_alias));
typedef VDOUBLE double_at __attribute__((may_alias));

enum { V = sizeof(VWORD), STEP = 4 * V, AHEAD = 1024 };

#define ALWAYS static inline __attribute__((always_inline))

ALWAYS void prefetch(const unsigned char *at, int ahead) {
  if (!ahead) return;
  for (size_t line = 0; line < STEP; line += 64)
    __builtin_prefetch(at + AHEAD + line);
}

ALWAYS uint64_t sum_of(VWORD vector) {
  uint64_t words[V / 8], sum = 0;
  __builtin_memcpy(words, &vector, sizeof words);
  for (size_t i = 0; i < V / 8; i++)
    sum += words[i];
  return sum;
}

ALWAYS uint64_t read_streams(const struct sl_kernel_work *w, size_t streams,
                             int ahead) {
  const size_t part = w->bytes / streams;
  VWORD sums[8] = {0};
  for (size_t repeat = w->repeats; repeat; repeat--) {
    const unsigned char *at = w->a;
    for (const unsigned char *end = at + part; at < end; at += STEP) {
      prefetch(at, ahead);
      SL_UNROLL(4)
      for (size_t s = 0; s < streams; s++) {
        SL_UNROLL(4)
        for (size_t u = 0; u < 4; u++) {
          VWORD *sum = &sums[streams == 1 ? u : s * 2 % 8 + u % 2];
          *sum += *(const word_at *)(at + s * part + u * V);
        }
      }
      SL_BARRIER();
    }
  }
  VWORD sum = sums[0];
  for (size_t i = 1; i < 8; i++)
    sum += sums[i];
  return sum_of(sum);
}

enum kind { WRITES, COPIES, SCALES, ADDS, TRIADS };

ALWAYS VWORD result_of(enum kind kind, const struct sl_kernel_work *w,
                       size_t at, VWORD value) {
  if (kind == WRITES) return value;
  const unsigned char *a = w->a + at, *b = w->b + at;
  if (kind == COPIES) return *(const word_at *)a;
  const VDOUBLE x = *(const double_at *)a;
  VDOUBLE y = 3.0 * x;
  if (kind == ADDS) y = x + *(const double_at *)b;
  if (kind == TRIADS) y = x + 3.0 * *(const double_at *)b;
  VWORD bits;
  __builtin_memcpy(&bits, &y, sizeof bits);
  return bits;
}

ALWAYS uint64_t store_streams(const struct sl_kernel_work *w, enum kind kind,
                              size_t streams, int bypass, int ahead) {
  const size_t part = w->bytes / streams;
  const VWORD value = (VWORD){0} + w->value;
  for (size_t repeat = w->repeats; repeat; repeat--) {
    for (size_t i = 0; i < part; i += STEP) {
      if (kind != WRITES) prefetch(w->a + i, ahead);
      SL_UNROLL(4)
      for (size_t s = 0; s < streams; s++) {
        VWORD results[4];
        SL_UNROLL(4)
        for (size_t u = 0; u < 4; u++)
          results[u] = result_of(kind, w, s * part + i + u * V, value);
        unsigned char *to = w->dst + s * part + i;
#ifdef NT_STORE
        if (bypass) {
          NT_STORE(to, results[0], results[1]);
          NT_STORE(to + 2 * V, results[2], results[3]);
          continue;
        }
#endif
        SL_UNROLL(4)
        for (size_t u = 0; u < 4; u++)
          *(word_at *)(to + u * V) = results[u];
      }
      SL_BARRIER();
    }
  }
#ifdef NT_STORE
  if (bypass) NT_END();
#endif
  (void)bypass;
  return 0;
}

#define READER(name, streams, ahead)                        \
  static uint64_t name(const struct sl_kernel_work *work) { \
    return read_streams(work, streams, ahead);              \
  }
#define STORER(name, kind, streams, bypass, ahead)            \
  static uint64_t name(const struct sl_kernel_work *work) {   \
    return store_streams(work, kind, streams, bypass, ahead); \
  }

READER(read_x1, 1, 0)
READER(read_x1p, 1, 1)
READER(read_x2, 2, 0)
READER(read_x4, 4, 0)
STORER(write_x1, WRITES, 1, 0, 0)
STORER(write_x4, WRITES, 4, 0, 0)
STORER(copy_x1, COPIES, 1, 0, 0)
STORER(copy_x1p, COPIES, 1, 0, 1)
STORER(copy_x4, COPIES, 4, 0, 0)
STORER(scale_x1, SCALES, 1, 0, 0)
STORER(scale_x4, SCALES, 4, 0, 0)
STORER(add_x1, ADDS, 1, 0, 0)
STORER(add_x4, ADDS, 4, 0, 0)
STORER(triad_x1, TRIADS, 1, 0, 0)
STORER(triad_x4, TRIADS, 4, 0, 0)
#ifdef NT_STORE
STORER(write_nt_x1, WRITES, 1, 1, 0)
STORER(write_nt_x4, WRITES, 4, 1, 0)
STORER(copy_nt_x1, COPIES, 1, 1, 0)
STORER(copy_nt_x1p, COPIES, 1, 1, 1)
STORER(copy_nt_x4, COPIES, 4, 1, 0)
STORER(scale_nt_x1, SCALES, 1, 1, 0)
STORER(scale_nt_x4, SCALES, 4, 1, 0)
STORER(add_nt_x1, ADDS, 1, 1, 0)
STORER(add_nt_x4, ADDS, 4, 1, 0)
STORER(triad_nt_x1, TRIADS, 1, 1, 0)
STORER(triad_nt_x4, TRIADS, 4, 1, 0)
#endif

const struct sl_kernel LIST[] = {
    {ISA "x1", ISA, SL_MEMORY_READ, SL_BUS_PLAIN, read_x1},
    {ISA "x1p", ISA, SL_MEMORY_READ, SL_BUS_PLAIN, read_x1p},
    {ISA "x2", ISA, SL_MEMORY_READ, SL_BUS_PLAIN, read_x2},
    {ISA "x4", ISA, SL_MEMORY_READ, SL_BUS_PLAIN, read_x4},
    {ISA "x1", ISA, SL_MEMORY_WRITE, SL_BUS_ALLOCATE, write_x1},
    {ISA "x4", ISA, SL_MEMORY_WRITE, SL_BUS_ALLOCATE, write_x4},
    {ISA "x1", ISA, SL_MEMORY_COPY, SL_BUS_ALLOCATE, copy_x1},
    {ISA "x1p", ISA, SL_MEMORY_COPY, SL_BUS_ALLOCATE, copy_x1p},
    {ISA "x4", ISA, SL_MEMORY_COPY, SL_BUS_ALLOCATE, copy_x4},
    {ISA "x1", ISA, SL_MEMORY_SCALE, SL_BUS_ALLOCATE, scale_x1},
    {ISA "x4", ISA, SL_MEMORY_SCALE, SL_BUS_ALLOCATE, scale_x4},
    {ISA "x1", ISA, SL_MEMORY_ADD, SL_BUS_ALLOCATE, add_x1},
    {ISA "x4", ISA, SL_MEMORY_ADD, SL_BUS_ALLOCATE, add_x4},
    {ISA "x1", ISA, SL_MEMORY_TRIAD, SL_BUS_ALLOCATE, triad_x1},
    {ISA "x4", ISA, SL_MEMORY_TRIAD, SL_BUS_ALLOCATE, triad_x4},
#ifdef NT_STORE
    {ISA "x1nt", ISA, SL_MEMORY_WRITE_NT, SL_BUS_BYPASS, write_nt_x1},
    {ISA "x4nt", ISA, SL_MEMORY_WRITE_NT, SL_BUS_BYPASS, write_nt_x4},
    {ISA "x1nt", ISA, SL_MEMORY_COPY_NT, SL_BUS_BYPASS, copy_nt_x1},
    {ISA "x1pnt", ISA, SL_MEMORY_COPY_NT, SL_BUS_BYPASS, copy_nt_x1p},
    {ISA "x4nt", ISA, SL_MEMORY_COPY_NT, SL_BUS_BYPASS, copy_nt_x4},
    {ISA "x1nt", ISA, SL_MEMORY_SCALE, SL_BUS_BYPASS, scale_nt_x1},
    {ISA "x4nt", ISA, SL_MEMORY_SCALE, SL_BUS_BYPASS, scale_nt_x4},
    {ISA "x1nt", ISA, SL_MEMORY_ADD, SL_BUS_BYPASS, add_nt_x1},
    {ISA "x4nt", ISA, SL_MEMORY_ADD, SL_BUS_BYPASS, add_nt_x4},
    {ISA "x1nt", ISA, SL_MEMORY_TRIAD, SL_BUS_BYPASS, triad_nt_x1},
    {ISA "x4nt", ISA, SL_MEMORY_TRIAD, SL_BUS_BYPASS, triad_nt_x4},
#endif
    {NULL, NULL, SL_MEMORY_READ, SL_BUS_PLAIN, NULL}};
