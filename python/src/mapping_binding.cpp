// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// What Python sees of Mapping: methods, the buffer protocol, and what the garbage collector visits.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <cerrno>

#include "errors.hpp"
#include "mapping.hpp"
#include "started_copy.hpp"

namespace nb = nanobind;

namespace gdrkit_python {
namespace {

int get_buffer(PyObject* self, Py_buffer* view, int flags) {
  auto* mapping = nb::inst_ptr<Mapping>(nb::handle(self));
  view->obj = nullptr;
  if (mapping->is_closed()) {
    PyErr_SetString(PyExc_ValueError, "cannot use the mapping: it is closed");
    return -1;
  }
  void* const address = mapping->map().bytes().data();
  const auto size = static_cast<Py_ssize_t>(mapping->size());
  if (PyBuffer_FillInfo(view, self, address, size, mapping->is_readonly() ? 1 : 0, flags) != 0) return -1;
  mapping->begin_use();
  mapping->has_view();
  return 0;
}

void release_buffer(PyObject* self, Py_buffer* /*view*/) { nb::inst_ptr<Mapping>(nb::handle(self))->end_use(); }

int traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  if (!nb::inst_ready(nb::handle(self))) return 0;
  const auto* mapping = nb::inst_ptr<Mapping>(nb::handle(self));
  Py_VISIT(mapping->owner().ptr());
  Py_VISIT(mapping->context_object().ptr());
  return 0;
}

int clear(PyObject* self) {
  if (!nb::inst_ready(nb::handle(self))) return 0;
  auto* mapping = nb::inst_ptr<Mapping>(nb::handle(self));
  if (mapping->has_uses()) return 0;  // it is in use
  try {
    mapping->close();
  } catch (...) {
    PyErr_Clear();
  }
  return 0;
}

// NOLINTBEGIN(cppcoreguidelines-pro-type-reinterpret-cast): how Python takes them
PyType_Slot mapping_slots[] = {{Py_bf_getbuffer, reinterpret_cast<void*>(get_buffer)},
                               {Py_bf_releasebuffer, reinterpret_cast<void*>(release_buffer)},
                               {Py_tp_traverse, reinterpret_cast<void*>(traverse)},
                               {Py_tp_clear, reinterpret_cast<void*>(clear)},
                               {0, nullptr}};
// NOLINTEND(cppcoreguidelines-pro-type-reinterpret-cast)

/// (mapping type, verification, page size, device address, CPU address)
nb::tuple info_of(const Mapping& mapping) {
  const gdrkit_pin_info info = mapping.pin().info();
  return nb::make_tuple(info.mapping_type, info.verification, info.page_size_bytes, info.user_address,
                        reinterpret_cast<std::uintptr_t>(info.address));
}

gdrkit::Engine engine_of(const std::optional<std::string>& name) {
  if (!name) return gdrkit::Engine::unspecified;
  const std::optional<gdrkit::Engine> engine = gdrkit::engine_from_name(*name);
  if (!engine) throw_error(EINVAL, "unknown engine '" + *name + "'; use automatic, cpu, lanes, copy_engine or mover");
  return *engine;
}

void construct(Mapping* self, nb::object context, std::uint64_t address, std::size_t size, nb::object owner,
               const std::optional<std::string>& engine, int mapping_type, bool readonly) {
  Mapping::Options options;
  options.map = {static_cast<gdrkit::MappingType>(mapping_type), engine_of(engine)};
  options.is_readonly = readonly;
  new (self) Mapping(std::move(context), address, size, std::move(owner), options);
}

}  // namespace

