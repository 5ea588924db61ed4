/* SPDX-License-Identifier: MIT */
/* Opening, what it finds out, and what it refuses. */
#include "core/io/target.h"

#include "core/workload_rig.h"

static struct sl_target target;

static int open_as(struct sl_target_spec spec) {
  if (!spec.path) spec.path = rig_file;
  memset(&rig_error, 0, sizeof rig_error);
  int code = sl_target_open(&target, &spec, &rig_error);
  CHECK_EQ(code, rig_error.code);
  CHECK((target.fd >= 0) == (code == 0));
  return code;
}

static void close_it(void) {
  CHECK_EQ(sl_target_close(&target, &rig_error), 0);
  CHECK_EQ(target.fd, -1);
  CHECK_EQ(sl_target_close(&target, &rig_error), 0);
}

static void a_missing_file_is_created_only_if_told(void) {
  rig_open("/tmp");
  CHECK_EQ(open_as((struct sl_target_spec){.write = true}), -ENOENT);
  CHECK_STR(rig_error.path, rig_file);
  CHECK(access(rig_file, F_OK) != 0);
  CHECK_EQ(open_as((struct sl_target_spec){
               .write = true, .create = true, .size_bytes = 5000000000}),
           0);
  CHECK_EQ(target.size_bytes, 5000000000);
  CHECK(!target.is_block && !target.is_direct && target.offset_align == 1);
  close_it();
  struct stat st;
  CHECK_EQ(stat(rig_file, &st), 0);
  CHECK_EQ(st.st_size, 5000000000);
  CHECK_EQ(st.st_blocks, 0);
  /* growing only, until told to truncate */
  CHECK_EQ(open_as((struct sl_target_spec){
               .write = true, .create = true, .size_bytes = 10}),
           0);
  CHECK_EQ(target.size_bytes, 5000000000);
  close_it();
  CHECK_EQ(
      open_as((struct sl_target_spec){
          .write = true, .create = true, .truncate = true, .size_bytes = 10}),
      0);
  CHECK_EQ(target.size_bytes, 10);
  close_it();
  CHECK_EQ(open_as((struct sl_target_spec){.create = true, .truncate = true}),
           0);
  CHECK_EQ(target.size_bytes, 10); /* a reader changes nothing */
  close_it();
  rig_close();
}

static void nothing_is_created_in_dev(void) {
  const char *path = "/dev/storlua-no-such-device";
  CHECK_EQ(open_as((struct sl_target_spec){
               .path = path, .write = true, .create = true}),
           -ENOENT);
  CHECK(strstr(rig_error.hint, "/dev") != NULL);
  CHECK(access(path, F_OK) != 0);
  rig_open("/tmp");
  char link[320];
  snprintf(link, sizeof link, "%s/link", rig_dir);
  CHECK_EQ(symlink("/dev/../dev", link), 0);
  char through[400];
  snprintf(through, sizeof through, "%s/storlua-no-such-device", link);
  CHECK_EQ(open_as((struct sl_target_spec){
               .path = through, .write = true, .create = true}),
           -ENOENT);
  CHECK(access(path, F_OK) != 0);
  unlink(link);
  rig_close();
}

static void wrong_kinds_are_refused(void) {
  CHECK_EQ(open_as((struct sl_target_spec){.path = "/tmp", .write = true}),
           -EISDIR);
  CHECK_EQ(open_as((struct sl_target_spec){.path = "/tmp"}), -EISDIR);
  CHECK_EQ(open_as((struct sl_target_spec){.path = "/dev/zero"}), -EINVAL);
  CHECK(strstr(rig_error.hint, "block device") != NULL);
  rig_open("/tmp");
  CHECK_EQ(mkfifo(rig_file, 0600), 0);
  CHECK_EQ(open_as((struct sl_target_spec){.write = false}), -EINVAL);
  CHECK_EQ(open_as((struct sl_target_spec){.write = true}), -EINVAL);
  char lengthy[700];
  memset(lengthy, 'a', sizeof lengthy);
  lengthy[0] = '/';
  lengthy[699] = '\0';
  CHECK_EQ(open_as((struct sl_target_spec){.path = lengthy}), -ENAMETOOLONG);
  rig_close();
}

static void direct_on_a_disk_has_an_alignment(void) {
  rig_open("."); /* the build tree lies on a disk, /tmp perhaps not */
  int code = open_as((struct sl_target_spec){
      .write = true, .create = true, .direct = true, .size_bytes = 1 << 20});
  if (code == 0) {
    CHECK(target.is_direct);
    CHECK(target.offset_align >= 512 && target.offset_align <= 4096);
    CHECK(target.memory_align >= 1 && target.memory_align <= 4096);
    struct sl_error e = {0};
    CHECK_EQ(sl_target_check_alignment(&target, 4096, 8192, &e), 0);
    CHECK_EQ(sl_target_check_alignment(&target, 1000, 0, &e), -EINVAL);
    CHECK(strstr(e.hint, "record_bytes is 1000") != NULL);
    CHECK_EQ(sl_target_check_alignment(&target, 4096, 100, &e), -EINVAL);
    CHECK(strstr(e.hint, "range_offset is 100") != NULL);
    close_it();
  } else {
    CHECK(rig_error.hint[0] != '\0');
  }
  rig_close();
}

static void direct_in_memory_is_refused(const char *type) {
  rig_open("/tmp");
  if (!rig_mount(type, "")) {
    rig_close();
    SKIP("mounting needs root");
  }
  CHECK_EQ(open_as((struct sl_target_spec){
               .write = true, .create = true, .direct = true}),
           -EINVAL);
  CHECK(strstr(rig_error.hint, "keeps data in memory") != NULL);
  CHECK(strstr(rig_error.hint, type) != NULL);
  CHECK_EQ(open_as((struct sl_target_spec){.write = true, .create = true}), 0);
  CHECK(target.is_ram && !target.is_direct);
  close_it();
  rig_unmount();
  rig_close();
}

static void tmpfs_has_no_direct(void) { direct_in_memory_is_refused("tmpfs"); }

static void ramfs_has_no_direct(void) { direct_in_memory_is_refused("ramfs"); }

static void a_read_only_file_system_is_named(void) {
  rig_open("/tmp");
  if (!rig_mount("tmpfs", "") ||
      mount(NULL, rig_dir, NULL, MS_REMOUNT | MS_RDONLY, NULL) != 0) {
    rig_close();
    SKIP("mounting needs root");
  }
  CHECK_EQ(open_as((struct sl_target_spec){.write = true, .create = true}),
           -EROFS);
  CHECK(strstr(rig_error.hint, "read-only") != NULL);
  rig_unmount();
  rig_close();
}

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
  RUN(a_missing_file_is_created_only_if_told);
  RUN(nothing_is_created_in_dev);
  RUN(wrong_kinds_are_refused);
  RUN(direct_on_a_disk_has_an_alignment);
  RUN(tmpfs_has_no_direct);
  RUN(ramfs_has_no_direct);
  RUN(a_read_only_file_system_is_named);
  RUN(a_block_device_tells_its_sector);
  RUN(a_block_device_is_not_written_without_a_grant);
  RUN(a_file_behind_a_loop_device_is_not_written);
  RUN(btrfs_needs_its_own_sector);
  return TEST_DONE();
}
