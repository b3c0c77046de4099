// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Common parts of C API functions: find the thread's PE, and convert errors to a negative errno and a stored message.
#pragma once

// Include it before headers that include it too: functions that it declares are exported.
#pragma GCC visibility push(default)
#include "gdrkit/detail/shmem_private.h"
#pragma GCC visibility pop

#include "base/result.hpp"
#include "shmem/core/current.hpp"

namespace gdrkit::shmem_impl::capi {

/// Stores its text for gdrkit_shmem_last_error(). Returns the negative errno.
int keep_error(const base::Error& error) noexcept;

template <class T>
int error_of(const base::Result<T>& failed) noexcept {
  return keep_error(failed.error());
}

inline int code_of(const base::Status& done) noexcept { return done ? 0 : error_of(done); }

/// Calls `function(pe)` for the thread's PE. Returns its value or 0, or a negative errno.
template <class Function>
int with_pe(Function function) noexcept {
  const auto pe = core::current_pe();
  if (!pe) return error_of(pe);
  const auto result = function(**pe);
  if (!result) return error_of(result);
  if constexpr (requires { int{*result}; }) {
    return *result;
  } else {
    return 0;
  }
}

inline base::Status refuse_null(const char* what) noexcept {
  return base::fail(EINVAL, "invalid argument: the pointer to %s is NULL", what);
}

/// Like with_pe, for a function that returns a value. Stores it in *value on success only. `what` names it in errors.
template <class T, class Function>
int value_with_pe(T* value, const char* what, Function function) noexcept {
  return with_pe([&](core::Pe& self) -> base::Status {
    if (value == nullptr) return refuse_null(what);
    const base::Result<T> made = function(self);
    if (!made) return base::pass(made);
    *value = *made;
    return {};
  });
}

template <class Function>
int address_with_pe(void** address, Function function) noexcept {
  return value_with_pe(address, "the returned address", function);
}

inline base::Status check_signal(gdrkit_shmem_signal operation) noexcept {
  if (operation == GDRKIT_SHMEM_SIGNAL_SET || operation == GDRKIT_SHMEM_SIGNAL_ADD) return {};
  return base::fail(EINVAL, "invalid signal operation %d: use GDRKIT_SHMEM_SIGNAL_SET or GDRKIT_SHMEM_SIGNAL_ADD",
                    static_cast<int>(operation));
}

inline base::Result<parts::Word> word_of(const void* address, gdrkit_shmem_word word,
                                         gdrkit_shmem_comparison comparison) {
  if (comparison < GDRKIT_SHMEM_EQ || comparison > GDRKIT_SHMEM_GE) {
    return base::fail(EINVAL, "invalid comparison %d: use a value of enum gdrkit_shmem_comparison",
                      static_cast<int>(comparison));
  }
  const int size = word < 0 ? -static_cast<int>(word) : static_cast<int>(word);
  if (size != 2 && size != 4 && size != 8) {
    return base::fail(EINVAL, "invalid word type %d: use a value of enum gdrkit_shmem_word (2, 4 or 8 bytes)",
                      static_cast<int>(word));
  }
  return parts::Word{address, static_cast<std::size_t>(size), word < 0};
}

}  // namespace gdrkit::shmem_impl::capi
