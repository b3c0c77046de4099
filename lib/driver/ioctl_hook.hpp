// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Observes the ioctls that libcuda issues on the calling thread, through libcuda's import slots for `ioctl`.
#pragma once

#include <vector>

#include "base/result.hpp"
#include "driver/cuda.hpp"

namespace gdrkit::driver {

/// The slots (PLT and GOT) through which the loaded library `handle` calls the imported function `symbol`.
struct ImportSlot {
  void** slot;
  bool is_read_only;  ///< inside the library's RELRO segment: writable only after mprotect
};
[[nodiscard]] base::Result<std::vector<ImportSlot>> find_import_slots(void* handle, const char* symbol) noexcept;

/// Records every ioctl with the given command number (`_IOC_TYPE` 'F') that this thread issues through the library's
/// slots, until it is destroyed. Other ioctls, and those of other threads, are only forwarded. An observer holds a lock
/// for its lifetime, so a process has one at a time. The destructor restores each slot, unless another hook has
/// replaced our entry since: then that hook's entry stays, and ours keeps forwarding calls. Never unload this code.
class IoctlObserver {
 public:
  IoctlObserver(void* library, unsigned command_number, std::vector<ObservedIoctl>* seen) noexcept;
  ~IoctlObserver();
  IoctlObserver(const IoctlObserver&) = delete;
  IoctlObserver& operator=(const IoctlObserver&) = delete;

  /// An error if no slot was found or none could be written: then nothing is recorded.
  [[nodiscard]] const base::Status& installed() const noexcept { return installed_; }

 private:
  base::Status installed_;
};

}  // namespace gdrkit::driver
