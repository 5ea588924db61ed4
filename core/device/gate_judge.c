/* SPDX-License-Identifier: MIT */
/* Who uses the device, and what would be lost. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "core/device/gate_private.h"
#include "core/device/loop_backing.h"
#include "core/device/openers.h"
#include "core/device/signature.h"
#include "core/device/use.h"

static const char *const use_codes[] = {[SL_USE_MOUNT] = "mounted",
                                        [SL_USE_JOURNAL] = "mounted",
                                        [SL_USE_SWAP] = "swap",
                                        [SL_USE_HOLDER] = "holder",
                                        [SL_USE_LOOP] = "loop"};

static void judge_kind(struct sl_gate_answer *answer) {
  const struct sl_identity *id = &answer->identity;
  size_t digits = strspn(id->name + 6, "0123456789");
  bool is_mmc = strncmp(id->name, "mmcblk", 6) == 0;

  if (id->kind == SL_DEVICE_EMMC_BOOT || id->kind == SL_DEVICE_EMMC_RPMB ||
      (is_mmc && strncmp(id->name + 6 + digits, "gp", 2) == 0)) {
    sl_gate_refuse(answer, "boot_area",
                   "%s is a special area of the eMMC %s: what is there "
                   "makes the board start",
                   id->name, id->parent);
  }
  if (id->size_bytes == 0) {
    sl_gate_refuse(answer, "no_medium", "there is no medium in it: 0 bytes");
  }
  if (id->read_only != 0) {
    sl_gate_refuse(answer, "read_only",
                   id->read_only > 0 ? "it is read-only"
                                     : "whether it is read-only is not known");
  }
}

static bool is_reached(const void *user, struct sl_device_number number) {
  return sl_reach_find(user, number) != NULL;
}

static void judge_uses(const struct sl_uses *uses, const struct sl_reach *reach,
                       struct sl_gate_answer *answer) {
  char text[SL_GATE_TEXT_BYTES - 80];
  struct sl_opener opener;

  for (size_t i = 0; i < uses->count; i++) {
    const struct sl_use *use = &uses->list[i];
    const struct sl_reached *reached = sl_reach_find(reach, use->device);
    if (!reached) continue;
    /* What lies below the target is held by the target itself. */
    if (use->holder[0] && sl_reach_find(reach, use->holder_number)) continue;
    sl_gate_refuse(answer, use_codes[use->kind], "%.63s %s", reached->name,
                   sl_use_text(uses, use, text, sizeof text));
  }
  if (sl_openers_find(is_reached, reach, true, &opener)) {
    sl_gate_refuse(answer, "busy", "process %ld (%s) has it open for writing",
                   (long)opener.pid, opener.name);
  }
}

struct over {
  const char *what;
  const char *except; /* a loop device of this name is meant to be there */
  struct sl_gate_answer *answer;
};

static void refuse_over(void *user, const char *name) {
  const struct over *over = user;
  if (strcmp(name, over->except) == 0) return;
  sl_gate_refuse(over->answer, "loop", "%s lies behind the loop device %s",
                 over->what, name);
}

void sl_gate_judge_file(const struct stat *st, struct sl_gate_answer *answer) {
  struct over over = {"the file", "", answer};
  sl_loop_each_over(
      (struct sl_device_number){major(st->st_dev), minor(st->st_dev)},
      (uint64_t)st->st_ino, refuse_over, &over);
}

void sl_gate_judge(const struct sl_gate_request *request,
                   struct sl_gate_answer *answer) {
  const struct sl_identity *id = &answer->identity;
  struct sl_reach *reach = calloc(1, sizeof *reach);
  struct sl_loop_file file;
  struct sl_uses uses;
  struct sl_error e;

  judge_kind(answer);
  if (reach) sl_reach_add(reach, request->system, id->number);
  if (!reach || reach->is_cut) {
    sl_gate_refuse(answer, "unknown",
                   "not everything that belongs to it can be listed");
  } else if (sl_uses_read(request->system, &uses, &e) != 0) {
    char text[300];
    sl_gate_refuse(answer, "unknown", "who uses it cannot be found out: %s",
                   sl_error_text(&e, text, sizeof text));
  } else {
    judge_uses(&uses, reach, answer);
    sl_uses_release(&uses);
  }
  free(reach);
  if (id->is_loop_attached && sl_loop_file_read(request->path, &file) == 0) {
    struct over over = {"its backing file",
                        id->parent[0] ? id->parent : id->name, answer};
    sl_loop_each_over(file.file_device, file.inode, refuse_over, &over);
  }
  sl_gate_judge_consent(request, answer);
}

static void add_loss(struct sl_gate_answer *answer, const char *name,
                     const char *node) {
  struct sl_signature s;

  if (answer->loss_count == SL_GATE_LOSSES_MAX) return;
  sl_signature_read_node(node, &s);
  if (!s.type[0] && !s.table[0]) return;
  snprintf(answer->losses[answer->loss_count++], SL_GATE_TEXT_BYTES,
           "%s: %s%s%s%s%s", name, s.type[0] ? s.type : s.table,
           s.type[0] ? "" : " partition table", s.label[0] ? " \"" : "",
           s.label, s.label[0] ? "\"" : "");
}

void sl_gate_list_losses(const struct sl_gate_request *request,
                         struct sl_gate_answer *answer) {
  const struct sl_identity *id = &answer->identity;
  char node[SL_KERNEL_NAME_BYTES + 8];
  struct sl_reach *reach = calloc(1, sizeof *reach);

  if (reach && id->name[0] && !id->parent[0]) {
    sl_reach_add(reach, request->system, id->number);
  }
  if (id->kind != SL_DEVICE_EMMC_BOOT && id->kind != SL_DEVICE_EMMC_RPMB) {
    if (id->node[0]) add_loss(answer, id->name, id->node);
    for (unsigned i = 1; reach && i < reach->count; i++) {
      snprintf(node, sizeof node, "/dev/%s", reach->list[i].name);
      add_loss(answer, reach->list[i].name, node);
    }
  }
  free(reach);
}
