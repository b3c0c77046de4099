// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "errors.hpp"

#include <cerrno>
#include <exception>
#include <gdrkit/gdrkit.hpp>

namespace nb = nanobind;

namespace gdrkit_python {
namespace {

// Kept for the life of the process: a translator may run while the interpreter ends.
PyObject* error_type = nullptr;
PyObject* timeout_type = nullptr;

/// std::system_error appends errno's text, which OSError prints too.
std::string library_text(const gdrkit::Error& error) {
  std::string text = error.what();
  const std::string errno_text = error.code().message();
  const std::string suffix = ": " + errno_text;
  if (text.ends_with(suffix)) {
    text.resize(text.size() - suffix.size());
  }
  return text.empty() ? errno_text : text;
}

void raise(PyObject* type, int errno_value, const std::string& text) {
  const nb::tuple arguments = nb::make_tuple(errno_value, text.c_str());
  PyErr_SetObject(type, arguments.ptr());
}

void translate(const std::exception_ptr& thrown, void* /*unused*/) {
  try {
    std::rethrow_exception(thrown);
  } catch (const gdrkit::Error& error) {
    const int number = error.code().value();
    raise(number == ETIMEDOUT ? timeout_type : error_type, number, library_text(error));
  } catch (const TimedOut& timeout) {
    raise(timeout_type, ETIMEDOUT, timeout.text);
  }
}

}  // namespace

void throw_error(int errno_value, const std::string& detail) { throw gdrkit::Error(errno_value, detail.c_str()); }

void register_errors() {
  nb::object errors = nb::module_::import_("gdrkit._errors");
  error_type = nb::object(errors.attr("Error")).release().ptr();
  timeout_type = nb::object(errors.attr("Timeout")).release().ptr();
  nb::register_exception_translator(translate);
}

}  // namespace gdrkit_python
