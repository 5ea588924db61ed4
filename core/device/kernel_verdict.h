/* SPDX-License-Identifier: MIT */
#ifndef STORLUA_CORE_DEVICE_KERNEL_VERDICT_H
#define STORLUA_CORE_DEVICE_KERNEL_VERDICT_H

/* What a line of the kernel's log means for the device under test. */

#include "core/device/chain.h"
#include "core/device/kernel_record.h"

enum sl_kernel_class {
  SL_KERNEL_OTHER,   /* another device's, or harmless */
  SL_KERNEL_WARNING, /* worth showing: a retry, a reset, a mode change */
  SL_KERNEL_ERROR    /* fails the run */
};

/* "other", "warning", "error"; static. */
const char *sl_kernel_class_name(enum sl_kernel_class c);

/* Which of the chain a record is about, by name in its text or by its tag
 * ("b179:0", "+mmc:mmc0:0001"); NULL when it is about something else. */
const char *sl_kernel_about(const struct sl_kernel_record *record,
                            const struct sl_chain *chain);

/* Only lines the kernel itself wrote count, and of those the ones about
 * `chain`; a hung task counts whoever it is, for the kernel does not say what
 * it waits for. */
enum sl_kernel_class sl_kernel_classify(const struct sl_kernel_record *record,
                                        const struct sl_chain *chain);

#endif
