/* SPDX-License-Identifier: MIT */
#include "core/memory/limits.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/octal.h"

static const int64_t MIB = 1 << 20;

/* Room for the root of a test before the longest path. */
enum { PATH_BYTES = SL_CGROUP_BYTES, FULL_BYTES = PATH_BYTES + 512 };

static FILE *open_below(const char *root, const char *path) {
  char full[FULL_BYTES];
  int length = snprintf(full, sizeof full, "%s%s", root ? root : "", path);
  if (length < 0 || (size_t)length >= sizeof full) {
    errno = ENAMETOOLONG;
    return NULL;
  }
  return fopen(full, "re");
}

static int read_meminfo(const char *root, struct sl_memory_limits *l) {
  FILE *file = open_below(root, "/proc/meminfo");
  if (!file) return -errno;
  char line[128];
  int64_t kib, free = -1, cached = 0, unmovable = 0;
  l->total_bytes = l->available_bytes = -1;
  while (fgets(line, sizeof line, file)) {
    if (sscanf(line, "MemTotal: %" SCNd64, &kib) == 1)
      l->total_bytes = kib * 1024;
    else if (sscanf(line, "MemAvailable: %" SCNd64, &kib) == 1)
      l->available_bytes = kib * 1024;
    else if (sscanf(line, "MemFree: %" SCNd64, &kib) == 1)
      free = kib * 1024;
    else if (sscanf(line, "Cached: %" SCNd64, &kib) == 1)
      cached = kib * 1024;
    else if (sscanf(line, "Shmem: %" SCNd64, &kib) == 1)
      unmovable = kib * 1024;
  }
  fclose(file);
  /* Before Linux 3.14 the kernel does not say what is available. */
  if (l->available_bytes < 0 && free >= 0)
    l->available_bytes = free + (cached > unmovable ? cached - unmovable : 0);
  return l->total_bytes > 0 && l->available_bytes >= 0 ? 0 : -ENODATA;
}

/* A number in a file; -1 when there is none, as in "max". */
static int64_t read_number(const char *root, const char *folder,
                           const char *name) {
  char path[PATH_BYTES];
  int length = snprintf(path, sizeof path, "%s/%s", folder, name);
  if (length < 0 || (size_t)length >= sizeof path) return -1;
  FILE *file = open_below(root, path);
  if (!file) return -1;
  uint64_t value = 0;
  int found = fscanf(file, "%" SCNu64, &value);
  fclose(file);
  return found == 1 && value <= INT64_MAX ? (int64_t)value : -1;
}

/* File pages that the kernel takes back when the group needs them. */
static int64_t reclaimable(const char *root, const char *folder,
                           const char *name) {
  char path[PATH_BYTES], line[128];
  int length = snprintf(path, sizeof path, "%s/memory.stat", folder);
  if (length < 0 || (size_t)length >= sizeof path) return 0;
  FILE *file = open_below(root, path);
  if (!file) return 0;
  int64_t bytes = 0;
  size_t name_length = strlen(name);
  while (fgets(line, sizeof line, file)) {
    if (strncmp(line, name, name_length) == 0 && line[name_length] == ' ')
      bytes = strtoll(line + name_length, NULL, 10);
  }
  fclose(file);
  return bytes > 0 ? bytes : 0;
}

enum { NAME_ROOM = 32 }; /* for "/memory.limit_in_bytes" */

struct hierarchy {
  const char *limit, *used, *inactive;
  char *mount, *path; /* from malloc: as long as they are */
};

static void look_at(const char *root, const struct hierarchy *h,
                    const char *folder, struct sl_memory_limits *l) {
  if (strlen(folder) + NAME_ROOM >= PATH_BYTES) {
    l->cgroup_unknown = true;
    return;
  }
  int64_t limit = read_number(root, folder, h->limit);
  int64_t used = read_number(root, folder, h->used);
  /* v1 writes "no limit" as a number near the largest. */
  if (limit < 0 || used < 0 || limit >= l->total_bytes) return;
  int64_t cache = reclaimable(root, folder, h->inactive);
  used = used > cache ? used - cache : 0;
  int64_t headroom = limit > used ? limit - used : 0;
  if (l->cgroup_limit_bytes >= 0 &&
      headroom >= l->cgroup_limit_bytes - l->cgroup_used_bytes)
    return;
  l->cgroup_limit_bytes = limit;
  l->cgroup_used_bytes = used < limit ? used : limit;
  snprintf(l->cgroup, sizeof l->cgroup, "%s", folder);
}

/* From our group up to the root, whose limits hold for us as well. */
static void climb(const char *root, const struct hierarchy *h,
                  struct sl_memory_limits *l) {
  const size_t top = strlen(h->mount), size = top + strlen(h->path) + 1;
  char *folder = malloc(size);
  if (!folder) {
    l->cgroup_unknown = true;
    return;
  }
  snprintf(folder, size, "%s%s", h->mount,
           strcmp(h->path, "/") == 0 ? "" : h->path);
  for (;;) {
    look_at(root, h, folder, l);
    char *slash = strrchr(folder, '/');
    if (strlen(folder) <= top || !slash || (size_t)(slash - folder) < top)
      break;
    *slash = '\0';
  }
  free(folder);
}

