/* SPDX-License-Identifier: MIT */
#include "core/device/loop_backing.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/loop.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

/* The kernel's own encoding, the same for every C library. */
static struct sl_device_number decode(uint64_t number) {
  return (struct sl_device_number){
      (unsigned)((number >> 8) & 0xfff),
      (unsigned)((number & 0xff) | ((number >> 12) & 0xfff00))};
}

int sl_loop_file_read(const char *node, struct sl_loop_file *file) {
  struct loop_info64 info;

  int fd = open(node, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0) return -errno;
  int code = ioctl(fd, LOOP_GET_STATUS64, &info) == 0 ? 0 : -errno;
  close(fd);
  if (code != 0) return code;
  file->file_device = decode(info.lo_device);
  file->inode = info.lo_inode;
  /* Of a regular file the driver repeats the number of its file system. */
  file->is_block = info.lo_rdevice != 0 && info.lo_rdevice != info.lo_device;
  file->block = decode(info.lo_rdevice);
  return 0;
}

/* Inode of the file behind the device; 0 unknown. */
static uint64_t inode_behind(const char *node) {
  struct sl_loop_file file;
  return node && sl_loop_file_read(node, &file) == 0 ? file.inode : 0;
}

/* The kernel appends " (deleted)" to the name, but a file may also be called
 * that.  Only the inode tells. */
static void resolve_deleted(struct sl_loop_backing *loop, const char *node) {
  static const char mark[] = " (deleted)";
  const size_t mark_length = sizeof mark - 1;
  size_t length = strlen(loop->path);
  struct stat st;

  loop->is_deleted = false;
  if (length <= mark_length) return;
  if (strcmp(loop->path + length - mark_length, mark) != 0) return;
  if (stat(loop->path, &st) == 0) {
    uint64_t inode = inode_behind(node);
    if (inode == 0 || inode == (uint64_t)st.st_ino) return;
  }
  loop->is_deleted = true;
  loop->path[length - mark_length] = '\0';
}

int sl_loop_backing_read(const char *directory, const char *node,
                         struct sl_loop_backing *loop) {
  ssize_t length = sl_sysfs_text(directory, "loop/backing_file", loop->path,
                                 sizeof loop->path);
  if (length < 0) return (int)length;
  if (length == 0) return -ENOENT;
  resolve_deleted(loop, node);
  loop->direct = (int)sl_sysfs_number(directory, "loop/dio");
  loop->offset_bytes = sl_sysfs_number(directory, "loop/offset");
  loop->size_limit_bytes = sl_sysfs_number(directory, "loop/sizelimit");
  return 0;
}

#define BLOCK_CLASS "/sys/class/block"

static bool is_over(const char *name, struct sl_device_number file_device,
                    uint64_t inode) {
  char node[300], directory[300];
  struct sl_loop_backing loop;
  struct sl_loop_file file;
  struct stat st;

  /* There only while a file is attached; free ones are not even opened. */
  snprintf(directory, sizeof directory, BLOCK_CLASS "/%s/loop", name);
  if (access(directory, F_OK) != 0) return false;
  snprintf(node, sizeof node, "/dev/%s", name);
  int code = sl_loop_file_read(node, &file);
  if (code == 0) {
    return file.inode == inode && sl_same_device(file.file_device, file_device);
  }
  if (code == -ENXIO) return false; /* detached meanwhile */
  *strrchr(directory, '/') = '\0';
  return sl_loop_backing_read(directory, NULL, &loop) == 0 &&
         stat(loop.path, &st) == 0 && (uint64_t)st.st_ino == inode &&
         major(st.st_dev) == file_device.major &&
         minor(st.st_dev) == file_device.minor;
}

void sl_loop_each_over(struct sl_device_number file_device, uint64_t inode,
                       void (*found)(void *user, const char *name),
                       void *user) {
  struct dirent *entry;

  DIR *list = opendir(BLOCK_CLASS);
  while (list && (entry = readdir(list))) {
    const char *name = entry->d_name;
    if (strncmp(name, "loop", 4) != 0) continue;
    if (strchr(name, 'p') != strrchr(name, 'p')) continue; /* loop0p1 */
    if (is_over(name, file_device, inode)) found(user, name);
  }
  if (list) closedir(list);
}
