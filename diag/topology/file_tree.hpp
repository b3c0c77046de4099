// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// FileTree: the operations that a view of a machine needs, on files in a directory or in an archive.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace gdrkit::diag::topology {

enum class NodeKind { file, directory, character_device, other };

struct Node {
  NodeKind kind = NodeKind::other;
  unsigned mode = 0;  ///< permission bits
  unsigned user = 0;
  unsigned group = 0;
  unsigned major = 0;  ///< of a device
  unsigned minor = 0;
};

/// What a name in a directory refers to.
struct Entry {
  Node node;
  bool is_link = false;
  std::string target;  ///< of a link
};

/// Resolves one step at a time and follows no link, so that only the caller decides where links lead. Every call
/// returns 0 or an errno, and sets its result only on 0. Nothing is ever changed.
class FileTree {
 public:
  /// An opened directory. It stays the same even if its name changes. Must not outlive the tree.
  using Directory = std::shared_ptr<const void>;

  FileTree() = default;
  FileTree(const FileTree&) = delete;
  FileTree& operator=(const FileTree&) = delete;
  virtual ~FileTree() = default;

  [[nodiscard]] virtual Directory root() const = 0;
  [[nodiscard]] virtual int find_entry(const Directory& directory, const std::string& name, Entry* entry) const = 0;
  [[nodiscard]] virtual int enter(const Directory& directory, const std::string& name, Directory* inside) const = 0;
  /// Reads at most the first `limit` bytes of a regular file; EINVAL for other types.
  [[nodiscard]] virtual int read(const Directory& directory, const std::string& name, std::size_t limit,
                                 std::vector<std::uint8_t>* content) const = 0;
  /// Reads at most `limit` bytes of a regular file from `offset` on, in pieces, until `take` returns false; EINVAL for
  /// other types. Meant for files that are too large for memory: a piece is valid only during the call of `take`.
  [[nodiscard]] virtual int scan(const Directory& directory, const std::string& name, std::uint64_t offset,
                                 std::size_t limit, const std::function<bool(std::string_view piece)>& take) const = 0;
  /// The names without "." and "..", in any order; EOVERFLOW if there are more than `limit`.
  [[nodiscard]] virtual int list(const Directory& directory, std::size_t limit,
                                 std::vector<std::string>* names) const = 0;
};

}  // namespace gdrkit::diag::topology
