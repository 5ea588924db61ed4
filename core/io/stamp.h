/* SPDX-License-Identifier: MIT */
#ifndef STORLUA_CORE_IO_STAMP_H
#define STORLUA_CORE_IO_STAMP_H

/* Data that can prove where it belongs.
 *
 * Every 512-byte sector starts with a header of 32 bytes, little endian:
 *
 *    0  u32  magic 0x32534c53 ("SLS2"; the last byte is the version)
 *    4  u32  check of the other 28 bytes
 *    8  u64  address: sector number inside the target
 *   16  u32  run         20  u32  generation
 *   24  u32  target      28  u16  writer      30  u16  zero
 *
 * The other 480 bytes are a function of the header: one AES round of a
 * counter, keyed by two AES rounds of the header.  Any sector can therefore
 * be judged by regenerating it from the header found in it, also one that
 * came from another place, another time or another run.  No checksum of the
 * body exists: the body *is* the checksum, compared bit by bit.
 * The rounds are AES only because every CPU of interest does them in one
 * instruction; nothing here is meant to be secret.
 *
 * Pure functions, any thread. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
  SL_SECTOR_BYTES = 512,
  SL_STAMP_BYTES = 32,
  SL_STAMP_BLOCKS = (SL_SECTOR_BYTES - SL_STAMP_BYTES) / 16
};
#define SL_STAMP_MAGIC UINT32_C(0x32534c53)

struct sl_stamp {
  uint64_t address; /* sector number */
  uint32_t run;
  uint32_t generation; /* 1 is the first; 0 never written */
  uint32_t target;
  uint16_t writer;
};

/* Fills `sectors` consecutive sectors at `data`; sector i gets the address
 * first->address + i.  `data` needs no alignment. */
void sl_stamp_fill(void *data, size_t sectors, const struct sl_stamp *first);

/* Compares `sectors` sectors with what sl_stamp_fill would have written.
 * Returns the index of the first that differs, or `sectors`. */
size_t sl_stamp_compare(const void *data, size_t sectors,
                        const struct sl_stamp *first);

/* The kernel in use: "scalar", "aes-ni", "vaes", "armv8-aes". */
const char *sl_stamp_kernel(void);

/* Forces a kernel by name for tests and benchmarks; NULL picks the best
 * again.  Returns false when this CPU or build lacks it. */
bool sl_stamp_select(const char *kernel);

/* What is wrong with a sector, worst knowledge last. */
enum sl_damage {
  SL_DAMAGE_NONE,
  SL_DAMAGE_STALE,   /* intact, older generation: a lost write */
  SL_DAMAGE_NEWER,   /* intact, a generation not yet legal */
  SL_DAMAGE_ADDRESS, /* intact, belongs to another address: misdirected */
  SL_DAMAGE_RUN,     /* intact, of another run, target or writer */
  SL_DAMAGE_ZERO,    /* all 0x00: never written, or trimmed */
  SL_DAMAGE_ONES,    /* all 0xff: erased flash */
  SL_DAMAGE_TORN,    /* one intact sector up to a byte, then something else */
  SL_DAMAGE_FLIPS,   /* at most SL_FLIPS_MAX bits differ */
  SL_DAMAGE_GARBAGE, /* none of these */
  SL_DAMAGE_KINDS
};
enum { SL_FLIPS_MAX = 16 };

/* "none", "stale", "newer", … static. */
const char *sl_damage_name(enum sl_damage damage);

/* The generations that are legal for the sectors of a byte range.  After a
 * rewrite that was cut, both the old and the new one are; after the first
 * layout that was cut, so is a sector that was never written. */
struct sl_legal {
  uint64_t offset; /* byte offset in the target */
  uint64_t length; /* bytes */
  uint32_t generation_min;
  uint32_t generation_max;
  bool zero_ok;
};

struct sl_verdict {
  enum sl_damage damage;
  struct sl_stamp found; /* valid when has_header */
  bool has_header;       /* magic and check are right */
  /* Against the sector that the damage is told from: the nearest one for
   * flips, the one whose beginning is there for torn, else the nearest legal
   * one. */
  uint32_t first_bad; /* byte in the sector, 512 when none */
  uint32_t bits;      /* bits that differ */
};

/* Judges one sector at `data`: `expected` is what should be there, with any
 * generation of `legal` (NULL: exactly expected->generation).  For the slow
 * path, after sl_stamp_compare found a difference.  An intact sector of a
 * legal generation is SL_DAMAGE_NONE, and so is one of zeros where zero_ok
 * (has_header tells them apart).  Uses 10 KiB of stack. */
void sl_stamp_judge(const void *data, const struct sl_stamp *expected,
                    const struct sl_legal *legal, struct sl_verdict *verdict);

#endif
