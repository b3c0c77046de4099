// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Identifiers: what in a text says which machine, card, network or person it is from, found and replaced.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "diag/snapshot/salted_hash.hpp"

namespace gdrkit::diag::snapshot {

/// Finds UUIDs, GUIDs and GIDs, hardware addresses, people at hosts, folders below /home, and words that it was told
/// of; in texts where they may stand, IP addresses and serial numbers too. Replaces each by one of the same form, so
/// that what reads the text reads on.
class Identifiers {
 public:
  enum class Where {
    anywhere,  ///< paths, and files where four numbers with dots are a version
    prose,     ///< logs, settings and documents
  };

  explicit Identifiers(const SaltedHash& hash) : hash_(hash) {}

  /// A word, or a path, that is replaced wherever it stands alone; a rare one also as part of a name with - or _.
  void learn(const std::string& word, const std::string& replacement);
  /// A hardware address or GUID with colons: it is replaced also where it stands without them.
  void learn_address(std::string_view address);
  [[nodiscard]] std::string replaced(std::string_view text, Where where) const;
  /// The name that stands for a host's or a person's.
  [[nodiscard]] std::string host(std::string_view name) const { return "host-" + hash_.word(name); }
  [[nodiscard]] std::string person(std::string_view name) const { return "user-" + hash_.word(name); }

 private:
  /// What starts at `at`: its length, 0 for nothing, and what stands for it.
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
