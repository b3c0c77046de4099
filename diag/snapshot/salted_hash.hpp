// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// SaltedHash: values that stand for others: equal for equal ones, and of no use to who does not know the salt.
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
  /// A salt that nobody knows and that is kept nowhere. Throws Failure when the system gives none.
  [[nodiscard]] static Salt random_salt();

  /// SipHash-2-4 of the bytes, keyed by the salt.
  [[nodiscard]] std::uint64_t value(std::string_view bytes) const;
  /// "3f2a9c10": for names.
  [[nodiscard]] std::string word(std::string_view bytes) const;
  /// Digit for digit and letter for letter; all else stays. Hexadecimal text stays that. `kind` keeps apart what is
  /// spelt alike.
  [[nodiscard]] std::string like(std::string_view text, std::string_view kind, bool is_hex) const;
  /// An address of the same class, such that two share as many leading bytes as before.
  [[nodiscard]] std::array<std::uint8_t, 4> address(const std::array<std::uint8_t, 4>& address) const;

 private:
  Salt salt_;
};

}  // namespace gdrkit::diag::snapshot
