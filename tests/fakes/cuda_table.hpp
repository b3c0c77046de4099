// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// CudaTable: makes an object of a test a table of CUDA driver functions, as an emulated driver or as a decorator.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <stdexcept>

#include "driver/cuda.hpp"

namespace gdrkit::fakes {

/// Base of `T`. A function of the table calls the object's public member function of the same name. Without such a
/// member, a decorator's function calls `around(name, call)`, in which `call()` is the inner table's function, and is
/// missing if that is missing; an emulated driver's function is not supported.
template <class T>
class CudaTable {
 public:
  CudaTable(const CudaTable&) = delete;
  CudaTable& operator=(const CudaTable&) = delete;

  [[nodiscard]] const driver::CudaCalls& calls() const noexcept { return calls_; }
  operator const driver::CudaCalls&() const noexcept { return calls_; }

 protected:
  CudaTable() { take<0>(); }
  explicit CudaTable(const driver::CudaCalls& inner) : inner_(&inner) { take<0>(); }
  ~CudaTable() { *slot_ = nullptr; }

  const driver::CudaCalls* inner_ = nullptr;

 private:
  /// A function of the table has no argument for its object, so the functions exist once for each live object.
  static constexpr int slots = 4;
  static inline std::array<std::atomic<T*>, slots> objects{};

  template <int slot, auto member>
  struct Own;
  template <int slot, class... Arguments, bool silent, int (T::*member)(Arguments...) noexcept(silent)>
  struct Own<slot, member> {
    static int call(Arguments... arguments) { return (objects[slot].load()->*member)(arguments...); }
  };
  template <int slot, auto member>
  struct Other;
  template <int slot, class... Arguments, int (*driver::CudaCalls::*member)(Arguments...)>
  struct Other<slot, member> {
    static inline const char* name = "";
    static int call([[maybe_unused]] Arguments... arguments) {
      if constexpr (requires(T & object) { object.around("", [] { return 0; }); }) {
        T& object = *objects[slot].load();
        return object.around(name, [&] { return (object.inner_->*member)(arguments...); });
      } else {
        return driver::cuda_error_not_supported;
      }
    }
  };

  template <int slot>
  void take() {
    T* nobody = nullptr;
    if (objects[slot].compare_exchange_strong(nobody, static_cast<T*>(this))) {
      slot_ = &objects[slot];
#define GDRKIT_CUDA_CALL(member, symbol, ...)                       \
  if constexpr (requires { &T::member; }) {                         \
    calls_.member = &Own<slot, &T::member>::call;                   \
  } else if (inner_ == nullptr || inner_->member != nullptr) {      \
    calls_.member = &Other<slot, &driver::CudaCalls::member>::call; \
    Other<slot, &driver::CudaCalls::member>::name = #member;        \
  }
#include "driver/cuda_calls.def"
      GDRKIT_CUDA_CALL(export_dmabuf, , )
#undef GDRKIT_CUDA_CALL
      return;
    }
    if constexpr (slot + 1 < slots) return take<slot + 1>();
    throw std::logic_error("too many simultaneous CUDA drivers of one type");
  }

  driver::CudaCalls calls_;
  std::atomic<T*>* slot_ = nullptr;
};

/// The results of an emulated driver's cuPointerGetAttributes for an address.
struct PointerResults {
  driver::PointerAttributes attributes;
  std::uint64_t device_address = 0;
  std::uint64_t host_address = 0;

  [[nodiscard]] int put(unsigned count, const int* numbers, void** targets) const {
    constexpr int invalid_value = 1;
    for (unsigned at = 0; at < count; ++at) {
      const auto put = [&](const auto& value) { std::memcpy(targets[at], &value, sizeof value); };
      switch (numbers[at]) {
        case 1: put(attributes.context); break;
        case 2: put(attributes.memory_type); break;
        case 3: put(device_address); break;
        case 4: put(host_address); break;
        case 7: put(attributes.buffer_id); break;
        case 8: put(attributes.is_managed); break;
        case 9: put(attributes.device_ordinal); break;
        case 10: put(attributes.is_legacy_ipc_capable); break;
        case 11: put(attributes.range_start); break;
        case 12: put(attributes.range_size); break;
        case 14: put(attributes.allowed_handle_types); break;
        case 18: put(attributes.mapping_size); break;
        case 19: put(attributes.mapping_base); break;
        default: return invalid_value;
      }
    }
    return 0;
  }
};

}  // namespace gdrkit::fakes
