// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// SaltedHash: replacements that are equal for equal values and cannot be reversed without the salt.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace gdrkit::diag::snapshot {

class SaltedHash {
 public:
  using Salt = std::array<std::uint64_t, 2>;

  explicit SaltedHash(const Salt& salt) : salt_(salt) {}
  /// A random salt that is never stored or shown. Throws Failure if the system returns no random numbers.
  [[nodiscard]] static Salt random_salt();

  /// SipHash-2-4 of the bytes, keyed by the salt.
  [[nodiscard]] std::uint64_t value(std::string_view bytes) const;
  /// "3f2a9c10": for names.
  [[nodiscard]] std::string word(std::string_view bytes) const;
  /// Replaces digits by digits and letters by letters, and keeps everything else. Hexadecimal text stays hexadecimal.
  /// `kind` separates values that are spelt alike.
  [[nodiscard]] std::string like(std::string_view text, std::string_view kind, bool is_hex) const;
  /// An address of the same class. Two addresses share as many leading bytes as before.
  [[nodiscard]] std::array<std::uint8_t, 4> address(const std::array<std::uint8_t, 4>& address) const;

 private:
  Salt salt_;
};

}  // namespace gdrkit::diag::snapshot
