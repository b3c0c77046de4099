// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// A second copy of the hook in a separate library, as libgdrapi and libgdrkit are two copies in one process.
#include "driver/ioctl_hook.hpp"

extern "C" [[gnu::visibility("default")]] void hook_copy_observe(void* library, unsigned number,
                                                                 std::vector<gdrkit::driver::ObservedIoctl>* seen,
                                                                 void (*meanwhile)(void*), void* argument) {
  const gdrkit::driver::IoctlObserver observer(library, number, seen);
  meanwhile(argument);
}
