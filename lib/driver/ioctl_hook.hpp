// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Observes the ioctls that libcuda issues on the calling thread, by way of libcuda's own import slots for `ioctl`.
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

/// While alive, records every ioctl with the given command number (`_IOC_TYPE` 'F') that this thread makes through the
/// library's slots; other threads' and other ioctls pass through untouched. One at a time in the process (a lock
/// is held for its life). On destruction each slot gets its old value back, unless another library replaced our entry
/// since. Then its entry stays, and ours continues to pass calls on: this code must never be unloaded.
class IoctlObserver {
 public:
  IoctlObserver(void* library, unsigned command_number, std::vector<ObservedIoctl>* seen) noexcept;
  ~IoctlObserver();
  IoctlObserver(const IoctlObserver&) = delete;
  IoctlObserver& operator=(const IoctlObserver&) = delete;

  /// Fails when no slot was found or none could be written: nothing is recorded then.
  [[nodiscard]] const base::Status& installed() const noexcept { return installed_; }

 private:
  base::Status installed_;
};

}  // namespace gdrkit::driver
