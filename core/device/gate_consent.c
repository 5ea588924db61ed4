/* SPDX-License-Identifier: MIT */
/* Does the caller mean this very unit? */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "core/device/gate_private.h"
#include "core/device/use_private.h"

static const char by_id[] = "/dev/disk/by-id/";

/* Hex digits of a CID may be typed in either case.  An NVMe may be named by
 * its controller or its world wide id as well. */
static bool is_unit(const struct sl_identity *id, const char *consent) {
  if (!id->unit[0]) return false;
  if (strncmp(id->unit, "mmc:", 4) == 0) {
    return strcasecmp(id->unit, consent) == 0;
  }
  if (strncmp(id->unit, "nvme:", 5) == 0 &&
      ((strncmp(consent, "nvme:", 5) == 0 &&
        strcmp(consent + 5, id->serial) == 0) ||
       (id->wwid[0] && strncmp(consent, "wwid:", 5) == 0 &&
        strcmp(consent + 5, id->wwid) == 0))) {
    return true;
  }
  return strcmp(id->unit, consent) == 0;
}

static bool is_alias(const struct sl_identity *id, const char *consent) {
  struct sl_device_number number;

  if (strncmp(consent, by_id, sizeof by_id - 1) != 0) return false;
  if (strstr(consent, "/..") || !sl_use_node(consent, &number)) return false;
  return sl_same_device(number, id->number) ||
         (id->parent[0] && sl_same_device(number, id->parent_number));
}

/* Cheap sticks share one serial number, namespaces that of their controller:
 * then it names none of them. */
static bool is_unique(const struct sl_gate_request *request,
                      const char *consent) {
  char path[SL_SYSFS_PATH_BYTES], attribute[300];
  struct sl_identity *other = malloc(sizeof *other);
  struct dirent *entry;
  unsigned same = 0;

  DIR *list = NULL;
  if (other && sl_system_sysfs(request->system, "class/block", path) == 0) {
    list = opendir(path);
  }
  while (list && (entry = readdir(list))) {
    struct sl_device_number number;
    snprintf(attribute, sizeof attribute, "%s/dev", entry->d_name);
    if (entry->d_name[0] != '.' &&
        sl_sysfs_device(path, attribute, &number) == 0 &&
        sl_identity_read(request->system, number, other, NULL) == 0 &&
        !other->parent[0] && is_unit(other, consent)) {
      same++;
    }
  }
  if (list) closedir(list);
  free(other);
  return same == 1;
}

void sl_gate_judge_consent(const struct sl_gate_request *request,
                           struct sl_gate_answer *answer) {
  const struct sl_identity *id = &answer->identity;
  bool is_shared =
      strncmp(id->unit, "mmc:", 4) != 0 && strncmp(id->unit, "loop:", 5) != 0;

  for (unsigned i = 0; i < request->consent_count; i++) {
    const char *consent = request->consents[i];
    if (is_alias(id, consent)) return;
    if (!is_unit(id, consent)) continue;
    if (is_shared && !is_unique(request, consent)) {
      sl_gate_refuse(answer, "consent",
                     "more than one device answers to %.400s", consent);
    }
    return;
  }
  if (!id->unit[0]) {
    sl_gate_refuse(answer, "consent",
                   "it has no id of its own (no serial number, no UUID), so it "
                   "cannot "
                   "be named; only a link in %s may stand for it",
                   by_id);
  } else if (request->consent_count == 0) {
    sl_gate_refuse(answer, "consent",
                   "nobody agreed to lose what is on it: --destroy '%.400s'",
                   id->unit);
  } else {
    sl_gate_refuse(answer, "consent",
                   "it is the unit %.200s, and --destroy names %.200s",
                   id->unit, request->consents[0]);
  }
}
