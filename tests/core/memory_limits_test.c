/* SPDX-License-Identifier: MIT */
/* What limits memory: meminfo, cgroups of both kinds, their parents. */
#include "core/memory/limits.h"

#include <sys/stat.h>
#include <unistd.h>

#include "core/test.h"

static const int64_t MIB = 1 << 20;
static char root[64];

static void make(const char *path, const char *text) {
  char full[5000];
  snprintf(full, sizeof full, "%s%s", root, path);
  for (char *slash = full + strlen(root) + 1; (slash = strchr(slash, '/'));
       slash++) {
    *slash = '\0';
    mkdir(full, 0700);
    *slash = '/';
  }
  FILE *file = fopen(full, "w");
  CHECK(file != NULL);
  if (!file) return;
  fputs(text, file);
  fclose(file);
}

static void begin(const char *meminfo) {
  snprintf(root, sizeof root, "/tmp/storlua-limits.XXXXXX");
  CHECK(mkdtemp(root) != NULL);
  make("/proc/meminfo", meminfo);
}

static struct sl_memory_limits end(int code) {
  struct sl_memory_limits limits;
  struct sl_error e;
  CHECK_EQ(sl_memory_limits(root, &limits, &e), code);
  char command[128];
  snprintf(command, sizeof command, "rm -rf %s", root);
  CHECK_EQ(system(command), 0);
  return limits;
}

#define GIGA \
  "MemTotal: 1048576 kB\nMemFree: 400000 kB\nMemAvailable: 819200 kB\n"

static void without_cgroups(void) {
  begin(GIGA);
  const struct sl_memory_limits l = end(0);
  CHECK_EQ(l.total_bytes, 1024 * MIB);
  CHECK_EQ(l.free_bytes, 800 * MIB);
  CHECK_EQ(l.cgroup_limit_bytes, -1);
  CHECK(!l.cgroup_unknown);
  CHECK_EQ(l.reserve_bytes, 1024 * MIB / 10);
  CHECK_EQ(l.room_bytes, l.free_bytes - l.reserve_bytes);
}

static void an_old_kernel_does_not_say_what_is_available(void) {
  begin(
      "MemTotal: 262144 kB\nMemFree: 102400 kB\nCached: 51200 kB\n"
      "Shmem: 10240 kB\n");
  const struct sl_memory_limits l = end(0);
  CHECK_EQ(l.free_bytes, 140 * MIB);
  CHECK_EQ(l.reserve_bytes, 64 * MIB);
}

static void a_small_board_keeps_a_quarter(void) {
  begin("MemTotal: 65536 kB\nMemAvailable: 32768 kB\n");
  const struct sl_memory_limits l = end(0);
  CHECK_EQ(l.reserve_bytes, 16 * MIB);
}

static void a_v2_group_and_its_parents(void) {
  begin(GIGA);
  make("/proc/self/cgroup", "0::/a/b\n");
  make("/proc/self/mounts", "cgroup2 /sys/fs/cgroup cgroup2 rw,nosuid 0 0\n");
  make("/sys/fs/cgroup/a/memory.max", "104857600\n");
  make("/sys/fs/cgroup/a/memory.current", "52428800\n");
  make("/sys/fs/cgroup/a/memory.stat",
       "anon 1\ninactive_file 10485760\nactive_file 5\n");
  make("/sys/fs/cgroup/a/b/memory.max", "max\n");
  make("/sys/fs/cgroup/a/b/memory.current", "1048576\n");
  const struct sl_memory_limits l = end(0);
  CHECK_EQ(l.cgroup_limit_bytes, 100 * MIB);
  CHECK_EQ(l.cgroup_used_bytes, 40 * MIB); /* file pages can be taken back */
  CHECK_EQ(l.free_bytes, 60 * MIB);
  CHECK_EQ(l.reserve_bytes, 10 * MIB);
  CHECK_STR(l.cgroup, "/sys/fs/cgroup/a");
}

static void a_v1_group_without_a_limit_and_with_one(void) {
  for (int limited = 0; limited < 2; limited++) {
    begin(GIGA);
    make("/proc/self/cgroup", "5:cpu:/x\n4:memory:/x\n0::/\n");
    make("/proc/self/mounts",
         "cgroup /sys/fs/cgroup/cpu cgroup rw,cpu 0 0\n"
         "cgroup /sys/fs/cgroup/memory cgroup rw,relatime,memory 0 0\n");
    make("/sys/fs/cgroup/memory/x/memory.limit_in_bytes",
         limited ? "67108864\n" : "9223372036854771712\n");
    make("/sys/fs/cgroup/memory/x/memory.usage_in_bytes", "1048576\n");
    const struct sl_memory_limits l = end(0);
    CHECK_EQ(l.cgroup_limit_bytes, limited ? 64 * MIB : -1);
    CHECK_EQ(l.free_bytes, limited ? 63 * MIB : 800 * MIB);
  }
}

/* "/aaa…/aaa…/", of names of 200 bytes. */
static char *long_path(char *path, unsigned names) {
  for (unsigned i = 0; i < names; i++)
    snprintf(path + (size_t)i * 201, 202, "/%0200u", i);
  return path;
}

