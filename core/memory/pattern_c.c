/* SPDX-License-Identifier: MIT */
#include "core/memory/pattern_private.h"

#define VWORD uint64_t
#define ENGINE sl_pattern_c
#define NAME "c"
#include "core/memory/pattern_template.h"
