// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// ArchiveTree: the files in a tar archive, held in memory. Nothing is extracted.
#pragma once

#include <map>
#include <string_view>

#include "base/result.hpp"
#include "diag/topology/file_tree.hpp"
#include "diag/topology/tar_reader.hpp"

namespace gdrkit::diag::topology {

/// Names and contents are views into the archive's bytes, which are stored once.
class ArchiveTree final : public FileTree {
 public:
  static constexpr std::size_t size_limit = std::size_t{1} << 25;
  static constexpr std::size_t node_limit = std::size_t{1} << 16;  ///< members and directories that their names imply
  static constexpr std::size_t depth_limit = 128;

  /// Error: the file cannot be read, or is compressed, not a tar archive, damaged, truncated or over a limit. The text
  /// gives the cause and its position.
  [[nodiscard]] static base::Result<std::shared_ptr<const FileTree>> open(const std::string& path);
  /// The same for bytes in memory. Error messages start with `path`.
  [[nodiscard]] static base::Result<std::shared_ptr<const FileTree>> parse(std::string bytes, const std::string& path);

  [[nodiscard]] Directory root() const override;
  [[nodiscard]] int find_entry(const Directory& directory, const std::string& name, Entry* entry) const override;
  [[nodiscard]] int enter(const Directory& directory, const std::string& name, Directory* inside) const override;
  [[nodiscard]] int read(const Directory& directory, const std::string& name, std::size_t limit,
                         std::vector<std::uint8_t>* content) const override;
  [[nodiscard]] int scan(const Directory& directory, const std::string& name, std::uint64_t offset, std::size_t limit,
                         const std::function<bool(std::string_view piece)>& take) const override;
  [[nodiscard]] int list(const Directory& directory, std::size_t limit, std::vector<std::string>* names) const override;

 private:
  struct Member {
    Node node;
    bool is_link = false;
    std::string_view content;  ///< of a file; the target of a link
    std::map<std::string_view, std::unique_ptr<Member>> inside;
  };

  explicit ArchiveTree(std::string bytes);
  [[nodiscard]] base::Status add(const TarMember& member);
  [[nodiscard]] base::Result<Member*> make(const TarMember& member);
  [[nodiscard]] const Member* find(std::string_view path) const;
  [[nodiscard]] static const Member* child(const Directory& directory, const std::string& name);

  const std::string bytes_;
  Member root_;
  std::size_t node_count_ = 0;
};

}  // namespace gdrkit::diag::topology