static void a_long_path_is_read_to_its_end(void) {
  for (int v2 = 0; v2 < 2; v2++) {
    char group[4096], text[8192];
    long_path(group, 15);
    begin(GIGA);
    snprintf(text, sizeof text, v2 ? "0::%s\n" : "4:memory:%s\n0::/\n", group);
    make("/proc/self/cgroup", text);
    make("/proc/self/mounts",
         v2 ? "cgroup2 /sys/fs/cgroup cgroup2 rw 0 0\n"
            : "cgroup /sys/fs/cgroup cgroup rw,memory 0 0\n");
    snprintf(text, sizeof text, "/sys/fs/cgroup%s/%s", group,
             v2 ? "memory.max" : "memory.limit_in_bytes");
    make(text, "67108864\n");
    snprintf(text, sizeof text, "/sys/fs/cgroup%s/%s", group,
             v2 ? "memory.current" : "memory.usage_in_bytes");
    make(text, "1048576\n");
    const struct sl_memory_limits l = end(0);
    CHECK_EQ(l.cgroup_limit_bytes, 64 * MIB);
    CHECK_EQ(l.free_bytes, 63 * MIB);
    CHECK(!l.cgroup_unknown);
    CHECK_EQ(strlen(l.cgroup), strlen("/sys/fs/cgroup") + 15 * 201);
  }
}

static void a_long_mount_point_is_found(void) {
  char point[4096], text[8192];
  long_path(point, 3);
  begin(GIGA);
  make("/proc/self/cgroup", "0::/\n");
  snprintf(text, sizeof text, "cgroup2 %s cgroup2 rw 0 0\n", point);
  make("/proc/self/mounts", text);
  snprintf(text, sizeof text, "%s/memory.max", point);
  make(text, "67108864\n");
  snprintf(text, sizeof text, "%s/memory.current", point);
  make(text, "1048576\n");
  CHECK_EQ(end(0).cgroup_limit_bytes, 64 * MIB);
}

/* The kernel writes a blank of a mount point as "\040". */
static void a_mount_point_with_blanks_is_found(void) {
  static const char *const lines[] = {
      "cgroup2 /my\\040own\\134groups cgroup2 rw 0 0\n",
      " /my\\040own\\134groups cgroup2 rw 0 0\n", /* without a source */
  };
  for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
    begin(GIGA);
    make("/proc/self/cgroup", "0::/x\n");
    make("/proc/self/mounts", lines[i]);
    make("/my own\\groups/x/memory.max", "67108864\n");
    make("/my own\\groups/x/memory.current", "1048576\n");
    const struct sl_memory_limits l = end(0);
    CHECK_EQ(l.cgroup_limit_bytes, 64 * MIB);
    CHECK_STR(l.cgroup, "/my own\\groups/x");
  }
}

/* The parents of a group that cannot be reached still limit it. */
static void what_cannot_be_read_is_unknown(void) {
  char group[8192], text[16384];
  long_path(group, 30);
  begin(GIGA);
  snprintf(text, sizeof text, "0::/a%s\n", group);
  make("/proc/self/cgroup", text);
  make("/proc/self/mounts", "cgroup2 /sys/fs/cgroup cgroup2 rw 0 0\n");
  make("/sys/fs/cgroup/a/memory.max", "67108864\n");
  make("/sys/fs/cgroup/a/memory.current", "1048576\n");
  struct sl_memory_limits l = end(0);
  CHECK(l.cgroup_unknown);
  CHECK_EQ(l.cgroup_limit_bytes, 64 * MIB);
  begin(GIGA);
  make("/proc/self/cgroup/is/a/folder", ""); /* reading it fails */
  l = end(0);
  CHECK(l.cgroup_unknown);
  CHECK_EQ(l.cgroup_limit_bytes, -1);
}

static void a_full_group_has_no_room(void) {
  begin(GIGA);
  make("/proc/self/cgroup", "0::/../outside\n");
  make("/proc/self/mounts", "cgroup2 /sys/fs/cgroup cgroup2 rw 0 0\n");
  make("/sys/fs/cgroup/memory.max", "1048576\n");
  make("/sys/fs/cgroup/memory.current", "2048576\n");
  const struct sl_memory_limits l = end(0);
  CHECK_EQ(l.free_bytes, 0);
  CHECK_EQ(l.room_bytes, 0);
}

static void a_meminfo_that_says_nothing(void) {
  begin("nonsense\n");
  (void)end(-61 /* ENODATA */);
}

static void this_machine(void) {
  struct sl_memory_limits l;
  struct sl_error e;
  CHECK_EQ(sl_memory_limits(NULL, &l, &e), 0);
  CHECK(l.total_bytes > 0 && l.free_bytes <= l.available_bytes);
}

int main(void) {
  RUN(without_cgroups);
  RUN(an_old_kernel_does_not_say_what_is_available);
  RUN(a_small_board_keeps_a_quarter);
  RUN(a_v2_group_and_its_parents);
  RUN(a_v1_group_without_a_limit_and_with_one);
  RUN(a_long_path_is_read_to_its_end);
  RUN(a_long_mount_point_is_found);
  RUN(a_mount_point_with_blanks_is_found);
  RUN(what_cannot_be_read_is_unknown);
  RUN(a_full_group_has_no_room);
  RUN(a_meminfo_that_says_nothing);
  RUN(this_machine);
  return TEST_DONE();
}
