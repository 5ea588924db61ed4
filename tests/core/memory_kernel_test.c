/* SPDX-License-Identifier: MIT */
/* Every kernel that this CPU can run, against plain C: the sum, every byte of
 * the destination, nothing before or behind it. */
#include "core/memory/kernel.h"

#include "core/test.h"

enum { PAGE = 4096, BYTES_MAX = 5 * PAGE, GUARD = 4096 };

struct room {
  unsigned char before[GUARD], data[BYTES_MAX], behind[GUARD];
};
static struct room dst __attribute__((aligned(4096)));
static struct room a __attribute__((aligned(4096)));
static struct room b __attribute__((aligned(4096)));
static unsigned char wanted[BYTES_MAX];

static double number(size_t i, double start) {
  return start + (double)(i * 7919 % 10007);
}

static void fill(void) {
  memset(&dst, 0xd5, sizeof dst);
  for (size_t i = 0; i < BYTES_MAX; i += 8) {
    const double x = number(i, 1), y = number(i, 3);
    memcpy(a.data + i, &x, 8);
    memcpy(b.data + i, &y, 8);
  }
}

static uint64_t word(const unsigned char *at) {
  uint64_t value;
  memcpy(&value, at, 8);
  return value;
}

static uint32_t int_of(const unsigned char *at) {
  uint32_t value;
  memcpy(&value, at, 4);
  return value;
}

static uint64_t sum_words(size_t bytes) {
  uint64_t sum = 0;
  for (size_t i = 0; i < bytes; i += 8)
    sum += word(a.data + i);
  return sum;
}

static uint32_t sum_ints(size_t bytes, size_t stride) {
  uint32_t sum = 0;
  for (size_t i = 0; i < bytes; i += stride)
    sum += int_of(a.data + i);
  return sum;
}

/* What `op` leaves in the destination. */
static void expect(enum sl_memory_op op, size_t bytes, uint64_t value) {
  const uint32_t low = (uint32_t)value;
  memset(wanted, 0xd5, sizeof wanted);
  for (size_t i = 0; i < bytes; i += 8) {
    double x, y;
    memcpy(&x, a.data + i, 8);
    memcpy(&y, b.data + i, 8);
    const double scaled = 3.0 * x, added = x + y, triad = x + 3.0 * y;
    switch (op) {
      case SL_MEMORY_WRITE:
      case SL_MEMORY_WRITE_NT:
        memcpy(wanted + i, &value, 8);
        break;
      case SL_MEMORY_FILL:
        memset(wanted + i, (int)(value & 0xff), 8);
        break;
      case SL_MEMORY_ZERO:
        memset(wanted + i, 0, 8);
        break;
      case SL_MEMORY_COPY:
      case SL_MEMORY_COPY_NT:
      case SL_MEMORY_LM_FCP:
      case SL_MEMORY_MEMCPY:
        memcpy(wanted + i, a.data + i, 8);
        break;
      case SL_MEMORY_SCALE:
        memcpy(wanted + i, &scaled, 8);
        break;
      case SL_MEMORY_ADD:
        memcpy(wanted + i, &added, 8);
        break;
      case SL_MEMORY_TRIAD:
        memcpy(wanted + i, &triad, 8);
        break;
      case SL_MEMORY_LM_FWR:
        memcpy(wanted + i, &low, 4);
        memcpy(wanted + i + 4, &low, 4);
        break;
      case SL_MEMORY_LM_WR:
      case SL_MEMORY_LM_RDWR:
        if (i % 16 == 0) memcpy(wanted + i, &low, 4);
        break;
      case SL_MEMORY_LM_CP:
        if (i % 16 == 0) memcpy(wanted + i, a.data + i, 4);
        break;
      case SL_MEMORY_READ:
      case SL_MEMORY_LM_RD:
      case SL_MEMORY_LM_FRD:
      case SL_MEMORY_OPS:
        break;
    }
  }
}

static bool is(const unsigned char *data, int byte, size_t bytes) {
  for (size_t i = 0; i < bytes; i++) {
    if (data[i] != byte) return false;
  }
  return true;
}

static void check_kernel(const struct sl_kernel *k, size_t bytes,
                         size_t repeats) {
  const int before = test_failures;
  const uint64_t value = 0x0123456789abcdefu;
  fill();
  expect(k->op, bytes, value);
  const struct sl_kernel_work work = {dst.data, a.data,  b.data,
                                      bytes,    repeats, value};
  const uint64_t sum = k->run(&work);
  if (k->op == SL_MEMORY_READ)
    CHECK_EQ(sum, sum_words(bytes) * repeats);
  else if (k->op == SL_MEMORY_LM_RD)
    CHECK_EQ((uint32_t)sum, (uint32_t)(sum_ints(bytes, 16) * repeats));
  else if (k->op == SL_MEMORY_LM_FRD)
    CHECK_EQ((uint32_t)sum, (uint32_t)(sum_ints(bytes, 4) * repeats));
  CHECK(memcmp(dst.data, wanted, BYTES_MAX) == 0);
  CHECK(is(dst.before, 0xd5, GUARD));
  CHECK(is(dst.behind, 0xd5, GUARD));
  CHECK(is(a.before, 0, GUARD));
  CHECK(is(a.behind, 0, GUARD));
  if (test_failures != before)
    printf("  %s %s, %zu bytes\n", sl_memory_op_facts(k->op)->name, k->name,
           bytes);
}

static void all_kernels_do_what_their_op_says(void) {
  printf("instruction sets: %s\n", sl_kernel_isas());
  for (int op = 0; op < SL_MEMORY_OPS; op++) {
    const struct sl_kernel *list[SL_KERNELS_MAX];
    const size_t count =
        sl_kernels(list, SL_KERNELS_MAX, (enum sl_memory_op)op);
    CHECK(count < SL_KERNELS_MAX); /* none is left out */
    printf("  %s:", sl_memory_op_facts((enum sl_memory_op)op)->name);
    for (size_t i = 0; i < count; i++) {
      printf(" %s", list[i]->name);
      check_kernel(list[i], PAGE, 1);
      check_kernel(list[i], BYTES_MAX, 1);
      check_kernel(list[i], 3 * PAGE, 3);
    }
    printf("\n");
  }
}

/* Everything but the non-temporal stores exists everywhere. */
static void every_op_has_a_kernel(void) {
  for (int op = 0; op < SL_MEMORY_OPS; op++) {
    const struct sl_kernel *list[SL_KERNELS_MAX];
    const size_t count =
        sl_kernels(list, SL_KERNELS_MAX, (enum sl_memory_op)op);
    if (op != SL_MEMORY_WRITE_NT && op != SL_MEMORY_COPY_NT) CHECK(count > 0);
    for (size_t i = 0; i < count; i++) {
      for (size_t k = 0; k < i; k++)
        CHECK(strcmp(list[i]->name, list[k]->name) != 0);
    }
  }
}

static void ops_are_found_by_name(void) {
  for (int op = 0; op < SL_MEMORY_OPS; op++)
    CHECK_EQ(sl_memory_op_find(sl_memory_op_facts((enum sl_memory_op)op)->name),
             op);
  CHECK_EQ(sl_memory_op_find("nonsense"), SL_MEMORY_OPS);
}

int main(void) {
  RUN(all_kernels_do_what_their_op_says);
  RUN(every_op_has_a_kernel);
  RUN(ops_are_found_by_name);
  return TEST_DONE();
}
