/* SPDX-License-Identifier: MIT */
#ifndef STORLUA_CORE_RUN_SERIAL_H
#define STORLUA_CORE_RUN_SERIAL_H

/* Serial ports, as used for the console of a board. */

#include "core/run/stream.h"

/* Opens a port raw with 8 data bits, no parity, one stop bit and no flow
 * control, for us alone, and forgets what it has received before.  -EINVAL
 * for a speed that termios does not know. */
int sl_serial_open(struct sl_loop *loop, const char *path, int64_t baud,
                   struct sl_stream **out, struct sl_error *e);

#endif
