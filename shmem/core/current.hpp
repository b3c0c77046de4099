// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The PEs of this process, and which of them each thread uses.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "base/result.hpp"
#include "shmem/core/pe.hpp"
#include "shmem/core/running_calls.hpp"

namespace gdrkit::shmem_impl::core {

/// A call on a PE. The PE does not end during the lifetime of this object.
class PeCall {
 public:
  PeCall(CallSlot& slot, Pe* pe) noexcept : slot_(&slot), pe_(pe) {}
  PeCall(PeCall&& other) noexcept : slot_(other.slot_), pe_(other.pe_) { other.slot_ = nullptr; }
  PeCall& operator=(PeCall&&) = delete;
  ~PeCall() {
    if (slot_ != nullptr) end_call(*slot_);
  }
  [[nodiscard]] Pe& operator*() const noexcept { return *pe_; }
  [[nodiscard]] Pe* operator->() const noexcept { return pe_; }

 private:
  CallSlot* slot_;
  Pe* pe_;
};

/// Whether this process was forked from a process that had PEs. Every call on the parent's PEs fails with EACCES.
[[nodiscard]] bool is_forked_from_pe() noexcept;

/// Stores the PE and binds it to the calling thread. Returns its name, which this process never reuses.
[[nodiscard]] base::Result<std::uint64_t> keep_pe(std::unique_ptr<Pe> pe) noexcept;
/// Returns the calling thread's PE: the one that it kept or used last, else the only PE of the process. EINVAL: the
/// process has no PE, or has several. EACCES: this is a forked child. A call costs a few nanoseconds.
[[nodiscard]] base::Result<PeCall> current_pe() noexcept;
[[nodiscard]] base::Result<std::uint64_t> current_name() noexcept;
/// Binds the PE to the calling thread. EINVAL: no PE has this name.
base::Status use_pe(std::uint64_t name) noexcept;
/// Calls `function` for every PE of this process. No PE ends meanwhile. Returns the first error.
base::Status for_each_pe(const std::function<base::Status(Pe&)>& function);
/// Ends a PE. Until it has ended, a child that another thread forks is treated as the child of a process with a PE.
struct EndOfPe {
  void operator()(Pe* pe) const noexcept;
};
using EndingPe = std::unique_ptr<Pe, EndOfPe>;
/// Removes the calling thread's PE, so that the caller can end it, once no other thread is in a call on it. EBUSY: the
/// calling thread is in such a call. ETIMEDOUT: another thread is still in one after the PE's limit. On failure the PE
/// stays.
[[nodiscard]] base::Result<EndingPe> drop_pe() noexcept;

}  // namespace gdrkit::shmem_impl::core
