// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Identifiers: finds and replaces the parts of a text that identify a machine, card, network or person.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "diag/snapshot/salted_hash.hpp"

namespace gdrkit::diag::snapshot {

/// Finds UUIDs, GUIDs and GIDs, hardware addresses, user@host, directories below /home, and registered words. In prose,
/// it also finds IP addresses and serial numbers. Replaces each with one of the same form, so that the text can still
/// be parsed.
class Identifiers {
 public:
  enum class Where {
    anywhere,  ///< paths, and files where four numbers with dots may be a version
    prose,     ///< logs, settings and documents
  };

  explicit Identifiers(const SaltedHash& hash) : hash_(hash) {}

  /// Registers a word or path, which is replaced wherever it occurs as a whole; a rare one also as part of a name with
  /// - or _.
  void add(const std::string& word, const std::string& replacement);
  /// Registers a hardware address or GUID with colons. It is also replaced if it occurs without them.
  void add_address(std::string_view address);
  [[nodiscard]] std::string replaced(std::string_view text, Where where) const;
  /// The replacement for the name of a host or person.
  [[nodiscard]] std::string host(std::string_view name) const { return "host-" + hash_.word(name); }
  [[nodiscard]] std::string person(std::string_view name) const { return "user-" + hash_.word(name); }

 private:
  /// A match at `at`: its length (0: none) and its replacement.
  struct Match {
    std::size_t length = 0;
    std::string replacement{};
  };
  [[nodiscard]] Match match(std::string_view text, std::size_t at, Where where) const;
  [[nodiscard]] Match match_word(std::string_view text, std::size_t at) const;
  [[nodiscard]] Match match_uuid(std::string_view text, std::size_t at) const;
  [[nodiscard]] Match match_groups(std::string_view text, std::size_t at) const;
  [[nodiscard]] Match match_dashes(std::string_view text, std::size_t at) const;
  [[nodiscard]] Match match_bare(std::string_view text, std::size_t at) const;
  [[nodiscard]] Match match_secret(std::string_view text, std::size_t at) const;
  [[nodiscard]] Match match_interface(std::string_view text, std::size_t at) const;
  [[nodiscard]] Match match_person(std::string_view text, std::size_t at) const;
  [[nodiscard]] Match match_home(std::string_view text, std::size_t at) const;
  [[nodiscard]] Match match_ipv4(std::string_view text, std::size_t at) const;
  [[nodiscard]] Match match_ipv6(std::string_view text, std::size_t at) const;
  [[nodiscard]] Match match_serial(std::string_view text, std::size_t at) const;
  [[nodiscard]] std::string gid(std::string_view gid) const;

  const SaltedHash& hash_;
  std::map<std::string, std::string, std::less<>> words_;
  std::map<std::string, std::string> bare_;  ///< lower case, without colons
};

}  // namespace gdrkit::diag::snapshot
