// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// FileTree: what a view of a machine needs of a tree of files, whether it lies in a folder or in an archive.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace gdrkit::diag::topology {

enum class NodeKind { file, folder, character_device, other };

struct Node {
  NodeKind kind = NodeKind::other;
  unsigned mode = 0;  ///< permission bits
  unsigned user = 0;
  unsigned group = 0;
  unsigned major = 0;  ///< of a device
  unsigned minor = 0;
};

/// What a name in a folder stands for.
struct Entry {
  Node node;
  bool is_link = false;
  std::string target;  ///< of a link
};

/// Goes one step at a time and follows no link, so that where links lead is decided by its caller alone. Every call
/// gives 0 or an errno, and sets its result on 0 only. Nothing is ever changed.
class FileTree {
 public:
  /// A folder that was entered; stays the same one whatever happens to its name. Not longer in use than the tree.
  using Folder = std::shared_ptr<const void>;

  FileTree() = default;
  FileTree(const FileTree&) = delete;
  FileTree& operator=(const FileTree&) = delete;
  virtual ~FileTree() = default;

  [[nodiscard]] virtual Folder root() const = 0;
  [[nodiscard]] virtual int look(const Folder& folder, const std::string& name, Entry* entry) const = 0;
  [[nodiscard]] virtual int enter(const Folder& folder, const std::string& name, Folder* inside) const = 0;
  /// At most the first `limit` bytes of a regular file; EINVAL when it is none.
  [[nodiscard]] virtual int read(const Folder& folder, const std::string& name, std::size_t limit,
                                 std::vector<std::uint8_t>* content) const = 0;
  /// The regular file from `offset` on, at most `limit` bytes, in pieces until `take` answers false; EINVAL when it is
  /// none. Only for what is too large to hold: a piece is gone after the call that showed it.
  [[nodiscard]] virtual int scan(const Folder& folder, const std::string& name, std::uint64_t offset, std::size_t limit,
                                 const std::function<bool(std::string_view piece)>& take) const = 0;
  /// The names without "." and "..", in any order; EOVERFLOW when there are more than `limit`.
  [[nodiscard]] virtual int list(const Folder& folder, std::size_t limit, std::vector<std::string>* names) const = 0;
};

}  // namespace gdrkit::diag::topology
