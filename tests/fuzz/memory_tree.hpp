// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// MemoryTree: a machine's files in memory, each of which can be damaged or unreadable; counts the calls.
#pragma once

#include <algorithm>
#include <cerrno>
#include <map>
#include <string>
#include <vector>

#include "diag/topology/file_tree.hpp"

namespace gdrkit::fuzz {

class MemoryTree final : public diag::topology::FileTree {
 public:
  struct File {
    diag::topology::Entry entry;
    std::string content;
    int error = 0;  ///< result of reading, entering or listing it
    std::map<std::string, std::shared_ptr<File>> inside;
  };

  /// Paths are absolute and contain no links. A file in the middle of a path is replaced by a directory.
  void put(const std::string& path, const std::string& content) {
    File& file = make(path, diag::topology::NodeKind::file, 0444);
    file.content = content;
  }
  void put_link(const std::string& path, const std::string& target) {
    File& file = make(path, diag::topology::NodeKind::other, 0777);
    file.entry.is_link = true;
    file.entry.target = target;
  }
  void put_device(const std::string& path, unsigned major, unsigned minor) {
    File& file = make(path, diag::topology::NodeKind::character_device, 0666);
    file.entry.node.major = major;
    file.entry.node.minor = minor;
  }
  void put_directory(const std::string& path) { make(path, diag::topology::NodeKind::directory, 0555); }
  void remove(const std::string& path) {
    if (File* directory = find(path.substr(0, path.rfind('/'))))
      directory->inside.erase(path.substr(path.rfind('/') + 1));
  }
  /// nullptr if the path does not exist.
  [[nodiscard]] File* find(const std::string& path) const {
    File* file = root_.get();
    for (const std::string& name : names_of(path)) {
      const auto inside = file->inside.find(name);
      if (inside == file->inside.end()) return nullptr;
      file = inside->second.get();
    }
    return file;
  }

  /// Calls so far, and the bytes that they returned.
  [[nodiscard]] std::size_t calls() const noexcept { return calls_; }
  [[nodiscard]] std::size_t bytes_returned() const noexcept { return bytes_returned_; }

  [[nodiscard]] Directory root() const override { return root_; }
  [[nodiscard]] int find_entry(const Directory& directory, const std::string& name,
                               diag::topology::Entry* entry) const override {
    const auto file = child(directory, name);
    if (file == nullptr) return ENOENT;
    *entry = file->entry;
    return 0;
  }
  [[nodiscard]] int enter(const Directory& directory, const std::string& name, Directory* inside) const override {
    const auto file = child(directory, name);
    if (file == nullptr) return ENOENT;
    if (file->entry.is_link || file->entry.node.kind != diag::topology::NodeKind::directory) return ENOTDIR;
    if (file->error != 0) return file->error;
    *inside = file;
    return 0;
  }
  [[nodiscard]] int read(const Directory& directory, const std::string& name, std::size_t limit,
                         std::vector<std::uint8_t>* content) const override {
    const auto file = child(directory, name);
    if (const int error = refusal(file)) return error;
    const std::size_t size = std::min(limit, file->content.size());
    content->assign(file->content.begin(), file->content.begin() + static_cast<std::ptrdiff_t>(size));
    bytes_returned_ += size;
    return 0;
  }
  /// Reads in small pieces, so that matches span two of them.
  [[nodiscard]] int scan(const Directory& directory, const std::string& name, std::uint64_t offset, std::size_t limit,
                         const std::function<bool(std::string_view piece)>& take) const override {
    const auto file = child(directory, name);
    if (const int error = refusal(file)) return error;
    std::string_view left = file->content;
    left.remove_prefix(static_cast<std::size_t>(std::min<std::uint64_t>(offset, left.size())));
    left = left.substr(0, limit);
    while (!left.empty()) {
      const std::string_view piece = left.substr(0, 1000);
      left.remove_prefix(piece.size());
      bytes_returned_ += piece.size();
      if (!take(piece)) break;
    }
    return 0;
  }
  [[nodiscard]] int list(const Directory& directory, std::size_t limit,
                         std::vector<std::string>* names) const override {
    ++calls_;
    const auto& file = *static_cast<const File*>(directory.get());
    if (file.error != 0) return file.error;
    if (file.inside.size() > limit) return EOVERFLOW;
    names->clear();
    for (const auto& [name, inside] : file.inside) names->push_back(name);
    return 0;
  }

 private:
  static std::vector<std::string> names_of(const std::string& path) {
    std::vector<std::string> names;
    for (std::size_t at = 0; at < path.size();) {
      const std::size_t end = std::min(path.find('/', at), path.size());
      if (end > at) names.push_back(path.substr(at, end - at));
      at = end + 1;
    }
    return names;
  }
  static void set_kind(File& file, diag::topology::NodeKind kind, unsigned mode) {
    file.entry = {};
    file.entry.node.kind = kind;
    file.entry.node.mode = mode;
  }
  static std::shared_ptr<File> directory_file() {
    auto file = std::make_shared<File>();
    set_kind(*file, diag::topology::NodeKind::directory, 0555);
    return file;
  }
  File& make(const std::string& path, diag::topology::NodeKind kind, unsigned mode) {
    File* file = root_.get();
    for (const std::string& name : names_of(path)) {
      if (file->entry.is_link || file->entry.node.kind != diag::topology::NodeKind::directory)
        set_kind(*file, diag::topology::NodeKind::directory, 0555);
      auto& inside = file->inside[name];
      if (inside == nullptr) inside = std::make_shared<File>();
      if (inside->entry.node.kind == diag::topology::NodeKind::other && !inside->entry.is_link)
        set_kind(*inside, diag::topology::NodeKind::directory, 0555);
      file = inside.get();
    }
    set_kind(*file, kind, mode);
    if (kind != diag::topology::NodeKind::directory) file->inside.clear();
    return *file;
  }
  [[nodiscard]] std::shared_ptr<const File> child(const Directory& directory, const std::string& name) const {
    ++calls_;
    const auto& inside = static_cast<const File*>(directory.get())->inside;
    const auto found = inside.find(name);
    return found == inside.end() ? nullptr : found->second;
  }
  static int refusal(const std::shared_ptr<const File>& file) {
    if (file == nullptr) return ENOENT;
    if (file->entry.is_link || file->entry.node.kind != diag::topology::NodeKind::file) return EINVAL;
    return file->error;
  }

  std::shared_ptr<File> root_ = directory_file();
  mutable std::size_t calls_ = 0;
  mutable std::size_t bytes_returned_ = 0;
};

}  // namespace gdrkit::fuzz
