/* SPDX-License-Identifier: MIT */
#ifndef STORLUA_CORE_BASE_OCTAL_H
#define STORLUA_CORE_BASE_OCTAL_H

/* Decodes in place what the kernel escapes in its tables of mounts: blanks,
 * newlines and backslashes of a path, as "\040" (mangle_path).  Pure function,
 * any thread. */
static inline void sl_octal_decode(char *text) {
  char *out = text;

  for (const char *in = text; *in;) {
    if (in[0] == '\\' && in[1] >= '0' && in[1] <= '3' && in[2] >= '0' &&
        in[2] <= '7' && in[3] >= '0' && in[3] <= '7') {
      *out++ = (char)((in[1] - '0') * 64 + (in[2] - '0') * 8 + in[3] - '0');
      in += 4;
    } else {
      *out++ = *in++;
    }
  }
  *out = '\0';
}

#endif
