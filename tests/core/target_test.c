/* SPDX-License-Identifier: MIT */
/* Opening, what it finds out, and what it refuses. */
#include "core/target_rig.h"

static void a_missing_file_is_created_only_if_told(void) {
  rig_open("/tmp");
  CHECK_EQ(open_as((struct sl_target_spec){.write = true}), -ENOENT);
  CHECK_STR(rig_error.path, rig_file);
  CHECK(access(rig_file, F_OK) != 0);
  CHECK_EQ(open_and_resize((struct sl_target_spec){
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
  CHECK_EQ(open_and_resize((struct sl_target_spec){
               .write = true, .create = true, .size_bytes = 10}),
           0);
  CHECK_EQ(target.size_bytes, 5000000000);
  close_it();
  CHECK_EQ(
      open_and_resize((struct sl_target_spec){
          .write = true, .create = true, .truncate = true, .size_bytes = 10}),
      0);
  CHECK_EQ(target.size_bytes, 10);
  close_it();
  CHECK_EQ(open_and_resize(
               (struct sl_target_spec){.create = true, .truncate = true}),
           0);
  CHECK_EQ(target.size_bytes, 10); /* a reader changes nothing */
  close_it();
  rig_close();
}

static void nothing_is_changed_before_it_is_resized(void) {
  rig_open("/tmp");
  struct stat st;
  struct sl_target_spec spec = {
      .write = true, .create = true, .truncate = true, .size_bytes = 10};
  CHECK_EQ(open_as(spec), 0);
  CHECK_EQ(target.size_bytes, 10);
  CHECK_EQ(access(rig_file, F_OK), 0);
  close_it();
  CHECK(access(rig_file, F_OK) != 0); /* it had made that */

  int fd = open(rig_file, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  CHECK(fd >= 0);
  CHECK_EQ(write(fd, "precious", 8), 8);
  close(fd);
  CHECK_EQ(open_as(spec), 0);
  CHECK_EQ(target.size_bytes, 10); /* as it will be */
  CHECK_EQ(stat(rig_file, &st), 0);
  CHECK_EQ(st.st_size, 8);
  close_it();
  CHECK_EQ(stat(rig_file, &st), 0);
  CHECK_EQ(st.st_size, 8);
  spec.size_bytes = 0;
  CHECK_EQ(open_and_resize(spec), 0);
  CHECK_EQ(stat(rig_file, &st), 0);
  CHECK_EQ(st.st_size, 0);
  close_it();
  rig_close();
}

static void a_link_to_no_file_yet_makes_it(void) {
  rig_open("/tmp");
  char name[320];
  snprintf(name, sizeof name, "%s/link", rig_dir);
  CHECK_EQ(symlink("data", name), 0);
  CHECK_EQ(open_and_resize((struct sl_target_spec){
               .path = name, .write = true, .create = true}),
           0);
  CHECK_EQ(access(rig_file, F_OK), 0);
  close_it();
  unlink(name);
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
  rig_close();
}

static void a_path_is_as_long_as_the_kernel_takes(void) {
  static char lengthy[SL_TARGET_PATH_BYTES + 1];
  rig_open("/tmp");
  size_t name = strlen(rig_file) - strlen(rig_dir);
  size_t room = SL_TARGET_PATH_BYTES - 1 - strlen(rig_file);
  strcpy(lengthy, rig_dir);
  for (size_t i = 0; i < room / 2; i++)
    strcat(lengthy, "/.");
  strcat(lengthy, rig_file + strlen(rig_file) - name);
  CHECK(strlen(lengthy) >= SL_TARGET_PATH_BYTES - 2);
  struct sl_target_spec spec = {.path = lengthy, .write = true, .create = true};
  CHECK_EQ(open_as(spec), 0);
  close_it();
  memset(lengthy, '/', SL_TARGET_PATH_BYTES);
  CHECK_EQ(open_as(spec), -ENAMETOOLONG);
  CHECK(strstr(rig_error.hint, "4095 bytes") != NULL);
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
  CHECK(access(rig_file, F_OK) != 0);
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

int main(void) {
  RUN(a_missing_file_is_created_only_if_told);
  RUN(nothing_is_changed_before_it_is_resized);
  RUN(a_link_to_no_file_yet_makes_it);
  RUN(nothing_is_created_in_dev);
  RUN(wrong_kinds_are_refused);
  RUN(a_path_is_as_long_as_the_kernel_takes);
  RUN(direct_on_a_disk_has_an_alignment);
  RUN(tmpfs_has_no_direct);
  RUN(ramfs_has_no_direct);
  RUN(a_read_only_file_system_is_named);
  return TEST_DONE();
}
