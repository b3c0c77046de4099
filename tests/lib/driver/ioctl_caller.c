/* SPDX-FileCopyrightText: The gdrkit authors
 * SPDX-License-Identifier: MIT
 * Replaces libcuda in the tests of the hook: a library that imports ioctl and issues the observed one. */
#include <sys/ioctl.h>

int caller_export(int fd, unsigned number) {
  char argument[64] = {7};
  return ioctl(fd, _IOC(_IOC_READ | _IOC_WRITE, 'F', number, sizeof argument), argument);
}