void bind_mapping(nb::module_& module) {
  nb::class_<Mapping>(module, "Mapping", nb::type_slots(mapping_slots))
      .def("__init__", construct, nb::arg("context"), nb::arg("address"), nb::arg("size"), nb::arg("owner").none(),
           nb::arg("engine").none(), nb::arg("mapping_type"), nb::arg("readonly"))
      .def("write", &Mapping::write, nb::arg("offset"), nb::arg("data"),
           nb::sig("def write(self, offset: int, data: typing_extensions.Buffer) -> None"),
           "Stores bytes to the device; they have left this CPU core when it returns.")
      .def("read", &Mapping::read, nb::arg("offset"), nb::arg("size"),
           "Loads bytes from the device, no older than the call.")
      .def("read_into", &Mapping::read_into, nb::arg("offset"), nb::arg("target"),
           nb::sig("def read_into(self, offset: int, target: typing_extensions.Buffer) -> None"),
           "Loads from the device into a bytearray, memoryview or NumPy array.")
      .def("store_flag", &Mapping::store_flag, nb::arg("offset"), nb::arg("value"), nb::arg("dtype") = "uint32",
           nb::sig("def store_flag(self, offset: int, value: float, dtype: object = 'uint32') -> None"),
           "Stores one naturally aligned number in one piece, after everything that this thread wrote before.")
      .def("load_flag", &Mapping::load_flag, nb::arg("offset"), nb::arg("dtype") = "uint32",
           nb::sig("def load_flag(self, offset: int, dtype: object = 'uint32') -> typing.Any"),
           "Loads one naturally aligned number in one piece, freshly each time.")
      .def("wait_flag", &Mapping::wait_flag, nb::arg("offset"), nb::arg("value"),
           nb::arg("timeout").none() = nb::none(), nb::arg("dtype") = "uint32", nb::arg("comparison") = "==",
           nb::sig("def wait_flag(self, offset: int, value: float, timeout: float | None = None, dtype: object = "
                   "'uint32', comparison: str = '==') -> typing.Any"),
           "Polls, without the GIL, until the flag satisfies the comparison, and returns its value. "
           "Raises gdrkit.Timeout after `timeout` seconds; Ctrl-C ends it.")
      .def("write_segments", &Mapping::write_segments, nb::arg("segments"),
           nb::sig("def write_segments(self, segments: collections.abc.Iterable[tuple[int, typing_extensions.Buffer]]) "
                   "-> None"),
           "Several (offset, data), complete on return, in no particular order.")
      .def("read_segments", &Mapping::read_segments, nb::arg("segments"),
           nb::sig("def read_segments(self, segments: collections.abc.Iterable[tuple[int, typing_extensions.Buffer]]) "
                   "-> None"),
           "Several (offset, target), complete on return, in no particular order.")
      .def(
          "start_write",
          [](nb::object self, nb::handle segments) {
            return new Copy(std::move(self), segments, Copy::Direction::write);
          },
          nb::arg("segments"),
          nb::sig("def start_write(self, segments: collections.abc.Iterable[tuple[int, typing_extensions.Buffer]]) -> "
                  "Copy"),
          "The same, complete when the copy is finished.")
      .def(
          "start_read",
          [](nb::object self, nb::handle segments) {
            return new Copy(std::move(self), segments, Copy::Direction::read);
          },
          nb::arg("segments"),
          nb::sig("def start_read(self, segments: collections.abc.Iterable[tuple[int, typing_extensions.Buffer]]) -> "
                  "Copy"),
          "The same, complete when the copy is finished.")
      .def("flush", &Mapping::flush,
           "Pushes out what this thread stored through a memoryview or NumPy array; write and store_flag do so too.")
      .def(
          "is_invalidated", [](const Mapping& self) { return self.pin().is_invalidated(); },
          "True if the mapping was invalidated because the owner freed the memory.")
      .def("close", &Mapping::close, "Unmaps and unpins; raises BufferError while a memoryview or a copy is in use.")
      .def("_info", info_of, nb::sig("def _info(self) -> tuple[int, int, int, int, int]"))
      .def("__len__", &Mapping::size)
      .def_prop_ro("nbytes", &Mapping::size)
      .def_prop_ro("closed", &Mapping::is_closed)
      .def_prop_ro("readonly", &Mapping::is_readonly)
      .def_prop_ro("owner", &Mapping::owner, "What was mapped; None once it is closed.");
}

}  // namespace gdrkit_python
