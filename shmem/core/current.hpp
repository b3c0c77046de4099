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

/// A PE that does not end while this lives.
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

/// Whether this process was forked from one that had PEs: they are the parent's, and every call on them is EACCES.
[[nodiscard]] bool is_forked_from_pe() noexcept;

/// Keeps it and makes it the calling thread's. Answers its name, which is never used again in this process.
[[nodiscard]] base::Result<std::uint64_t> keep_pe(std::unique_ptr<Pe> pe) noexcept;
/// The calling thread's: the one it kept or used last, else the process's only one. EINVAL: there is none, or there are
/// several to choose from. EACCES: in a forked child. A call costs a few nanoseconds.
[[nodiscard]] base::Result<PeCall> current_pe() noexcept;
[[nodiscard]] base::Result<std::uint64_t> current_name() noexcept;
/// From now on the calling thread's. EINVAL when there is no such PE.
base::Status use_pe(std::uint64_t name) noexcept;
/// Calls it for every PE of this process, none of which ends meanwhile; answers the first error.
base::Status for_each_pe(const std::function<base::Status(Pe&)>& function);
/// Ends a PE. Until it has ended, children forked by other threads know that they have a parent with a PE.
struct EndOfPe {
  void operator()(Pe* pe) const noexcept;
};
using EndingPe = std::unique_ptr<Pe, EndOfPe>;
/// Takes the calling thread's PE out, for its end, once no other thread is in a call on it. EBUSY: this thread is.
/// ETIMEDOUT: another one still is after the PE's limit; nothing has changed.
[[nodiscard]] base::Result<EndingPe> drop_pe() noexcept;

}  // namespace gdrkit::shmem_impl::core
