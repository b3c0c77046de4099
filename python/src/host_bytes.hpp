// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#pragma once

#include <nanobind/nanobind.h>

#include <cstddef>
#include <span>
#include <utility>

namespace gdrkit_python {

/// The memory of a Python object that has the buffer protocol (bytes, bytearray, memoryview, NumPy arrays), contiguous,
/// held while this lives. Made and destroyed with the GIL held.
class HostBytes {
 public:
  enum class Access { read, write };

  HostBytes(nanobind::handle object, Access access) {
    if (PyObject_GetBuffer(object.ptr(), &view_, access == Access::write ? PyBUF_WRITABLE : PyBUF_SIMPLE) != 0) {
      nanobind::raise_python_error();
    }
  }
  HostBytes(HostBytes&& other) noexcept : view_(std::exchange(other.view_, Py_buffer{})) {}
  HostBytes& operator=(HostBytes&&) = delete;
  ~HostBytes() {
    if (view_.obj != nullptr) PyBuffer_Release(&view_);
  }

  [[nodiscard]] std::span<std::byte> bytes() const noexcept {
    return {static_cast<std::byte*>(view_.buf), static_cast<std::size_t>(view_.len)};
  }
  /// Never gives the memory back: a GPU that does not react any more may still use it (ETIMEDOUT of an engine).
  void abandon() noexcept { view_ = Py_buffer{}; }

 private:
  Py_buffer view_{};
};

}  // namespace gdrkit_python
