/* SPDX-License-Identifier: MIT */
#ifndef STORLUA_CORE_DEVICE_GATE_PRIVATE_H
#define STORLUA_CORE_DEVICE_GATE_PRIVATE_H

/* Shared by the gate*.c files only. */

#include <sys/stat.h>

#include "core/device/gate.h"
#include "core/device/reach.h"

/* Adds a reason; those that do not fit are dropped, for one is enough. */
void sl_gate_refuse(struct sl_gate_answer *answer, const char *code,
                    const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Adds a reason for everything but signature and exclusive access. */
void sl_gate_judge(const struct sl_gate_request *request,
                   struct sl_gate_answer *answer);

/* Adds a reason unless the consents name the unit. */
void sl_gate_judge_consent(const struct sl_gate_request *request,
                           struct sl_gate_answer *answer);

/* Adds a reason when the regular file lies behind a loop device. */
void sl_gate_judge_file(const struct stat *st, struct sl_gate_answer *answer);

/* Lists what is on the device and its partitions. */
void sl_gate_list_losses(const struct sl_gate_request *request,
                         struct sl_gate_answer *answer);

/* Registers `fd`, which the grant then owns; NULL without memory. */
struct sl_grant *sl_gate_register(int fd, const struct sl_identity *identity);

/* Number that changes with every plug-in, -1 before Linux 5.15. */
int64_t sl_gate_disk_sequence(int fd);

#endif
