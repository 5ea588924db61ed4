/* SPDX-License-Identifier: MIT */
#include "core/device/mounts.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "core/test.h"

static char table[] = "mounts_test.XXXXXX";

static int read_text(const char *text, struct sl_mounts *mounts,
                     struct sl_error *e) {
  strcpy(table, "mounts_test.XXXXXX");
  int fd = mkstemp(table);
  if (write(fd, text, strlen(text)) != (ssize_t)strlen(text)) abort();
  close(fd);
  int code = sl_mounts_read(mounts, table, e);
  unlink(table);
  return code;
}

static int id_at(const struct sl_mounts *mounts, const char *path) {
  const struct sl_mount *m = sl_mounts_by_path(mounts, path);
  return m ? m->id : -1;
}

static void fields_and_escapes(void) {
  struct sl_mounts m;
  CHECK_EQ(read_text("36 35 98:0 /mnt\\0401 /mnt/a\\011b\\134c rw,noatime "
                     "master:1 shared:7 - ext3 /dev/my\\040disk rw,a=b\n"
                     "40 36 0:5 / /plain rw - tmpfs  \n",
                     &m, NULL),
           0);
  CHECK_EQ(m.count, 2);
  CHECK_EQ(m.list[0].id, 36);
  CHECK_EQ(m.list[0].parent, 35);
  CHECK_EQ(m.list[0].major, 98);
  CHECK_EQ(m.list[0].minor, 0);
  CHECK_STR(m.list[0].root, "/mnt 1");
  CHECK_STR(m.list[0].point, "/mnt/a\tb\\c");
  CHECK_STR(m.list[0].options, "rw,noatime");
  CHECK_STR(m.list[0].type, "ext3");
  CHECK_STR(m.list[0].source, "/dev/my disk");
  CHECK_STR(m.list[0].super_options, "rw,a=b");
  CHECK_STR(m.list[1].type, "tmpfs");
  CHECK_STR(m.list[1].source, "");
  CHECK_STR(m.list[1].super_options, "");
  sl_mounts_release(&m);
}

/* Two mounts on one point, one more below the covered one. */
static void overmounts_hide(void) {
  struct sl_mounts m;
  CHECK_EQ(read_text("63 62 0:39 / /m rw - tmpfs t2 rw\n"
                     "62 1 7:0 / /m rw - ext4 /dev/loop0 rw\n"
                     "64 62 7:1 / /m/sub rw - ext4 /dev/loop1 rw\n"
                     "65 1 7:0 /sub /b rw - ext4 /dev/loop0 rw\n"
                     "1 0 8:1 / / rw - ext4 /dev/root rw\n",
                     &m, NULL),
           0);
  CHECK_EQ(id_at(&m, "/"), 1);
  CHECK_EQ(id_at(&m, "/m"), 63);
  CHECK_EQ(id_at(&m, "/m/sub/x"), 63);
  CHECK_EQ(id_at(&m, "/mm"), 1);
  CHECK_EQ(id_at(&m, "/b/x"), 65);
  CHECK(sl_mounts_is_reachable(&m, sl_mounts_by_id(&m, 63)));
  CHECK(!sl_mounts_is_reachable(&m, sl_mounts_by_id(&m, 62)));
  CHECK(!sl_mounts_is_reachable(&m, sl_mounts_by_id(&m, 64)));
  CHECK(sl_mounts_is_reachable(&m, sl_mounts_by_id(&m, 65)));
  CHECK(sl_mounts_by_id(&m, 99) == NULL);
  sl_mounts_release(&m);
}

/* A container: parents that are not listed, ids in no order. */
static void unordered_and_partial(void) {
  struct sl_mounts m;
  CHECK_EQ(read_text("222 220 0:52 / /dev rw,nosuid shared:52 - tmpfs t rw\n"
                     "220 189 8:3 /arch / rw shared:50 - ext4 /dev/sda3 rw\n"
                     "93 221 0:59 / /sys/fs ro - tmpfs tmpfs ro\n"
                     "221 220 0:17 / /sys ro shared:51 - sysfs sysfs rw\n",
                     &m, NULL),
           0);
  CHECK_EQ(id_at(&m, "/dev/null"), 222);
  CHECK_EQ(id_at(&m, "/sys/fs/cgroup"), 93);
  CHECK_EQ(id_at(&m, "/home"), 220);
  sl_mounts_release(&m);
  CHECK_EQ(read_text("5 4 8:3 / /data rw - ext4 /dev/sda3 rw\n", &m, NULL), 0);
  CHECK_EQ(id_at(&m, "/data/x"), 5);
  CHECK_EQ(id_at(&m, "/else"), -1);
  sl_mounts_release(&m);
  CHECK_EQ(read_text("", &m, NULL), 0);
  CHECK_EQ(id_at(&m, "/"), -1);
  sl_mounts_release(&m);
}

static void torn_tables_are_refused(void) {
  static const char *const torn[] = {
      "1 0 8:1 / / rw - ext4 /dev/root rw\n2 1 0:5 / /dev rw - tmp",
      ("1 0 8:1 / / rw - ext4 /dev/root rw\n"
       "1 0 8:1 / / rw - ext4 /dev/root rw\n"),
      "1 0 8:1 / / rw - ext4 /dev/root rw\n2 1 0:5 / /dev rw\n",
      "1 0 8:1 / / rw - ext4 /dev/root rw\nx 1 0:5 / /dev rw - a b c\n",
      "1 0 8:1 / / rw - ext4 /dev/root rw\n\n",
      "1 0 8:1 / / rw - ext4 /dev/root rw\n2 1 8 / /dev rw - a b c\n"};
  for (size_t i = 0; i < sizeof torn / sizeof torn[0]; i++) {
    struct sl_mounts m;
    struct sl_error e;
    CHECK_EQ(read_text(torn[i], &m, &e), -EBADMSG);
    CHECK_STR(e.hint, "line 2 is torn");
    CHECK(m.list == NULL && m.text == NULL);
  }
  struct sl_mounts m;
  struct sl_error e;
  CHECK_EQ(sl_mounts_read(&m, "/no/such/table", &e), -ENOENT);
}

static void own_table_and_mount_id(void) {
  struct sl_mounts m;
  CHECK_EQ(sl_mounts_read(&m, NULL, NULL), 0);
  int fd = open("/proc/self/stat", O_PATH);
  const struct sl_mount *proc = sl_mounts_by_id(&m, sl_mount_id_of_fd(fd));
  CHECK(proc != NULL);
  if (proc) {
    CHECK_STR(proc->type, "proc");
    CHECK(sl_mounts_is_reachable(&m, proc));
    CHECK(sl_mounts_by_path(&m, "/proc/self/stat") == proc);
  }
  close(fd);
  CHECK(sl_mount_id_of_fd(fd) < 0);
  sl_mounts_release(&m);
}

int main(void) {
  RUN(fields_and_escapes);
  RUN(overmounts_hide);
  RUN(unordered_and_partial);
  RUN(torn_tables_are_refused);
  RUN(own_table_and_mount_id);
  return TEST_DONE();
}
