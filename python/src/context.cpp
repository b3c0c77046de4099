// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "context.hpp"

#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include "host_bytes.hpp"

namespace nb = nanobind;

namespace gdrkit_python {

Context::Context(const std::optional<std::string>& backend, const std::optional<std::string>& copy_kernel) {
  gdrkit::ContextOptions options;
  options.backend = backend.value_or("");
  options.copy_kernel = copy_kernel.value_or("");
  const nb::gil_scoped_release released;
  context_.emplace(options);
}

const gdrkit::Context& Context::get() const {
  if (!context_) throw nb::value_error("cannot use the context: it is closed");
  return *context_;
}

void Context::close() {
  if (uses_ != 0) {
    PyErr_Format(PyExc_BufferError,
                 "cannot close the context: memoryviews, copies or calls still use mappings of the context (number of "
                 "uses: %zu); release or finish all of them first",
                 uses_);
    nb::raise_python_error();
  }
  if (!context_) return;
  gdrkit::Context closing = std::move(*context_);
  context_.reset();
  const nb::gil_scoped_release released;
  closing.close();
}

Buffer::Buffer(nb::object context, std::size_t size_bytes, int device) : context_(std::move(context)) {
  const gdrkit::Context& from = nb::cast<Context&>(context_).get();
  is_emulated_ = from.is_emulated();
  buffer_.emplace(from.allocate(size_bytes, device));
}

const gdrkit::Buffer& Buffer::get() const {
  if (!buffer_) throw nb::value_error("cannot use the buffer: it has been freed");
  return *buffer_;
}

nb::bytes Buffer::copy_to_host(long long offset, std::size_t size_bytes) const {
  nb::bytes result = nb::steal<nb::bytes>(PyBytes_FromStringAndSize(nullptr, static_cast<Py_ssize_t>(size_bytes)));
  if (!result.is_valid()) nb::raise_python_error();
  const std::span<char> target(PyBytes_AsString(result.ptr()), size_bytes);
  get().copy_to_host(offset_of(offset), target);
  return result;
}

void Buffer::copy_from_host(long long offset, nb::handle source) {
  const HostBytes bytes(source, HostBytes::Access::read);
  (void)get();  // throws if it is freed
  buffer_->copy_from_host(offset_of(offset), bytes.bytes());
}

void Buffer::free() {
  if (!buffer_) return;
  gdrkit::Buffer freed = std::move(*buffer_);
  buffer_.reset();
  if (nb::cast<Context&>(context_).is_closed()) return;  // freed with it
  freed.free();
}

nb::object Buffer::array(nb::handle self) const {
  const int type = is_emulated_ ? nb::device::cpu::value : nb::device::cuda::value;
  const std::size_t shape[] = {size()};
  // NOLINTNEXTLINE(performance-no-int-to-ptr): a device address
  nb::ndarray<nb::array_api> array(reinterpret_cast<void*>(device_address()), 1, shape, self, nullptr,
                                   nb::dtype<std::uint8_t>(), type, is_emulated_ ? 0 : device());
  return nb::cast(array);
}

std::size_t offset_of(long long offset) {
  if (offset < 0) throw nb::value_error("the offset is negative; use 0 or more");
  return static_cast<std::size_t>(offset);
}

namespace {

nb::tuple info_of(const Context& context) {
  const gdrkit_context_info info = context.get().info();
  return nb::make_tuple(info.backend_name, info.page_size_bytes, info.store_kernel_name, info.load_kernel_name,
                        info.is_persistent != 0, info.is_emulated != 0);
}

/// (name, summary, is usable, is automatic, errno, why not) of each backend.
nb::list probe() {
  nb::list found;
  gdrkit_backend_report report{};
  report.struct_size = sizeof report;
  for (unsigned index = 0; gdrkit_probe_backend(index, &report) == 0; ++index) {
    found.append(nb::make_tuple(report.name, report.summary, report.is_usable != 0, report.is_automatic != 0,
                                -report.error, static_cast<const char*>(report.reason)));
  }
  return found;
}

}  // namespace

void bind_context(nb::module_& module) {
  nb::class_<Context>(module, "Context")
      .def(nb::init<const std::optional<std::string>&, const std::optional<std::string>&>(), nb::kw_only(),
           nb::arg("backend") = nb::none(), nb::arg("copy_kernel") = nb::none())
      .def("_info", info_of, nb::sig("def _info(self) -> tuple[str, int, str, str, bool, bool]"))
      .def("close", &Context::close)
      .def_prop_ro("closed", &Context::is_closed);
  nb::class_<Buffer>(module, "Buffer")
      .def(nb::init<nb::object, std::size_t, int>(), nb::arg("context"), nb::arg("size"), nb::arg("device") = 0)
      .def_prop_ro("device_address", &Buffer::device_address)
      .def_prop_ro("nbytes", &Buffer::size)
      .def("__len__", &Buffer::size)
      .def_prop_ro("device", &Buffer::device)
      .def_prop_ro("is_emulated", &Buffer::is_emulated)
      .def_prop_ro("freed", &Buffer::is_freed)
      .def("copy_to_host", &Buffer::copy_to_host, nb::arg("offset"), nb::arg("size"))
      .def("copy_from_host", &Buffer::copy_from_host, nb::arg("offset"), nb::arg("data"))
      .def("free", &Buffer::free)
      .def(
          "_array", [](nb::handle self) { return nb::cast<Buffer&>(self).array(self); },
          nb::sig("def _array(self) -> typing.Any"));
  module.def("probe", probe, nb::sig("def probe() -> list[tuple[str, str, bool, bool, int, str]]"));
}

}  // namespace gdrkit_python
