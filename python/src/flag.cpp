// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "flag.hpp"

#include <array>
#include <bit>
#include <string>
#include <string_view>

namespace nb = nanobind;

namespace gdrkit_python {
namespace {

using Kind = FlagType::Kind;

constexpr std::array flag_types = {
    FlagType("uint32", Kind::unsigned_integer, 4), FlagType("uint64", Kind::unsigned_integer, 8),
    FlagType("int32", Kind::signed_integer, 4),    FlagType("int64", Kind::signed_integer, 8),
    FlagType("uint8", Kind::unsigned_integer, 1),  FlagType("uint16", Kind::unsigned_integer, 2),
    FlagType("int8", Kind::signed_integer, 1),     FlagType("int16", Kind::signed_integer, 2),
    FlagType("float32", Kind::floating_point, 4),  FlagType("float64", Kind::floating_point, 8),
};

/// nullptr where no flag has this name.
const FlagType* find(std::string_view name) {
  for (const FlagType& type : flag_types) {
    if (name == type.name()) return &type;
  }
  return nullptr;
}

std::string name_of(nb::handle dtype) {
  for (const char* attribute : {"name", "__name__"}) {
    nb::object name = nb::getattr(dtype, attribute, nb::none());
    if (nb::isinstance<nb::str>(name)) return nb::cast<nb::str>(name).c_str();
  }
  const std::string text = nb::str(dtype).c_str();  // "torch.uint32"
  return text.substr(text.rfind('.') + 1);
}

[[noreturn]] void raise_overflow(const char* name) {
  PyErr_Format(PyExc_OverflowError, "the value does not fit into a flag of type %s; use another type or value", name);
  nb::raise_python_error();
}

}  // namespace

const FlagType& FlagType::of(nb::handle dtype) {
  const FlagType* found = nullptr;
  if (nb::isinstance<nb::str>(dtype)) {
    found = find(nb::borrow<nb::str>(dtype).c_str());
  } else {
    found = find(name_of(dtype));
  }
  if (found == nullptr) {
    PyErr_Format(PyExc_TypeError, "invalid flag type %R; use int8 to int64, uint8 to uint64, float32 or float64",
                 dtype.ptr());
    nb::raise_python_error();
  }
  return *found;
}

std::uint64_t FlagType::bits_of(nb::handle value) const {
  if (kind_ == Kind::floating_point) {
    const double number = PyFloat_AsDouble(value.ptr());
    if (number == -1.0 && PyErr_Occurred() != nullptr) nb::raise_python_error();
    if (size_bytes_ == 8) return std::bit_cast<std::uint64_t>(number);
    return std::bit_cast<std::uint32_t>(static_cast<float>(number));
  }
  nb::object index = nb::steal(PyNumber_Index(value.ptr()));  // NumPy's integers as well
  if (!index.is_valid()) nb::raise_python_error();
  const unsigned unused_bits = 64 - 8 * size_bytes_;
  if (kind_ == Kind::unsigned_integer) {
    const unsigned long long number = PyLong_AsUnsignedLongLong(index.ptr());
    const bool has_failed = number == static_cast<unsigned long long>(-1) && PyErr_Occurred() != nullptr;
    if (has_failed) PyErr_Clear();
    if (has_failed || number << unused_bits >> unused_bits != number) raise_overflow(name_);
    return number;
  }
  const long long number = PyLong_AsLongLong(index.ptr());
  const bool has_failed = number == -1 && PyErr_Occurred() != nullptr;
  if (has_failed) PyErr_Clear();
  const auto bits = static_cast<std::uint64_t>(number) << unused_bits >> unused_bits;
  if (has_failed || as_signed(bits) != number) raise_overflow(name_);
  return bits;
}

nb::object FlagType::value_of(std::uint64_t bits) const {
  switch (kind_) {
    case Kind::unsigned_integer: return nb::steal(PyLong_FromUnsignedLongLong(bits));
    case Kind::signed_integer: return nb::steal(PyLong_FromLongLong(as_signed(bits)));
    case Kind::floating_point: break;
  }
  return nb::steal(PyFloat_FromDouble(as_double(bits)));
}

int FlagType::compare(std::uint64_t left, std::uint64_t right) const noexcept {
  const auto order = [](auto a, auto b) { return a < b ? -1 : (a > b ? 1 : (a == b ? 0 : 2)); };
  switch (kind_) {
    case Kind::unsigned_integer: return order(left, right);
    case Kind::signed_integer: return order(as_signed(left), as_signed(right));
    case Kind::floating_point: break;
  }
  return order(as_double(left), as_double(right));
}

std::int64_t FlagType::as_signed(std::uint64_t bits) const noexcept {
  const unsigned unused_bits = 64 - 8 * size_bytes_;
  return static_cast<std::int64_t>(bits << unused_bits) >> unused_bits;
}

double FlagType::as_double(std::uint64_t bits) const noexcept {
  if (size_bytes_ == 8) return std::bit_cast<double>(bits);
  return static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
}

Comparison::Comparison(const char* text) {
  constexpr unsigned less = 1, equal = 2, greater = 4, not_comparable = 8;
  const std::string_view name = text;
  if (name == "==") mask_ = equal;
  if (name == "!=") mask_ = less | greater | not_comparable;
  if (name == ">=") mask_ = greater | equal;
  if (name == ">") mask_ = greater;
  if (name == "<=") mask_ = less | equal;
  if (name == "<") mask_ = less;
  if (mask_ == 0) {
    PyErr_Format(PyExc_ValueError, "invalid comparison '%s'; use ==, !=, >=, >, <= or <", text);
    nb::raise_python_error();
  }
}

}  // namespace gdrkit_python
