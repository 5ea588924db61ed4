/* SPDX-License-Identifier: MIT */
#include "core/base/error.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <uv.h>

/* Errnos that storage meets and libuv has no name for.  strerrorname_np would
 * know them, but musl does not have it. */
static const struct {
  int code;
  const char *name;
} storage_names[] = {
    {EBADF, "EBADF"},
    {EBADE, "EBADE"},
    {EBADMSG, "EBADMSG"},
    {ECHILD, "ECHILD"},
    {ECOMM, "ECOMM"},
    {EDEADLK, "EDEADLK"},
    {EDOM, "EDOM"},
    {EDQUOT, "EDQUOT"},
    {EHWPOISON, "EHWPOISON"},
    {EKEYREJECTED, "EKEYREJECTED"},
    {ELIBBAD, "ELIBBAD"},
    {EMEDIUMTYPE, "EMEDIUMTYPE"},
    {ENODATA, "ENODATA"},
    {ENOEXEC, "ENOEXEC"},
    {ENOLCK, "ENOLCK"},
    {ENOLINK, "ENOLINK"},
    {ENOMEDIUM, "ENOMEDIUM"},
    {ENOTBLK, "ENOTBLK"},
    {ENOTRECOVERABLE, "ENOTRECOVERABLE"},
    {EOWNERDEAD, "EOWNERDEAD"},
    {EREMOTEIO, "EREMOTEIO"},
    {ERESTART, "ERESTART"},
    {ESHUTDOWN, "ESHUTDOWN"},
    {ESTALE, "ESTALE"},
    {ETIME, "ETIME"},
    {EUCLEAN, "EUCLEAN"},
    {EUSERS, "EUSERS"},
};

static const char *libuv_name(int code) {
  switch (code) {
#define NAME(name, message) \
  case UV_##name:           \
    return #name;
    UV_ERRNO_MAP(NAME)
#undef NAME
    default:
      return NULL;
  }
}

const char *sl_error_name(int code) {
  static _Thread_local char number[16];
  const char *name = libuv_name(code);
  if (name) return name;
  if (code == SL_REFUSED) return "REFUSED";
  for (size_t i = 0; i < sizeof storage_names / sizeof *storage_names; i++)
    if (storage_names[i].code == -code) return storage_names[i].name;
  snprintf(number, sizeof number, "E%" PRId64, -(int64_t)code);
  return number;
}

int sl_error_number(const char *name) {
  enum { LAST = 2000 }; /* the largest on any machine is below */
  for (int number = 1; number < LAST; number++)
    if (strcmp(sl_error_name(-number), name) == 0) return number;
  return 0;
}

/* strerror_r returns a pointer in glibc and an int in musl. */
static const char *from_pointer(const char *result, const char *buffer) {
  (void)buffer;
  return result;
}

static const char *from_int(int result, const char *buffer) {
  (void)result;
  return buffer;
}

const char *sl_error_message(int code) {
  static _Thread_local char text[128];
  if (code == 0) return "no error";
  if (code == SL_REFUSED) return "refused by the safety gate";
  if (code <= -3000) { /* libuv's own: end of file, name look-up */
    if (!libuv_name(code)) return "unknown error";
    return uv_strerror(code);
  }
  char buffer[128] = "";
  const char *message =
      _Generic(strerror_r(-code, buffer, sizeof buffer),
          char *: from_pointer,
          int: from_int)(strerror_r(-code, buffer, sizeof buffer), buffer);
  snprintf(text, sizeof text, "%s", message);
  if (isupper((unsigned char)text[0]) && !isupper((unsigned char)text[1]))
    text[0] = (char)tolower((unsigned char)text[0]);
  return text;
}

int sl_error_set(struct sl_error *e, int code, const char *op, const char *path,
                 int64_t offset) {
  if (!e) return code;
  e->code = code;
  e->offset = offset;
  e->hint[0] = '\0';
  snprintf(e->op, sizeof e->op, "%s", op ? op : "");
  size_t length = path ? strlen(path) : 0;
  if (length < sizeof e->path)
    snprintf(e->path, sizeof e->path, "%s", path ? path : "");
  else
    snprintf(e->path, sizeof e->path, "...%s",
             path + length - (sizeof e->path - sizeof "..."));
  return code;
}

void sl_error_hint(struct sl_error *e, const char *format, ...) {
  if (!e) return;
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(e->hint, sizeof e->hint, format, arguments);
  va_end(arguments);
}

char *sl_error_text(const struct sl_error *e, char *text, size_t size) {
  char at[32] = "";
  if (e->offset >= 0) snprintf(at, sizeof at, " at %" PRId64, e->offset);
  snprintf(text, size, "%s: %s%s%s%s: %s%s%s%s", sl_error_name(e->code), e->op,
           e->op[0] && e->path[0] ? " " : "", e->path, at,
           sl_error_message(e->code), e->hint[0] ? " (" : "", e->hint,
           e->hint[0] ? ")" : "");
  return text;
}
