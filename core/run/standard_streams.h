/* SPDX-License-Identifier: MIT */
#ifndef STORLUA_CORE_RUN_STANDARD_STREAMS_H
#define STORLUA_CORE_RUN_STANDARD_STREAMS_H

#include "core/base/error.h"

/* Makes each of the descriptors 0, 1 and 2 that the caller left closed
 * (`>&-`, an init without a console) /dev/null.  Else the next file that is
 * opened gets its number, and what is printed goes into an event log or into
 * the disk under test.  Before anything else is opened. */
int sl_standard_streams_open(struct sl_error *e);

#endif
