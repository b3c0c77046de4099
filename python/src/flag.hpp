// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>

namespace gdrkit_python {

/// The type of a flag: an integer of 1 to 8 bytes, or a float of 4 or 8. Values travel as their bits.
class FlagType {
 public:
  enum class Kind : std::uint8_t { unsigned_integer, signed_integer, floating_point };

  constexpr FlagType(const char* name, Kind kind, unsigned size_bytes)
      : name_(name), kind_(kind), size_bytes_(size_bytes) {}
  /// "uint32", numpy.uint32, numpy.dtype("uint32"), torch.uint32. Throws a Python TypeError for any other.
  static const FlagType& of(nanobind::handle dtype);

  [[nodiscard]] const char* name() const noexcept { return name_; }
  [[nodiscard]] unsigned size_bytes() const noexcept { return size_bytes_; }
  /// Throws a Python OverflowError if the value does not fit, a TypeError if it is not a number.
  [[nodiscard]] std::uint64_t bits_of(nanobind::handle value) const;
  [[nodiscard]] nanobind::object value_of(std::uint64_t bits) const;
  /// -1, 0 or 1, as numbers of this type; 2 if one is NaN.
  [[nodiscard]] int compare(std::uint64_t left, std::uint64_t right) const noexcept;

 private:
  [[nodiscard]] std::int64_t as_signed(std::uint64_t bits) const noexcept;
  [[nodiscard]] double as_double(std::uint64_t bits) const noexcept;

  const char* name_;
  Kind kind_;
  unsigned size_bytes_;
};

/// "==", "!=", ">=", ">", "<=", "<" of a flag with a value.
class Comparison {
 public:
  /// Throws a Python ValueError for any other text.
  explicit Comparison(const char* text);
  [[nodiscard]] bool holds(int order) const noexcept { return (mask_ >> (order + 1) & 1U) != 0; }

 private:
  unsigned mask_ = 0;  ///< bit 0: less, 1: equal, 2: greater, 3: not comparable
};

}  // namespace gdrkit_python
