/* SPDX-License-Identifier: MIT */
#include "core/device/kernel_verdict.h"

#include <stdio.h>
#include <string.h>

struct pattern {
  const char *first;
  const char *then; /* later in the line; NULL: nothing more is asked */
};

/* Wording from Linux 2.6.32 to 6.18. */
static const struct pattern errors[] = {
    /* block layer, buffer cache */
    {"I/O error", NULL},
    {"timeout error, dev", NULL},
    {"critical medium error", NULL},
    {"critical target error", NULL},
    {"critical nexus error", NULL},
    {"critical space allocation error", NULL},
    {"recoverable transport error", NULL},
    {"protection error, dev", NULL},
    {"device offline error", NULL},
    {"lost async page write", NULL},
    {"lost sync page write", NULL},
    {"attempt to access beyond end of device", NULL},
    /* file systems */
    {"-fs error", NULL},
    {"-fs (", "error"},
    {"EXT4-fs (", "failed"},
    {"Remounting filesystem read-only", NULL},
    {"Aborting journal", NULL},
    {"Detected aborted journal", NULL},
    {"JBD2: ", "error"},
    {"JBD2: Error", NULL},
    {"BTRFS error", NULL},
    {"BTRFS critical", NULL},
    {"BTRFS: error", NULL},
    {"XFS (", "Corruption"},
    {"XFS (", "corruption"},
    {"XFS (", "error"},
    {"XFS (", "shut"},
    {"XFS (", "Shutting"},
    /* mmc */
    {"running CQE recovery", NULL},
    {"cqhci: timeout", NULL},
    {"Timeout waiting for hardware", NULL},
    {"cache flush error", NULL},
    {"tried to HW reset card", NULL},
    {"tuning execution failed", NULL},
    {"Card stuck", NULL},
    {"whilst initiali", NULL},
    {"Reset 0x", "never completed"},
    {"recovery failed", NULL},
    {"r/w command failed", NULL},
    {"error -", "transferring data"},
    {"error -", "sending"},
    {"error -", "requesting status"},
    {"card ", "removed"},
    /* nvme, scsi, ata, usb */
    {"QID ", "timeout"},
    {"nvme", "controller is down"},
    {"FAILED Result:", NULL},
    {"Sense Key : Medium Error", NULL},
    {"Sense Key : Hardware Error", NULL},
    {"Synchronize Cache", "failed"},
    {"rejecting I/O to", NULL},
    {"evice offlined", NULL},
    {"exception Emask", NULL},
    {"failed command:", NULL},
    {"USB disconnect", NULL},
    {"device descriptor read/", "error"},
};

static const struct pattern warnings[] = {
    {"retrying using single block", NULL},
    {"still running", NULL},
    {"new ", " card at address"}, /* initialised anew, perhaps slower */
    {"hard resetting link", NULL},
    {"reset ", "USB device"},
    {"Abort", NULL},
    {"reset controller", NULL},
    {"resetting", NULL},
};

/* Once a day ext4 repeats what its superblock remembers of the past, and up to
 * 5.18 each mount told its options ("errors=remount-ro"); SD cards are asked
 * for a switch that the host lacks. */
static const struct pattern harmless[] = {
    {"error count since last fsck", NULL},
    {"mounted", "Opts: "},
    {"initial error at time", NULL},
    {"last error at time", NULL},
    {"host does not support reading read-only switch", NULL},
};

/* About no device in particular. */
static const struct pattern system_errors[] = {
    {"INFO: task ", "blocked for more than"},
};

static const struct pattern system_warnings[] = {
    /* Lines of the kinds above were left out. */
    {"buffer_io_error: ", "callbacks suppressed"},
    {"print_req_error: ", "callbacks suppressed"},
    {"Out of memory: ", NULL},
};

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

static bool matches(const char *text, const struct pattern *patterns,
                    size_t count) {
  for (size_t i = 0; i < count; i++) {
    const char *at = strstr(text, patterns[i].first);
    if (!at) continue;
    if (!patterns[i].then) return true;
    if (strstr(at + strlen(patterns[i].first), patterns[i].then)) return true;
  }
  return false;
}

const char *sl_kernel_about(const struct sl_kernel_record *r,
                            const struct sl_chain *chain) {
  struct sl_device_number number;

  const char *name = sl_chain_find(chain, r->text);
  if (name) return name;
  if (sscanf(r->device, "b%u:%u", &number.major, &number.minor) == 2 &&
      sl_chain_has_number(chain, number)) {
    return r->device;
  }
  const char *colon = r->device[0] == '+' ? strchr(r->device, ':') : NULL;
  return colon ? sl_chain_find(chain, colon + 1) : NULL;
}

const char *sl_kernel_class_name(enum sl_kernel_class c) {
  static const char *const names[] = {[SL_KERNEL_OTHER] = "other",
                                      [SL_KERNEL_WARNING] = "warning",
                                      [SL_KERNEL_ERROR] = "error"};
  return names[c];
}

enum sl_kernel_class sl_kernel_classify(const struct sl_kernel_record *r,
                                        const struct sl_chain *chain) {
  if (r->facility != SL_KERNEL_FACILITY_KERN) return SL_KERNEL_OTHER;
  if (matches(r->text, system_errors, LENGTH(system_errors))) {
    return SL_KERNEL_ERROR;
  }
  if (matches(r->text, system_warnings, LENGTH(system_warnings))) {
    return SL_KERNEL_WARNING;
  }
  if (!sl_kernel_about(r, chain)) return SL_KERNEL_OTHER;
  if (matches(r->text, harmless, LENGTH(harmless))) return SL_KERNEL_OTHER;
  if (matches(r->text, errors, LENGTH(errors))) return SL_KERNEL_ERROR;
  if (matches(r->text, warnings, LENGTH(warnings))) return SL_KERNEL_WARNING;
  /* Not known here, but the kernel itself calls it an error. */
  return r->level <= SL_KERNEL_LEVEL_ERROR ? SL_KERNEL_WARNING
                                           : SL_KERNEL_OTHER;
}
