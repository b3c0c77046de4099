// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// ElfFile: the exports of a shared library and the .modinfo of a kernel module, read from the file without loading it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "diag/machine/machine.hpp"

namespace gdrkit::diag {

/// A symbol that others can link to. version: "IBVERBS_1.12"; "" if the library has no versions.
struct Export {
  std::string name;
  std::string version;
};

/// Supports 64-bit little-endian files. The file is not trusted: every offset and size is checked, each read is bounded
/// by MachineView::text_limit, and inconsistent data is malformed.
class ElfFile {
 public:
  [[nodiscard]] static Fact<ElfFile> open(const MachineView& view, const std::string& path);

  [[nodiscard]] Fact<std::vector<Export>> exports() const;
  /// The value of `key` in a module's section .modinfo; absent if it has none.
  [[nodiscard]] Fact<std::string> modinfo(const std::string& key) const;

  ElfFile() = default;  ///< required by Fact without a value

 private:
  struct Section {
    std::string name;
    std::uint32_t type = 0;
    std::uint32_t link = 0;
    std::uint64_t offset = 0;
    std::uint64_t size = 0;
  };
  using Bytes = std::vector<std::uint8_t>;

  ElfFile(const MachineView& view, std::string path) : view_(&view), path_(std::move(path)) {}
  [[nodiscard]] Fact<bool> read_sections();
  [[nodiscard]] Fact<Bytes> content_of(const Section& section) const;
  [[nodiscard]] const Section* find(std::uint32_t type) const;
  [[nodiscard]] Fact<std::vector<std::string>> versions() const;
  template <class T>
  [[nodiscard]] Fact<T> damaged(const char* what) const;

  const MachineView* view_ = nullptr;
  std::string path_;
  std::vector<Section> sections_;
};

/// Whether the library at `path` exports `name` in `version`.
[[nodiscard]] Fact<bool> exports(const MachineView& view, const std::string& path, const std::string& name,
                                 const std::string& version);

}  // namespace gdrkit::diag
