// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// FolderTree: the files below a folder of this machine, accessed through folder descriptors and never by whole paths.
#pragma once

#include "base/result.hpp"
#include "diag/topology/file_tree.hpp"

namespace gdrkit::diag::topology {

/// Only regular files are opened, read-only; a device node or a pipe is never opened.
class FolderTree final : public FileTree {
 public:
  /// Error: `root` is not a folder that can be read.
  [[nodiscard]] static base::Result<std::shared_ptr<const FileTree>> open(const std::string& root);

  [[nodiscard]] Folder root() const override { return root_; }
  [[nodiscard]] int look(const Folder& folder, const std::string& name, Entry* entry) const override;
  [[nodiscard]] int enter(const Folder& folder, const std::string& name, Folder* inside) const override;
  [[nodiscard]] int read(const Folder& folder, const std::string& name, std::size_t limit,
                         std::vector<std::uint8_t>* content) const override;
  [[nodiscard]] int scan(const Folder& folder, const std::string& name, std::uint64_t offset, std::size_t limit,
                         const std::function<bool(std::string_view piece)>& take) const override;
  [[nodiscard]] int list(const Folder& folder, std::size_t limit, std::vector<std::string>* names) const override;

 private:
  explicit FolderTree(Folder root) : root_(std::move(root)) {}

  Folder root_;  ///< a descriptor that the last owner closes, like all folders here
};

}  // namespace gdrkit::diag::topology
