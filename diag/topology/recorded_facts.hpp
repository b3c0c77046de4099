// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// RecordedFacts: the list `gdrkit-recording` of facts that a copied tree cannot contain.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "diag/topology/file_tree.hpp"

namespace gdrkit::diag::topology {

/// One fact per line; paths are those after links are resolved:
///   character_device PATH MAJOR MINOR MODE(octal) USER GROUP
///   unreadable PATH, which may contain blanks
/// If the tree contains a file or directory at an unreadable path, it existed, and reading it was refused.
class RecordedFacts {
 public:
  static constexpr const char* file_name = "gdrkit-recording";
  static constexpr std::size_t size_limit = std::size_t{1} << 18;

  /// Error: a line that is neither of these.
  [[nodiscard]] static base::Result<RecordedFacts> parse(std::string_view list);

  [[nodiscard]] bool is_unreadable(std::string_view path) const { return unreadable_.find(path) != unreadable_.end(); }
  /// nullptr if no device is recorded there.
  [[nodiscard]] const Node* device(std::string_view path) const;
  /// Names in a directory ("/" or without a trailing slash) that only the list contains.
  [[nodiscard]] const std::set<std::string>& names_in(std::string_view directory) const;

 private:
  void add_name(std::string_view path);

  std::map<std::string, Node, std::less<>> devices_;
  std::set<std::string, std::less<>> unreadable_;
  std::map<std::string, std::set<std::string>, std::less<>> names_;
};

}  // namespace gdrkit::diag::topology
