/* SPDX-License-Identifier: MIT */
#include "core/device/signature.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/base/error.h"

bool sl_signature_is_empty(const struct sl_signature *s) {
  return s->is_known && !s->type[0] && !s->table[0];
}

void sl_signature_read_node(const char *node, struct sl_signature *s) {
  memset(s, 0, sizeof *s);
  /* A drive without its medium answers an open only like this. */
  int fd = open(node, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0) {
    int code = -errno;
    snprintf(s->reason, sizeof s->reason, "%s: cannot be opened: %s",
             sl_error_name(code), sl_error_message(code));
    return;
  }
  sl_signature_read(fd, s);
  close(fd);
}

#ifdef STORLUA_HAVE_BLKID
#include <blkid.h>

bool sl_signature_is_built(void) { return true; }

static void copy(blkid_probe probe, const char *name, char *text, size_t size) {
  const char *value;
  size_t length;

  if (blkid_probe_lookup_value(probe, name, &value, &length) != 0) return;
  while (length > 0 && value[length - 1] == '\0')
    length--;
  snprintf(text, size, "%.*s", (int)length, value);
}

static void ask(blkid_probe probe, struct sl_signature *s) {
  blkid_probe_enable_superblocks(probe, 1);
  blkid_probe_set_superblocks_flags(
      probe, BLKID_SUBLKS_TYPE | BLKID_SUBLKS_USAGE | BLKID_SUBLKS_LABEL |
                 BLKID_SUBLKS_UUID);
  blkid_probe_enable_partitions(probe, 1);
  blkid_probe_set_partitions_flags(probe, BLKID_PARTS_ENTRY_DETAILS);
  errno = 0;
  int answer = blkid_do_safeprobe(probe);
  if (answer == -2) {
    snprintf(s->reason, sizeof s->reason,
             "signatures that contradict each other");
  } else if (answer < 0) {
    snprintf(s->reason, sizeof s->reason, "cannot be read: %s",
             errno ? sl_error_message(-errno) : "unknown error");
  }
  s->is_known = answer >= 0;
  if (answer != 0) return;
  copy(probe, "TYPE", s->type, sizeof s->type);
  copy(probe, "USAGE", s->usage, sizeof s->usage);
  copy(probe, "LABEL", s->label, sizeof s->label);
  copy(probe, "UUID", s->uuid, sizeof s->uuid);
  copy(probe, "PTTYPE", s->table, sizeof s->table);
  copy(probe, "PART_ENTRY_UUID", s->partition_uuid, sizeof s->partition_uuid);
  copy(probe, "PART_ENTRY_NAME", s->partition_label, sizeof s->partition_label);
}

void sl_signature_read(int fd, struct sl_signature *s) {
  memset(s, 0, sizeof *s);
  blkid_probe probe = blkid_new_probe();
  if (!probe) {
    snprintf(s->reason, sizeof s->reason, "not enough memory");
  } else if (blkid_probe_set_device(probe, fd, 0, 0) != 0) {
    snprintf(s->reason, sizeof s->reason, "has no readable medium");
  } else {
    ask(probe, s);
  }
  blkid_free_probe(probe);
}

#else

bool sl_signature_is_built(void) { return false; }

void sl_signature_read(int fd, struct sl_signature *s) {
  (void)fd;
  memset(s, 0, sizeof *s);
  snprintf(s->reason, sizeof s->reason, "this build has no libblkid");
}

#endif
