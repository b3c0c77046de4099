// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Preloaded, it emulates a system of 1568 CPUs on which the process may also use CPU 1500. It does not include sched.h,
// whose declaration has the type that programs must not use.
#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

enum { cpus = 1568, usable = 1500 };

__attribute__((visibility("default"))) int sched_getaffinity(pid_t pid, size_t size, void* mask);

/// Linux rejects masks that are shorter than its own.
int sched_getaffinity(pid_t pid, size_t size, void* mask) {
  if (size < cpus / 8) {
    errno = EINVAL;
    return -1;
  }
  const long written = syscall(SYS_sched_getaffinity, pid, size, mask);
  if (written < 0) return -1;
  memset((char*)mask + written, 0, size - (size_t)written);
  ((unsigned char*)mask)[usable / 8] |= 1U << usable % 8;
  return 0;
}
