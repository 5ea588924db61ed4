/* SPDX-License-Identifier: MIT */
#include "core/io/worker_threads.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* They are threads of this process with the name "iou-wrk-<owner>". */
static bool has_name(const char *thread, const char *name) {
  char path[300], text[32];
  snprintf(path, sizeof(path), "/proc/self/task/%.200s/comm", thread);
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  ssize_t n = read(fd, text, sizeof(text) - 1);
  close(fd);
  if (n <= 0) return false;
  text[n] = '\0';
  text[strcspn(text, "\n")] = '\0';
  return strcmp(text, name) == 0;
}

unsigned sl_kernel_workers(void) {
  char name[32];
  unsigned count = 0;
  snprintf(name, sizeof(name), "iou-wrk-%ld", (long)syscall(SYS_gettid));
  name[15] = '\0'; /* the kernel cuts it there */
  DIR *tasks = opendir("/proc/self/task");
  if (!tasks) return 0;
  for (struct dirent *entry; (entry = readdir(tasks));) {
    if (entry->d_name[0] != '.' && has_name(entry->d_name, name)) count++;
  }
  closedir(tasks);
  return count;
}
