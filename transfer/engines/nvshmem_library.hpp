// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// NvshmemLibrary: the host operations of an installed NVSHMEM, loaded at run time, as bench's loops call them.
#pragma once

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>

#include "transfer/engines/empty_library.hpp"

namespace gdrkit::transfer::engines {

/// One pointer for each function of nvshmem_calls.def.
struct NvshmemCalls {
#define GDRKIT_NVSHMEM_CALL(member, symbol, type, ...) type (*member)(__VA_ARGS__) = nullptr;
#include "transfer/engines/nvshmem_calls.def"
#undef GDRKIT_NVSHMEM_CALL
  int (*cumodule_init)(void* module) = nullptr;  ///< this one and the next are nullptr if NVSHMEM lacks them
  int (*cumodule_finalize)(void* module) = nullptr;
  int (*stream_synchronize)(void* stream) = nullptr;  ///< the CUDA driver's
};

/// Loads `path`, or the library that the system finds if it is "". Throws Failure(cannot_run) with the reason.
[[nodiscard]] NvshmemCalls load_nvshmem(const std::string& path);

/// NVSHMEM's host API has neither put_signal nor waits nor atomics (its atomics only print that they are not
/// implemented, in 3.4 and 3.8). The first two exist on a stream; the loops use them and wait for the stream.
class NvshmemLibrary : public EmptyLibrary {
 public:
  NvshmemLibrary() noexcept = default;
  explicit NvshmemLibrary(const NvshmemCalls& calls) noexcept : calls_(calls) {}
  [[nodiscard]] const NvshmemCalls& calls() const noexcept { return calls_; }

  int put(auto... all) const { return called(calls_.putmem, all...); }
  int get(auto... all) const { return called(calls_.getmem, all...); }
  int p(std::uint64_t* target, std::uint64_t value, int pe) const { return called(calls_.uint64_p, target, value, pe); }
  int g(const std::uint64_t* source, std::uint64_t* value, int pe) const {
    *value = calls_.uint64_g(source, pe);
    return 0;
  }
  int quiet() const { return called(calls_.quiet); }
  int barrier_all() const { return called(calls_.barrier_all); }
  int sync_all() const { return called(calls_.sync_all); }
  // Copies from symmetric memory, at the offset of the target object. The contents do not affect the time.
  int put_signal(void* target, const void*, std::size_t size_bytes, std::uint64_t* signal, std::uint64_t value,
                 int pe) const {
    return put_signal_on_stream(target, target, size_bytes, signal, value, pe, nullptr) | synchronize(nullptr);
  }
  int send_then_wait(void* target, const void*, std::size_t size_bytes, std::uint64_t* signal, std::uint64_t value,
                     int pe) const {
    return put_signal_on_stream(target, target, size_bytes, signal, value, pe, nullptr) |
           wait_on_stream(signal, value, nullptr) | synchronize(nullptr);
  }
  int wait_then_send(void* target, const void*, std::size_t size_bytes, std::uint64_t* signal, std::uint64_t value,
                     int pe) const {
    return wait_on_stream(signal, value, nullptr) |
           put_signal_on_stream(target, target, size_bytes, signal, value, pe, nullptr) | synchronize(nullptr);
  }

  int p_on_stream(auto... all) const { return called(calls_.uint64_p_on_stream, all...); }
  int put_on_stream(auto... all) const { return called(calls_.putmem_on_stream, all...); }
  int get_on_stream(auto... all) const { return called(calls_.getmem_on_stream, all...); }
  int put_signal_on_stream(void* target, const void* source, std::size_t size_bytes, std::uint64_t* signal,
                           std::uint64_t value, int pe, void* stream) const {
    return called(calls_.putmem_signal_on_stream, target, source, size_bytes, signal, value, signal_set_operation, pe,
                  stream);
  }
  int wait_on_stream(std::uint64_t* signal, std::uint64_t value, void* stream) const {
    return called(calls_.signal_wait_until_on_stream, signal, compare_greater_equal, value, stream);
  }
  int quiet_on_stream(void* stream) const { return called(calls_.quiet_on_stream, stream); }
  int barrier_all_on_stream(void* stream) const { return called(calls_.barrier_all_on_stream, stream); }
  int sync_all_on_stream(void* stream) const { return called(calls_.sync_all_on_stream, stream); }
  int synchronize(void* stream) const { return calls_.stream_synchronize(stream) == 0 ? 0 : -EIO; }

  // Over all PEs; the root is PE 0, sums are of floats. The size is that of a PE's part.
  int broadcast(auto... all) const { return checked(calls_.broadcastmem(world, all..., 0)); }
  int broadcast_on_stream(void* target, const void* source, std::size_t size_bytes, void* stream) const {
    return checked(calls_.broadcastmem_on_stream(world, target, source, size_bytes, 0, stream));
  }
  int fcollect(auto... all) const { return checked(calls_.fcollectmem(world, all...)); }
  int fcollect_on_stream(auto... all) const { return checked(calls_.fcollectmem_on_stream(world, all...)); }
  int alltoall(auto... all) const { return checked(calls_.alltoallmem(world, all...)); }
  int alltoall_on_stream(auto... all) const { return checked(calls_.alltoallmem_on_stream(world, all...)); }
  int reduce(auto... all) const { return sum(calls_.float_sum_reduce, all...); }
  int reduce_on_stream(auto... all) const { return sum(calls_.float_sum_reduce_on_stream, all...); }
  int reducescatter(auto... all) const { return sum(calls_.float_sum_reducescatter, all...); }
  int reducescatter_on_stream(auto... all) const { return sum(calls_.float_sum_reducescatter_on_stream, all...); }

 private:
  /// For a function that cannot fail.
  template <class... Arguments>
  static int called(void (*function)(Arguments...), std::type_identity_t<Arguments>... arguments) {
    function(arguments...);
    return 0;
  }
  static constexpr int world = 0;
  static int checked(int code) { return code == 0 ? 0 : -EIO; }
  static int sum(auto function, void* target, const void* source, std::size_t size_bytes, auto... stream) {
    return checked(function(world, static_cast<float*>(target), static_cast<const float*>(source),
                            size_bytes / sizeof(float), stream...));
  }
  static constexpr int signal_set_operation = 9;
  static constexpr int compare_greater_equal = 5;
  NvshmemCalls calls_{};
};

}  // namespace gdrkit::transfer::engines
