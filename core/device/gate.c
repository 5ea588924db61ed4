/* SPDX-License-Identifier: MIT */
#include "core/device/gate.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#include "core/device/gate_private.h"
#include "core/device/openers.h"
#include "core/device/signature.h"

void sl_gate_refuse(struct sl_gate_answer *answer, const char *code,
                    const char *format, ...) {
  if (answer->reason_count == SL_GATE_REASONS_MAX) return;
  struct sl_gate_reason *reason = &answer->reasons[answer->reason_count++];
  reason->code = code;
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(reason->text, sizeof reason->text, format, arguments);
  va_end(arguments);
}

static bool is_it(const void *user, struct sl_device_number number) {
  return sl_same_device(*(const struct sl_device_number *)user, number);
}

static void refuse_open(const struct sl_gate_request *request,
                        struct sl_gate_answer *answer, int code) {
  struct sl_opener opener;

  switch (-code) {
    case EBUSY:
      if (sl_openers_find(is_it, &answer->identity.number, false, &opener)) {
        sl_gate_refuse(answer, "busy",
                       "it is in use; process %ld (%s) has it open",
                       (long)opener.pid, opener.name);
      } else {
        sl_gate_refuse(answer, "busy", "it is in use by an unknown holder");
      }
      break;
    case EPERM:
      sl_gate_refuse(answer, "forbidden",
                     "opening it for writing is forbidden, to root too: a "
                     "device cgroup, or a write lock");
      break;
    case EACCES:
      sl_gate_refuse(answer, "forbidden",
                     "opening it for writing is not permitted to this user");
      break;
    case EROFS:
      sl_gate_refuse(answer, "read_only", "it is read-only");
      break;
    case ENOMEDIUM:
    case ENXIO:
      sl_gate_refuse(answer, "no_medium", "there is no medium in it");
      break;
    default:
      sl_gate_refuse(answer, "forbidden", "%s cannot be opened: %s",
                     request->path, sl_error_message(code));
  }
}

static void judge_signature(struct sl_gate_answer *answer, int fd) {
  struct sl_signature s;

  sl_signature_read(fd, &s);
  if (sl_signature_is_empty(&s)) return;
  if (s.is_known) {
    sl_gate_refuse(answer, "signature",
                   "it holds %s%s%s%s; --force-signature overwrites it",
                   s.table[0] ? "a partition table of type " : "",
                   s.table[0] ? s.table : s.type, s.label[0] ? ", label " : "",
                   s.label);
  } else {
    sl_gate_refuse(answer, "signature",
                   "what it holds is not known: %s; --force-signature "
                   "overwrites it",
                   s.reason);
  }
}

static bool is_partition_of(const char *disk, const char *name) {
  size_t length = strlen(disk);
  if (length == 0 || strncmp(name, disk, length) != 0) return false;
  return isdigit((unsigned char)disk[length - 1])
             ? name[length] == 'p'
             : isdigit((unsigned char)name[length]);
}

/* Partitions that the command line of the kernel or a tool has made need no
 * table on the disk: then it looks empty, and is not. */
static void judge_partitions(const struct sl_gate_request *request,
                             struct sl_gate_answer *answer) {
  const struct sl_identity *id = &answer->identity;
  struct sl_reach *reach = calloc(1, sizeof *reach);
  char node[SL_KERNEL_NAME_BYTES + 8];
  struct sl_signature s;

  if (reach) sl_reach_add(reach, request->system, id->number);
  for (unsigned i = 0; reach && i < reach->count; i++) {
    const char *name = reach->list[i].name;
    if (!is_partition_of(id->name, name)) continue;
    snprintf(node, sizeof node, "/dev/%s", name);
    if (access(node, F_OK) != 0) continue;
    sl_signature_read_node(node, &s);
    if (sl_signature_is_empty(&s)) continue;
    sl_gate_refuse(answer, "signature",
                   "its partition %.63s holds %s; --force-signature overwrites "
                   "it",
                   name,
                   !s.is_known  ? s.reason
                   : s.table[0] ? s.table
                                : s.type);
    break; /* the losses name them all */
  }
  free(reach);
}

/* What only the open device tells.  Everything else is judged once more: now
 * that access is exclusive, nobody can begin to use it. */
