// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// DirectoryTree: the files below a directory of this machine, accessed through directory descriptors and never by whole
// paths.
#pragma once

#include "base/result.hpp"
#include "diag/topology/file_tree.hpp"

namespace gdrkit::diag::topology {

/// Only regular files are opened, read-only; a device node or a pipe is never opened.
class DirectoryTree final : public FileTree {
 public:
  /// Returns an error if `root` is not a readable directory.
  [[nodiscard]] static base::Result<std::shared_ptr<const FileTree>> open(const std::string& root);

  [[nodiscard]] Directory root() const override { return root_; }
  [[nodiscard]] int find_entry(const Directory& directory, const std::string& name, Entry* entry) const override;
  [[nodiscard]] int enter(const Directory& directory, const std::string& name, Directory* inside) const override;
  [[nodiscard]] int read(const Directory& directory, const std::string& name, std::size_t limit,
                         std::vector<std::uint8_t>* content) const override;
  [[nodiscard]] int scan(const Directory& directory, const std::string& name, std::uint64_t offset, std::size_t limit,
                         const std::function<bool(std::string_view piece)>& take) const override;
  [[nodiscard]] int list(const Directory& directory, std::size_t limit, std::vector<std::string>* names) const override;

 private:
  explicit DirectoryTree(Directory root) : root_(std::move(root)) {}

  Directory root_;  ///< a descriptor that the last owner closes, like all directories here
};

}  // namespace gdrkit::diag::topology
