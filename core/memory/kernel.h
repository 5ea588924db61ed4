/* SPDX-License-Identifier: MIT */
#ifndef STORLUA_CORE_MEMORY_KERNEL_H
#define STORLUA_CORE_MEMORY_KERNEL_H

/* The loops that move memory: one unit per instruction set, chosen through a
 * table of function pointers (an ifunc would die at start with musl).  No loop
 * is left to the compiler's idioms: STREAM's copy becomes a call of memcpy,
 * and bw_mem's fwr is 3.6 times faster or slower by its flags. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum sl_memory_op {
  SL_MEMORY_READ,
  SL_MEMORY_WRITE,
  SL_MEMORY_WRITE_NT, /* stores that bypass the cache */
  SL_MEMORY_COPY,
  SL_MEMORY_COPY_NT,
  SL_MEMORY_SCALE,  /* doubles, as STREAM: dst = 3 a */
  SL_MEMORY_ADD,    /* dst = a + b */
  SL_MEMORY_TRIAD,  /* dst = a + 3 b */
  SL_MEMORY_FILL,   /* the C library's memset */
  SL_MEMORY_MEMCPY, /* the C library's memcpy */
  SL_MEMORY_ZERO,   /* CLZERO, DC ZVA, memset 0: moves no data from the CPU */
  /* The access shapes of lmbench's bw_mem: rd, wr, rdwr and cp touch one int
   * of four; fwr stores ints from the end of each 512 bytes to the start. */
  SL_MEMORY_LM_RD,
  SL_MEMORY_LM_WR,
  SL_MEMORY_LM_RDWR,
  SL_MEMORY_LM_CP,
  SL_MEMORY_LM_FRD,
  SL_MEMORY_LM_FWR,
  SL_MEMORY_LM_FCP,
  SL_MEMORY_OPS
};

struct sl_memory_op_facts {
  const char *name;
  unsigned reads, writes; /* buffers, each once */
  unsigned touched;       /* of 16 bytes, how many */
};

/* Never NULL for a value below SL_MEMORY_OPS. */
const struct sl_memory_op_facts *sl_memory_op_facts(enum sl_memory_op op);

/* SL_MEMORY_OPS when there is none of that name. */
enum sl_memory_op sl_memory_op_find(const char *name);

/* One call: `repeats` times over `bytes`, a multiple of SL_KERNEL_GRANULE.
 * All of dst, a and b are valid and aligned to 64 bytes. */
enum { SL_KERNEL_GRANULE = 4096 };
struct sl_kernel_work {
  unsigned char *dst;
  const unsigned char *a, *b;
  size_t bytes, repeats;
  uint64_t value; /* what write and fill store, in every 8 bytes */
};

/* How many bytes really cross the bus beyond those the loop names. */
enum sl_kernel_bus {
  SL_BUS_PLAIN,    /* reads only */
  SL_BUS_ALLOCATE, /* each written line is first read */
  SL_BUS_BYPASS,   /* written lines are not read */
  SL_BUS_UNKNOWN   /* the CPU or the C library decides */
};

struct sl_kernel {
  const char *name; /* "avx2x4": instruction set, streams; NULL ends a list */
  const char *isa;
  enum sl_memory_op op;
  enum sl_kernel_bus bus;
  /* Reads return the sum of what they read: of 64-bit words, or of the 32-bit
   * words of the lm ops.  Others return 0. */
  uint64_t (*run)(const struct sl_kernel_work *work);
};

/* The kernels this CPU can run, in the order in which they are tried. */
size_t sl_kernels(const struct sl_kernel **list, size_t max,
                  enum sl_memory_op op);
enum { SL_KERNELS_MAX = 32 }; /* of one op */

/* "x86_64", "aarch64" … and what the CPU has: "sse2 avx2 …".  Static. */
const char *sl_kernel_isas(void);

#endif
