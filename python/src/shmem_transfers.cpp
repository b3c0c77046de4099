// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Puts, gets, signals, streams, and arrays of symmetric memory.
#include <gdrkit/shmem.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include <vector>

#include "shmem_local.hpp"

namespace nb = nanobind;

namespace gdrkit_python {
namespace {

constexpr std::size_t value_on_stream_bytes = 1024;  // gdrkit_shmem_put_value_on_stream

/// A stream may read or write the memory after the call returned, when Python has freed it.
void refuse_host(
    const Local& local,
    const char* text = "cannot transfer host memory asynchronously (by an nbi call or on a stream); use GPU memory") {
  if (local.is_host()) throw nb::value_error(text);
}

void put(std::uintptr_t target, nb::handle source, std::size_t size_bytes, int pe, Stream stream, bool nbi) {
  const Local local(source, size_bytes, HostBytes::Access::read);
  if (!stream) {
    if (nbi) refuse_host(local);
    const auto call = nbi ? gdrkit_shmem_put_nbi : gdrkit_shmem_put;
    call_shmem([&] { return call(at(target), local.get(), size_bytes, pe); });
  } else if (local.is_host() && size_bytes <= value_on_stream_bytes) {
    call_shmem([&] { return gdrkit_shmem_put_value_on_stream(at(target), local.get(), size_bytes, pe, at(*stream)); });
  } else {
    refuse_host(local, "a put on a stream accepts at most 1024 bytes of host memory; use GPU memory");
    call_shmem([&] { return gdrkit_shmem_put_on_stream(at(target), local.get(), size_bytes, pe, at(*stream)); });
  }
}

void get(nb::handle target, std::uintptr_t source, std::size_t size_bytes, int pe, Stream stream, bool nbi) {
  const Local local(target, size_bytes, HostBytes::Access::write);
  if (stream || nbi) refuse_host(local);
  if (!stream) {
    const auto call = nbi ? gdrkit_shmem_get_nbi : gdrkit_shmem_get;
    call_shmem([&] { return call(local.get(), at(source), size_bytes, pe); });
  } else {
    call_shmem([&] { return gdrkit_shmem_get_on_stream(local.get(), at(source), size_bytes, pe, at(*stream)); });
  }
}

std::uint64_t* word_at(std::uintptr_t address) { return static_cast<std::uint64_t*>(at(address)); }

void put_signal(std::uintptr_t target, nb::handle source, std::size_t size_bytes, std::uintptr_t signal,
                std::uint64_t value, int operation, int pe, Stream stream) {
  const Local local(source, size_bytes, HostBytes::Access::read);
  const auto how = static_cast<gdrkit_shmem_signal>(operation);
  if (stream) refuse_host(local);
  call_shmem([&] {
    return stream ? gdrkit_shmem_put_signal_on_stream(at(target), local.get(), size_bytes, word_at(signal), value, how,
                                                      pe, at(*stream))
                  : gdrkit_shmem_put_signal(at(target), local.get(), size_bytes, word_at(signal), value, how, pe);
  });
}

void signal_op(std::uintptr_t signal, std::uint64_t value, int operation, int pe, Stream stream) {
  const auto how = static_cast<gdrkit_shmem_signal>(operation);
  call_shmem([&] {
    return stream ? gdrkit_shmem_signal_op_on_stream(word_at(signal), value, how, pe, at(*stream))
                  : gdrkit_shmem_signal_op(word_at(signal), value, how, pe);
  });
}

std::uint64_t signal_fetch(std::uintptr_t signal) {
  std::uint64_t value = 0;
  check_shmem(gdrkit_shmem_signal_fetch(word_at(signal), &value));
  return value;
}

std::uintptr_t stream_create() {
  void* stream = nullptr;
  check_shmem(gdrkit_shmem_stream_create(&stream));
  return reinterpret_cast<std::uintptr_t>(stream);
}

/// As a DLPack object that keeps `owner`.
nb::object export_array(std::uintptr_t address, const std::vector<std::size_t>& shape, int code, int bits,
                        int device_type, int device, nb::handle owner) {
  nb::dlpack::dtype dtype;
  dtype.code = static_cast<std::uint8_t>(code);
  dtype.bits = static_cast<std::uint8_t>(bits);
  dtype.lanes = 1;
  nb::ndarray<nb::array_api> array(at(address), shape.size(), shape.data(), owner, nullptr, dtype, device_type, device);
  return nb::cast(array);
}

}  // namespace

void bind_transfers(nb::module_& module) {
  module.def("put", put, nb::arg("target"), nb::arg("source"), nb::arg("size"), nb::arg("pe"), nb::arg("stream").none(),
             nb::arg("nbi"));
  module.def("get", get, nb::arg("target"), nb::arg("source"), nb::arg("size"), nb::arg("pe"), nb::arg("stream").none(),
             nb::arg("nbi"));
  module.def("put_signal", put_signal, nb::arg("target"), nb::arg("source"), nb::arg("size"), nb::arg("signal"),
             nb::arg("value"), nb::arg("operation"), nb::arg("pe"), nb::arg("stream").none());
  module.def("signal_op", signal_op, nb::arg("signal"), nb::arg("value"), nb::arg("operation"), nb::arg("pe"),
             nb::arg("stream").none());
  module.def("signal_fetch", signal_fetch);
  module.def("stream_create", stream_create);
  module.def("stream_destroy",
             [](std::uintptr_t stream) { call_shmem([&] { return gdrkit_shmem_stream_destroy(at(stream)); }); });
  module.def("stream_synchronize",
             [](std::uintptr_t stream) { call_shmem([&] { return gdrkit_shmem_stream_synchronize(at(stream)); }); });
}

void bind_export(nb::module_& module) {
  module.def("export_array", export_array,
             nb::sig("def export_array(address: int, shape: typing.Sequence[int], code: int, bits: int, device_type: "
                     "int, device: int, owner: object, /) -> typing.Any"));
}

}  // namespace gdrkit_python
