// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// NvshmemLibrary: the host operations of an installed NVSHMEM, loaded at run time, as bench's loops call them.
#pragma once

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <string>

namespace gdrkit::tools::pgas {

/// Functions of libnvshmem_host.so.3, declared from NVSHMEM's documented API.
struct NvshmemCalls {
  void (*putmem)(void* target, const void* source, std::size_t size_bytes, int pe);
  void (*getmem)(void* target, const void* source, std::size_t size_bytes, int pe);
  void (*uint64_p)(std::uint64_t* target, std::uint64_t value, int pe);
  std::uint64_t (*uint64_g)(const std::uint64_t* source, int pe);
  void (*quiet)();
  void (*barrier_all)();
  void (*sync_all)();
  void* (*calloc)(std::size_t count, std::size_t size_bytes);
  int (*my_pe)();
  void (*vendor_version)(int* major, int* minor, int* patch);
  void (*putmem_signal_on_stream)(void* target, const void* source, std::size_t size_bytes, std::uint64_t* signal,
                                  std::uint64_t value, int operation, int pe, void* stream);
  void (*signal_wait_until_on_stream)(std::uint64_t* signal, int comparison, std::uint64_t value, void* stream);
  int (*get_uniqueid)(void* id);
  int (*set_attr_uniqueid_args)(int pe, int n_pes, const void* id, void* attributes);
  int (*hostlib_init_attr)(unsigned flags, void* attributes);
  void (*hostlib_finalize)();
  int (*cumodule_init)(void* module);  ///< of this and the next, nullptr where it has none
  int (*cumodule_finalize)(void* module);
  int (*stream_synchronize)(void* stream);  ///< the CUDA driver's
};

/// From `path`, or "" where the system finds it. Throws Failure(cannot_run) with the reason.
[[nodiscard]] NvshmemCalls load_nvshmem(const std::string& path);

/// NVSHMEM's host API has neither put_signal nor waits nor atomics (its atomics only print that they are not
/// implemented, in 3.4 and 3.8). The first two exist on a stream; the loops use that and wait for the stream.
class NvshmemLibrary {
 public:
  NvshmemLibrary() noexcept = default;
  explicit NvshmemLibrary(const NvshmemCalls& calls) noexcept : calls_(calls) {}
  [[nodiscard]] const NvshmemCalls& calls() const noexcept { return calls_; }

  int put(void* target, const void* source, std::size_t size_bytes, int pe) const {
    calls_.putmem(target, source, size_bytes, pe);
    return 0;
  }
  int get(void* target, const void* source, std::size_t size_bytes, int pe) const {
    calls_.getmem(target, source, size_bytes, pe);
    return 0;
  }
  int p(std::uint64_t* target, std::uint64_t value, int pe) const {
    calls_.uint64_p(target, value, pe);
    return 0;
  }
  int g(const std::uint64_t* source, std::uint64_t* value, int pe) const {
    *value = calls_.uint64_g(source, pe);
    return 0;
  }
  int quiet() const {
    calls_.quiet();
    return 0;
  }
  int barrier_all() const {
    calls_.barrier_all();
    return 0;
  }
  int sync_all() const {
    calls_.sync_all();
    return 0;
  }
  // All from symmetric memory: where the own object lies. What it holds does not matter to the time.
  int put_signal(void* target, const void*, std::size_t size_bytes, std::uint64_t* signal, std::uint64_t value,
                 int pe) const {
    send(target, size_bytes, signal, value, pe);
    return synchronize();
  }
  int send_then_wait(void* target, const void*, std::size_t size_bytes, std::uint64_t* signal, std::uint64_t value,
                     int pe) const {
    send(target, size_bytes, signal, value, pe);
    calls_.signal_wait_until_on_stream(signal, compare_greater_equal, value, nullptr);
    return synchronize();
  }
  int wait_then_send(void* target, const void*, std::size_t size_bytes, std::uint64_t* signal, std::uint64_t value,
                     int pe) const {
    calls_.signal_wait_until_on_stream(signal, compare_greater_equal, value, nullptr);
    send(target, size_bytes, signal, value, pe);
    return synchronize();
  }
  int signal_set(std::uint64_t*, std::uint64_t, int) const { return -EOPNOTSUPP; }
  int atomic_fetch(std::uint64_t*, int) const { return -EOPNOTSUPP; }
  int atomic_set(std::uint64_t*, std::uint64_t, int) const { return -EOPNOTSUPP; }
  int atomic_add(std::uint64_t*, std::uint64_t, int) const { return -EOPNOTSUPP; }
  int atomic_fetch_add(std::uint64_t*, std::uint64_t, int) const { return -EOPNOTSUPP; }
  int atomic_swap(std::uint64_t*, std::uint64_t, int) const { return -EOPNOTSUPP; }
  int atomic_compare_swap(std::uint64_t*, std::uint64_t, std::uint64_t, int) const { return -EOPNOTSUPP; }

 private:
  static constexpr int signal_set_operation = 9;
  static constexpr int compare_greater_equal = 5;
  void send(void* target, std::size_t size_bytes, std::uint64_t* signal, std::uint64_t value, int pe) const {
    calls_.putmem_signal_on_stream(target, target, size_bytes, signal, value, signal_set_operation, pe, nullptr);
  }
  [[nodiscard]] int synchronize() const { return calls_.stream_synchronize(nullptr) == 0 ? 0 : -EIO; }

  NvshmemCalls calls_{};
};

}  // namespace gdrkit::tools::pgas
