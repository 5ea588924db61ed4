/* SPDX-License-Identifier: MIT */
#ifndef STORLUA_CORE_DEVICE_GATE_H
#define STORLUA_CORE_DEVICE_GATE_H

/* The safety gate: nothing in this project writes to a block device without a
 * grant for its number, nor to a file behind a loop device.
 *
 * A grant is given when nobody uses the device, the unit was named by the
 * caller, nothing known lies on it (or the caller said to overwrite it), and
 * the kernel gave us exclusive access; it holds that access until it is
 * closed.  Whatever cannot be found out refuses.
 *
 * sl_gate_open blocks: for job threads.  The register of grants is the one
 * thing the process shares; any thread may ask it. */

#include <stdbool.h>

#include "core/base/error.h"
#include "core/device/identity.h"

enum {
  SL_GATE_REASONS_MAX = 12,
  SL_GATE_LOSSES_MAX = 16,
  SL_GATE_TEXT_BYTES = 512
};

struct sl_gate_request {
  const char *path;            /* any name of the device */
  const char *const *consents; /* units, or links in /dev/disk/by-id */
  unsigned consent_count;
  bool force_signature;           /* overwrite what is recognised */
  const struct sl_system *system; /* NULL: the real one */
};

struct sl_gate_reason {
  const char *code; /* "mounted", "swap", "consent", …; static */
  char text[SL_GATE_TEXT_BYTES];
};

struct sl_gate_answer {
  struct sl_identity identity; /* name "" where it could not be had */
  unsigned reason_count;       /* 0: granted */
  struct sl_gate_reason reasons[SL_GATE_REASONS_MAX];
  unsigned loss_count; /* what is on it: "sda1: ext4 \"data\"" */
  char losses[SL_GATE_LOSSES_MAX][SL_GATE_TEXT_BYTES];
};

struct sl_grant; /* opaque */

/* 0 and *grant; SL_REFUSED with the reasons in *answer; a negative errno when
 * the path leads to no block device.  One that is busy only is asked again for
 * half a second.  *answer is large: not on a stack.  May block. */
int sl_gate_open(const struct sl_gate_request *request,
                 struct sl_gate_answer *answer, struct sl_grant **grant,
                 struct sl_error *e);

/* Ends the grant.  Flushes what is in the page cache, so it may block. */
void sl_gate_close(struct sl_grant *grant);

/* Whether a grant for this number is held. */
bool sl_gate_is_granted(struct sl_device_number device);

/* A duplicate of the grant's exclusive descriptor, for the caller to close; 0
 * without a grant. */
int sl_gate_duplicate(struct sl_device_number device);

/* 0 when `fd`, just opened for writing at `path`, is a block device with a
 * grant that is still the unit it was given for, or a file that lies behind no
 * loop device; SL_REFUSED with the reason in the hint.  May block. */
int sl_gate_check(int fd, const char *path, struct sl_error *e);

#endif
