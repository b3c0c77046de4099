// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "started_copy.hpp"

#include <cerrno>
#include <stdexcept>

namespace nb = nanobind;

namespace gdrkit_python {

Copy::Copy(nb::object mapping, nb::handle segments, Direction direction)
    : mapping_(std::move(mapping)),
      segments_(std::in_place, segments,
                direction == Direction::write ? HostBytes::Access::read : HostBytes::Access::write) {
  auto& from = nb::cast<Mapping&>(mapping_);
  gdrkit::Mapping& map = from.map();
  if (direction == Direction::write) {
    from.require_writable();
    from.order_views();
  }
  const Use use(from);
  {
    const nb::gil_scoped_release released;
    copy_.emplace(direction == Direction::write ? map.start_write(segments_->to_write())
                                                : map.start_read(segments_->to_read()));
  }
  from.begin_use();  // until it is finished
}

Copy::~Copy() {
  if (!copy_) return;
  try {
    finish();
  } catch (...) {
    PyErr_Clear();
  }
}

bool Copy::is_done() const {
  if (!copy_) return true;
  return !is_finishing_ && copy_->is_done();
}

void Copy::finish() {
  if (!copy_) return;
  if (is_finishing_) throw std::runtime_error("cannot finish the copy: another thread is finishing it");
  is_finishing_ = true;
  bool keeps_memory = false;
  try {
    const nb::gil_scoped_release released;
    copy_->finish();
  } catch (const gdrkit::Error& error) {
    keeps_memory = error.code().value() == ETIMEDOUT;  // a GPU that does not react any more may still use it
    drop(keeps_memory);
    throw;
  }
  drop(keeps_memory);
}

void Copy::drop(bool keeps_memory) {
  copy_.reset();
  if (keeps_memory) segments_->abandon();
  segments_.reset();
  nb::inst_ptr<Mapping>(mapping_)->end_use();
}

void bind_copy(nb::module_& module) {
  nb::class_<Copy>(module, "Copy", "A copy under way; the host memory belongs to it until it is finished.")
      .def_prop_ro("done", &Copy::is_done, "True once finish() would wait neither for the GPU nor for other threads.")
      .def("finish", &Copy::finish, "Waits for the copy, without the GIL, and raises if it failed.")
      .def(
          "__enter__", [](nb::handle self) { return nb::borrow(self); }, nb::sig("def __enter__(self) -> Copy"))
      .def(
          "__exit__", [](Copy& self, const nb::args& /*exception*/) { self.finish(); },
          nb::sig("def __exit__(self, *exception: object) -> None"));
}

}  // namespace gdrkit_python
