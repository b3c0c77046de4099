// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The extension module gdrkit._core: contexts, buffers, mappings and copies.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <gdrkit/gdrkit.h>
#include <chrono>
#include <cstddef>
#include <vector>

#include "context.hpp"
#include "errors.hpp"
#include "mapping.hpp"
#include "started_copy.hpp"

namespace nb = nanobind;

namespace {

/// (address, shape, strides, code, bits, lanes, device type, readonly, what keeps the memory) of a DLPack capsule.
nb::tuple read_dlpack(const nb::ndarray<nb::ro>& array) {
  nb::list shape, strides;
  for (std::size_t i = 0; i < array.ndim(); ++i) {
    shape.append(array.shape(i));
    strides.append(array.stride(i));
  }
  const nb::dlpack::dtype dtype = array.dtype();
  return nb::make_tuple(reinterpret_cast<std::uintptr_t>(array.data()), nb::tuple(shape), nb::tuple(strides),
                        static_cast<int>(dtype.code), static_cast<int>(dtype.bits), static_cast<int>(dtype.lanes),
                        array.device_type(), nb::cast(array, nb::rv_policy::reference));
}

/// Nanoseconds of one call of the C API's, from a loop of C++: what gdrkit.bench compares with.
template <class Call>
double time_calls(int calls, const Call& call) {
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < calls; ++i) call();
  const std::chrono::duration<double, std::nano> elapsed = std::chrono::steady_clock::now() - start;
  return elapsed.count() / calls;
}

double time_write(gdrkit_python::Mapping& mapping, std::size_t size_bytes, int calls) {
  const std::vector<std::byte> data(size_bytes);
  return time_calls(calls, [&] { mapping.map().write(0, data); });
}

double time_read(const gdrkit_python::Mapping& mapping, std::size_t size_bytes, int calls) {
  std::vector<std::byte> data(size_bytes);
  return time_calls(calls, [&] { mapping.map().read(0, data); });
}

/// The names of the copy kernels, in order of preference, with whether this CPU runs them.
nb::list copy_kernels() {
  nb::list found;
  int is_usable = 0;
  for (unsigned index = 0; const char* name = gdrkit_copy_kernel_name(index, &is_usable); ++index) {
    found.append(nb::make_tuple(name, is_usable != 0));
  }
  return found;
}

}  // namespace

NB_MODULE(_core, module) {
  // What is open when Python ends goes with the process; frameworks may keep arrays until then, and nobody can act on
  // it.
  nb::set_leak_warnings(false);
  gdrkit_python::register_errors();
  gdrkit_python::bind_context(module);
  gdrkit_python::bind_copy(module);
  gdrkit_python::bind_mapping(module);
  module.def("read_dlpack", read_dlpack,
             nb::sig("def read_dlpack(capsule: object) -> tuple[int, tuple[int, ...], tuple[int, ...], int, int, int, "
                     "int, object]"));
  module.def("copy_kernels", copy_kernels, nb::sig("def copy_kernels() -> list[tuple[str, bool]]"));
  module.def("time_write", time_write);
  module.def("time_read", time_read);
  module.def("version", gdrkit_version);
}
