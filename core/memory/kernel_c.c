/* SPDX-License-Identifier: MIT */
/* Plain 64-bit words: runs everywhere, and is what a loop without vectors
 * reaches. */
#include "core/memory/kernel_private.h"

#define VWORD uint64_t
#define VDOUBLE double
#define LIST sl_kernels_c
#define ISA "c"
#include "core/memory/kernel_template.h"