static void judge_open(const struct sl_gate_request *request,
                       struct sl_gate_answer *answer, int fd) {
  struct sl_identity *id = &answer->identity;
  struct sl_device_number expected = id->number;
  int64_t sequence = sl_gate_disk_sequence(fd);
  int read_only = 0;
  struct stat st;

  if (fstat(fd, &st) != 0 || major(st.st_rdev) != expected.major ||
      minor(st.st_rdev) != expected.minor || !S_ISBLK(st.st_mode) ||
      sl_identity_read(request->system, expected, id, NULL) != 0 ||
      (sequence >= 0 && id->disk_sequence >= 0 &&
       sequence != id->disk_sequence)) {
    sl_gate_refuse(answer, "changed", "it changed while it was opened");
    return;
  }
  if (ioctl(fd, BLKROGET, &read_only) != 0 || read_only) {
    sl_gate_refuse(answer, "read_only", "it is read-only");
  }
  sl_gate_judge(request, answer);
  if (request->force_signature) return;
  judge_signature(answer, fd);
  if (!answer->reason_count) judge_partitions(request, answer);
}

static int refused(const struct sl_gate_request *request,
                   struct sl_gate_answer *answer, struct sl_error *e) {
  sl_gate_list_losses(request, answer);
  sl_error_set(e, SL_REFUSED, "open for writing", request->path, -1);
  sl_error_hint(e, "%.250s", answer->reasons[0].text);
  return SL_REFUSED;
}

/* Finds the number; refuses or fails for what is no block device. */
static int find_number(const struct sl_gate_request *request,
                       struct sl_gate_answer *answer, struct sl_error *e) {
  struct stat st;

  if (stat(request->path, &st) != 0) {
    return sl_error_set(e, -errno, "open", request->path, -1);
  }
  if (S_ISREG(st.st_mode)) sl_gate_judge_file(&st, answer);
  if (answer->reason_count) return refused(request, answer, e);
  if (!S_ISBLK(st.st_mode)) {
    sl_error_set(e, -ENOTBLK, "open", request->path, -1);
    sl_error_hint(e, "only block devices pass the safety gate");
    return -ENOTBLK;
  }
  answer->identity.number.major = major(st.st_rdev);
  answer->identity.number.minor = minor(st.st_rdev);
  return 0;
}

static int ask(const struct sl_gate_request *request,
               struct sl_gate_answer *answer, struct sl_grant **grant,
               struct sl_error *e) {
  struct sl_identity *id = &answer->identity;

  memset(answer, 0, sizeof *answer);
  *grant = NULL;
  int code = find_number(request, answer, e);
  if (code != 0) return code;
  struct sl_device_number number = id->number;
  if (sl_identity_read(request->system, number, id, NULL) != 0) {
    sl_gate_refuse(answer, "unknown", "the kernel has no block device %u:%u",
                   number.major, number.minor);
    return refused(request, answer, e);
  }
  sl_gate_judge(request, answer);
  if (answer->reason_count) return refused(request, answer, e);

  int fd = open(request->path, O_RDWR | O_EXCL | O_CLOEXEC);
  if (fd < 0) {
    refuse_open(request, answer, -errno);
    return refused(request, answer, e);
  }
  judge_open(request, answer, fd);
  if (!answer->reason_count) *grant = sl_gate_register(fd, id);
  if (*grant) return 0;
  close(fd);
  if (answer->reason_count) return refused(request, answer, e);
  return sl_error_set(e, -ENOMEM, "open", request->path, -1);
}

static bool is_only_busy(const struct sl_gate_answer *answer) {
  for (unsigned i = 0; i < answer->reason_count; i++) {
    if (strcmp(answer->reasons[i].code, "busy") != 0) return false;
  }
  return answer->reason_count > 0;
}

/* Who looks for a free loop device, or probes what has just come, has it open
 * for some milliseconds: that is waited out. */
int sl_gate_open(const struct sl_gate_request *request,
                 struct sl_gate_answer *answer, struct sl_grant **grant,
                 struct sl_error *e) {
  enum { TRIES = 10 };
  static const struct timespec pause = {.tv_nsec = 50000000};

  int code = ask(request, answer, grant, e);
  for (int i = 1; i < TRIES && code == SL_REFUSED && is_only_busy(answer);
       i++) {
    nanosleep(&pause, NULL);
    code = ask(request, answer, grant, e);
  }
  return code;
}
