/* SPDX-License-Identifier: MIT */
/* no_huge CMD ARG…: runs a command without transparent huge pages, as on a
 * kernel that has none. */
#include <stdio.h>
#include <sys/prctl.h>
#include <unistd.h>

int main(int argc, char **argv) {
  if (argc < 2 || prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0) != 0) {
    perror("no_huge");
    return 2;
  }
  execvp(argv[1], argv + 1);
  perror(argv[1]);
  return 127;
}