/* The lines of a file, however long, until `take` has what it wants.  False
 * when the file ended with an error: of a path that is longer than PATH_MAX
 * the kernel gives ENAMETOOLONG. */
static bool each_line(const char *root, const char *path,
                      bool (*take)(char *line, void *data), void *data) {
  FILE *file = open_below(root, path);
  if (!file) return errno == ENOENT;
  char *line = NULL;
  size_t size = 0;
  bool found = false;
  while (!found && getline(&line, &size, file) > 0) {
    line[strcspn(line, "\n")] = '\0';
    found = take(line, data);
  }
  const bool is_good = found || !ferror(file);
  free(line);
  fclose(file);
  return is_good;
}

struct mount_search {
  const char *type, *option;
  char *point;
};

/* "cgroup2 /sys/fs/cgroup cgroup2 rw,nosuid 0 0"; the source may be empty. */
static bool take_mount(char *line, void *data) {
  struct mount_search *wanted = data;
  (void)strsep(&line, " ");
  char *point = strsep(&line, " "), *type = strsep(&line, " ");
  char *options = strsep(&line, " "), *o;
  if (!options || strcmp(type, wanted->type) != 0) return false;
  bool has = wanted->option == NULL;
  while (!has && (o = strsep(&options, ",")))
    has = strcmp(o, wanted->option) == 0;
  if (!has) return false;
  sl_octal_decode(point);
  wanted->point = strdup(point);
  return has;
}

struct path_search {
  bool v2;
  char *path;
};

/* "4:memory:/a/b" or "0::/a/b" */
static bool take_path(char *line, void *data) {
  struct path_search *wanted = data;
  char *controllers = strchr(line, ':');
  char *where = controllers ? strchr(controllers + 1, ':') : NULL;
  if (!where) return false;
  *where++ = '\0';
  controllers++;
  if (wanted->v2 ? *controllers != '\0' : strcmp(controllers, "memory") != 0)
    return false;
  /* Seen from a cgroup namespace the path may lead out of it: what is
   * mounted is then the only group to be seen. */
  wanted->path = strdup(strncmp(where, "/..", 3) == 0 ? "/" : where);
  return true;
}

static void look_at_hierarchy(const char *root, bool v2, struct hierarchy h,
                              struct sl_memory_limits *l) {
  struct path_search path = {.v2 = v2};
  struct mount_search mount = {v2 ? "cgroup2" : "cgroup", v2 ? NULL : "memory",
                               NULL};
  if (!each_line(root, "/proc/self/cgroup", take_path, &path) ||
      !each_line(root, "/proc/self/mounts", take_mount, &mount))
    l->cgroup_unknown = true;
  h.path = path.path;
  h.mount = mount.point;
  if (h.path && h.mount) climb(root, &h, l);
  free(h.path);
  free(h.mount);
}

static void look_at_cgroups(const char *root, struct sl_memory_limits *l) {
  const struct hierarchy v2 = {.limit = "memory.max",
                               .used = "memory.current",
                               .inactive = "inactive_file"};
  const struct hierarchy v1 = {.limit = "memory.limit_in_bytes",
                               .used = "memory.usage_in_bytes",
                               .inactive = "total_inactive_file"};
  look_at_hierarchy(root, true, v2, l);
  look_at_hierarchy(root, false, v1, l);
}

static int64_t largest(int64_t a, int64_t b) { return a > b ? a : b; }

int sl_memory_limits(const char *root, struct sl_memory_limits *l,
                     struct sl_error *e) {
  *l = (struct sl_memory_limits){.cgroup_limit_bytes = -1,
                                 .cgroup_used_bytes = -1};
  int code = read_meminfo(root, l);
  if (code != 0) return sl_error_set(e, code, "read", "/proc/meminfo", -1);
  look_at_cgroups(root, l);
  l->free_bytes = l->available_bytes;
  l->reserve_bytes = largest(l->total_bytes / 10, 64 * MIB);
  if (l->reserve_bytes > l->total_bytes / 4)
    l->reserve_bytes = l->total_bytes / 4;
  int64_t headroom = l->cgroup_limit_bytes - l->cgroup_used_bytes;
  if (l->cgroup_limit_bytes >= 0 && headroom < l->free_bytes) {
    l->free_bytes = headroom;
    l->reserve_bytes = largest(l->cgroup_limit_bytes / 10, 4 * MIB);
  }
  l->room_bytes =
      l->free_bytes > l->reserve_bytes ? l->free_bytes - l->reserve_bytes : 0;
  return 0;
}
