// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Fault injection: decorators over both interfaces that make chosen calls fail.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "driver/system.hpp"
#include "fakes/cuda_table.hpp"

namespace gdrkit::fakes {

/// How the chosen calls fail. A call without the fault's result (such as a status word) does not fail
/// and is not counted.
struct Fault {
  int errno_value = 0;          ///< returned by system calls, negated
  std::uint32_t rm_status = 0;  ///< RM ioctls succeed as calls and return this in their status word
  int cuda_result = 0;          ///< returned by CUDA calls
};

/// The calls to fail, shared by the two decorators of one machine. Calls of both are counted in their order.
class FaultPlan {
 public:
  static constexpr int never = -1;

  std::size_t alloc_status_at = 28;  ///< in RM_ALLOC: DriverModel::alloc_status_at

  /// Fails the call with this number, from 0 on.
  void fail_call(int number, const Fault& fault);
  /// Fails every call of this name ("mmap", "RM_MAP_MEMORY", "mem_alloc_async").
  void fail_every(const std::string& name, const Fault& fault);
  /// Fails the call of this name with this number, from 0 on, among those of its name.
  void fail_call_of(const std::string& name, int number, const Fault& fault);
  void stop();

  [[nodiscard]] bool was_reached() const;         ///< some call was failed since the plan was made
  [[nodiscard]] std::string failed_call() const;  ///< the name of the last one
  [[nodiscard]] int calls() const;
  [[nodiscard]] std::vector<std::string> log() const;  ///< the names of these calls

  // For the decorators: returns whether this call must fail.
  [[nodiscard]] bool strikes_system(const char* name, bool has_status, Fault* fault);
  [[nodiscard]] bool strikes_cuda(const char* name, Fault* fault);

 private:
  bool strikes(const char* name, Fault* fault);

  mutable std::mutex mutex_;
  Fault fault_;
  int number_ = never;
  std::string every_;
  std::string counted_;  ///< only calls of this name are counted; "": all
  std::vector<std::string> log_;
  bool was_reached_ = false;
  std::string failed_call_;
};

/// A failed call is not made, except close: Linux closes the descriptor even if close fails.
class FaultySystem : public driver::System {
 public:
  FaultySystem(driver::System& inner, FaultPlan& plan) : inner_(inner), plan_(plan) {}

  int open(const char* path, int flags) noexcept override;
  int close(int fd) noexcept override;
  int ioctl(int fd, unsigned long request, void* argument) noexcept override;
  int mmap(void* hint, std::size_t length, int protection, int flags, int fd, off_t offset,
           void** mapped) noexcept override;
  int munmap(void* address, std::size_t length) noexcept override;
  int access(const char* path, int mode) noexcept override;
  int madvise(void* address, std::size_t length, int advice) noexcept override;
  ssize_t read_text(const char* path, char* buffer, std::size_t capacity) noexcept override;
  int node_numbers(const char* path, unsigned* major, unsigned* minor) noexcept override {
    return inner_.node_numbers(path, major, minor);
  }

 private:
  template <class Call>
  auto call_or_fail(const char* name, Call call) noexcept -> decltype(call());

  driver::System& inner_;
  FaultPlan& plan_;
};

/// A failed call is not made, except those that wait or release: CUDA returns the errors of earlier work
/// from them.
class FaultyCuda final : public CudaTable<FaultyCuda> {
 public:
  FaultyCuda(const driver::CudaCalls& inner, FaultPlan& plan);

  template <class Call>
  int around(const char* name, Call call) noexcept;
  int exchange_stream_capture_mode(int* mode) noexcept;

 private:
  template <class Call>
  int call_with_fault(const char* name, bool is_made_anyway, Call call) noexcept;

  FaultPlan& plan_;
};

}  // namespace gdrkit::fakes
