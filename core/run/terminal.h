/* SPDX-License-Identifier: MIT */
#ifndef STORLUA_CORE_RUN_TERMINAL_H
#define STORLUA_CORE_RUN_TERMINAL_H

/* The terminal of the prompt. */

#include <termios.h>

#include "core/base/error.h"

/* Makes every key arrive at once, unechoed and without its signal (Ctrl-C is
 * a key of the prompt; Ctrl-\ still ends the program).  Output stays as it
 * is.  *saved is what sl_terminal_restore needs. */
int sl_terminal_raw(int fd, struct termios *saved, struct sl_error *e);
void sl_terminal_restore(int fd, const struct termios *saved);

/* The width in columns; 80 where it is not known. */
int sl_terminal_columns(int fd);

#endif
