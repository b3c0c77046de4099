// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// A second copy of the hook in a library of its own, as libgdrapi and libgdrkit are two copies in one process.
#include "shim/ioctl_hook.hpp"

extern "C" [[gnu::visibility("default")]] void hook_copy_observe(void* library, unsigned number,
                                                                 std::vector<gdrkit::shim::ObservedIoctl>* seen,
                                                                 void (*meanwhile)(void*), void* argument) {
  const gdrkit::shim::IoctlObserver observer(library, number, seen);
  meanwhile(argument);
}
