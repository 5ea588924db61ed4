/* SPDX-License-Identifier: MIT */
/* Opening block devices, and files that devices lie on. */
#include "core/target_rig.h"

static void a_block_device_tells_its_sector(void) {
  if (geteuid() != 0) SKIP("loop devices need root");
  const unsigned sectors[] = {512, 4096};
  for (size_t i = 0; i < 2; i++) {
    rig_open(".");
    char device[64];
    CHECK(rig_loop(1 << 20, sectors[i], device, sizeof device));
    struct sl_grant *grant = rig_grant(device);
    CHECK(grant != NULL);
    CHECK_EQ(open_as((struct sl_target_spec){.path = device,
                                             .write = true,
                                             .create = true,
                                             .truncate = true,
                                             .direct = true}),
             0);
    CHECK(target.is_block && target.is_direct && !target.is_ram);
    CHECK_EQ(target.size_bytes, 1 << 20);
    CHECK_EQ(target.offset_align, sectors[i]);
    CHECK_EQ(target.filesystem_magic, 0);
    close_it();
    sl_gate_close(grant);
    rig_loop_end(device);
    rig_close();
  }
}

static void a_block_device_is_not_written_without_a_grant(void) {
  if (geteuid() != 0) SKIP("loop devices need root");
  rig_open(".");
  char device[64];
  CHECK(rig_loop(1 << 20, 512, device, sizeof device));
  const struct sl_target_spec write = {.path = device, .write = true};
  CHECK_EQ(open_as(write), SL_REFUSED);
  CHECK(strstr(rig_error.hint, "--destroy") != NULL);
  CHECK_EQ(open_as((struct sl_target_spec){.path = device}), 0);
  close_it();
  struct sl_grant *grant = rig_grant(device);
  CHECK(grant != NULL);
  CHECK_EQ(open_as(write), 0);
  close_it();
  sl_gate_close(grant);
  CHECK_EQ(open_as(write), SL_REFUSED);
  rig_loop_end(device);
  rig_close();
}

static void a_file_behind_a_loop_device_is_not_written(void) {
  if (geteuid() != 0) SKIP("loop devices need root");
  rig_open(".");
  char device[64], backing[300], other[2][300];
  CHECK(rig_loop(1 << 20, 512, device, sizeof device));
  snprintf(backing, sizeof backing, "%s/backing", rig_dir);
  snprintf(other[0], sizeof other[0], "%s/hard", rig_dir);
  snprintf(other[1], sizeof other[1], "%s/soft", rig_dir);
  CHECK_EQ(link(backing, other[0]), 0);
  CHECK_EQ(symlink("hard", other[1]), 0);
  const char *names[] = {backing, other[0], other[1]};
  for (size_t i = 0; i < 3; i++) {
    struct sl_target_spec spec = {
        .path = names[i], .write = true, .create = true, .size_bytes = 2 << 20};
    CHECK_EQ(open_as(spec), SL_REFUSED);
    CHECK(strstr(rig_error.hint, "the file lies behind the loop device loop"));
    spec.truncate = true;
    CHECK_EQ(open_as(spec), SL_REFUSED);
    struct stat st;
    CHECK_EQ(stat(backing, &st), 0);
    CHECK_EQ(st.st_size, 1 << 20);
    CHECK_EQ(open_as((struct sl_target_spec){.path = names[i]}), 0);
    close_it();
  }
  /* Through the device it may be. */
  struct sl_grant *grant = rig_grant(device);
  CHECK(grant != NULL);
  CHECK_EQ(open_as((struct sl_target_spec){.path = device, .write = true}), 0);
  close_it();
  sl_gate_close(grant);
  rig_loop_end(device); /* removes backing, not its other name */
  CHECK_EQ(open_as((struct sl_target_spec){.path = other[1], .write = true}),
           0);
  close_it();
  unlink(other[0]);
  unlink(other[1]);
  rig_close();
}

static void btrfs_needs_its_own_sector(void) {
  if (geteuid() != 0) SKIP("loop devices need root");
  if (!rig_command("command -v mkfs.btrfs", NULL, 0)) SKIP("no mkfs.btrfs");
  rig_open(".");
  char device[64], command[700];
  CHECK(rig_loop(UINT64_C(128) << 20, 512, device, sizeof device));
  snprintf(command, sizeof command,
           "mkfs.btrfs -q %s && mkdir %s/mnt && mount %s %s/mnt 2>&1", device,
           rig_dir, device, rig_dir);
  if (rig_command(command, NULL, 0)) {
    char path[300];
    snprintf(path, sizeof path, "%s/mnt/data", rig_dir);
    CHECK_EQ(open_as((struct sl_target_spec){.path = path,
                                             .write = true,
                                             .create = true,
                                             .direct = true,
                                             .size_bytes = 1 << 20}),
             0);
    CHECK_EQ(target.offset_align, 4096);
    close_it();
    snprintf(command, sizeof command, "umount %s/mnt", rig_dir);
    CHECK(rig_command(command, NULL, 0));
  } else {
    printf("btrfs cannot be mounted here\n");
  }
  snprintf(command, sizeof command, "%s/mnt", rig_dir);
  rmdir(command);
  rig_loop_end(device);
  rig_close();
}

int main(void) {
  RUN(a_block_device_tells_its_sector);
  RUN(a_block_device_is_not_written_without_a_grant);
  RUN(a_file_behind_a_loop_device_is_not_written);
  RUN(btrfs_needs_its_own_sector);
  return TEST_DONE();
}
