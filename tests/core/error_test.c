/* SPDX-License-Identifier: MIT */
#include "core/base/error.h"

#include <errno.h>

#include "core/test.h"

static void names(void) {
  CHECK_STR(sl_error_name(-EIO), "EIO");
  CHECK_STR(sl_error_name(-ENOSPC), "ENOSPC");
  CHECK_STR(sl_error_name(-ENODATA), "ENODATA");
  CHECK_STR(sl_error_name(-EREMOTEIO), "EREMOTEIO");
  CHECK_STR(sl_error_name(-EUCLEAN), "EUCLEAN");
  CHECK_STR(sl_error_name(-EBADMSG), "EBADMSG");
  CHECK_STR(sl_error_name(-ENOMEDIUM), "ENOMEDIUM");
  CHECK_STR(sl_error_name(-EMEDIUMTYPE), "EMEDIUMTYPE");
  CHECK_STR(sl_error_name(-EDQUOT), "EDQUOT");
  CHECK_STR(sl_error_name(-ESTALE), "ESTALE");
  CHECK_STR(sl_error_name(-EROFS), "EROFS");
  CHECK_STR(sl_error_name(-ETIMEDOUT), "ETIMEDOUT");
  CHECK_STR(sl_error_name(-4095), "EOF"); /* libuv's */
  CHECK_STR(sl_error_name(-999), "E999");
}

static void numbers(void) {
  CHECK_EQ(sl_error_number("EIO"), EIO);
  CHECK_EQ(sl_error_number("EDQUOT"), EDQUOT);
  CHECK_EQ(sl_error_number("EFBIG"), EFBIG);
  CHECK_EQ(sl_error_number(sl_error_name(-EOPNOTSUPP)), EOPNOTSUPP);
  CHECK_EQ(sl_error_number("EHWPOISON"), EHWPOISON);
  CHECK_EQ(sl_error_number("E999"), 999);
  CHECK_EQ(sl_error_number("EOF"), 0);
  CHECK_EQ(sl_error_number("REFUSED"), 0);
}

static void messages(void) {
  CHECK_STR(sl_error_message(-ENOENT), "no such file or directory");
  CHECK_STR(sl_error_message(-EIO), "input/output error");
  CHECK_STR(sl_error_message(0), "no error");
  CHECK(strlen(sl_error_message(-4095)) > 0);
  CHECK_STR(sl_error_message(-4094), "unknown error");
  CHECK(strlen(sl_error_message(-999)) > 0);
}

static void texts(void) {
  struct sl_error e;
  char text[SL_ERROR_TEXT_BYTES];
  CHECK_EQ(sl_error_set(&e, -EIO, "pread", "/dev/x", 4096), -EIO);
  CHECK_STR(sl_error_text(&e, text, sizeof text),
            "EIO: pread /dev/x at 4096: input/output error");
  sl_error_hint(&e, "sector %d", 8);
  CHECK_STR(sl_error_text(&e, text, sizeof text),
            "EIO: pread /dev/x at 4096: input/output error (sector 8)");
  sl_error_set(&e, -ENOMEM, "mmap", NULL, -1);
  CHECK_STR(e.hint, ""); /* a new error forgets the old advice */
  CHECK_STR(sl_error_text(&e, text, sizeof text),
            "ENOMEM: mmap: cannot allocate memory");
  char tiny[8];
  CHECK_STR(sl_error_text(&e, tiny, sizeof tiny), "ENOMEM:");
}

static void nothing_to_fill(void) {
  CHECK_EQ(sl_error_set(NULL, -EIO, "pread", "/x", 0), -EIO);
  sl_error_hint(NULL, "no effect");
}

static void long_texts_are_cut(void) {
  struct sl_error e;
  char path[2000], text[SL_ERROR_TEXT_BYTES];
  memset(path, 'a', sizeof path);
  memcpy(path + sizeof path - 6, "/tail", 6);
  sl_error_set(&e, -EIO, "an operation with a name of far too many letters",
               path, 0);
  CHECK_EQ(strlen(e.path), SL_ERROR_PATH_BYTES - 1);
  CHECK(strncmp(e.path, "...a", 4) == 0);
  CHECK_STR(e.path + strlen(e.path) - 5, "/tail");
  CHECK_EQ(strlen(e.op), SL_ERROR_OP_BYTES - 1);
  sl_error_hint(&e, "%s", path);
  CHECK_EQ(strlen(e.hint), SL_ERROR_HINT_BYTES - 1);
  sl_error_text(&e, text, sizeof text);
  CHECK(strlen(text) < sizeof text);
}

int main(void) {
  RUN(names);
  RUN(numbers);
  RUN(messages);
  RUN(texts);
  RUN(nothing_to_fill);
  RUN(long_texts_are_cut);
  return TEST_DONE();
}
