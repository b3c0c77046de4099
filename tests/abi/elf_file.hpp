// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// ElfFile: the contents of a shared library that the dynamic linker uses, read from the file.
#pragma once

#include <elf.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <vector>

namespace gdrkit::tests {

class ElfFile {
 public:
  explicit ElfFile(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    bytes_.assign(std::istreambuf_iterator<char>(file), {});
    if (bytes_.size() < sizeof(Elf64_Ehdr)) return;
    const auto header = at<Elf64_Ehdr>(0);
    if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64) return;
    for (std::size_t i = 0; i < header.e_shnum; ++i) {
      sections_.push_back(at<Elf64_Shdr>(header.e_shoff + i * header.e_shentsize));
    }
    for (std::size_t i = 0; i < header.e_phnum; ++i) {
      segments_.push_back(at<Elf64_Phdr>(header.e_phoff + i * header.e_phentsize));
    }
    read_dynamic();
    read_symbols();
    read_relocations();
  }

  [[nodiscard]] bool is_valid() const { return !sections_.empty(); }
  [[nodiscard]] const std::string& soname() const { return soname_; }
  [[nodiscard]] const std::set<std::string>& needed() const { return needed_; }
  /// Symbols that other libraries can bind to. A version's own name is not among them.
  [[nodiscard]] const std::set<std::string>& exported() const { return exported_; }
  /// Symbols that the dynamic linker looks up by name, in every library of the process, to fill this one's tables.
  [[nodiscard]] const std::set<std::string>& bound_by_name() const { return bound_by_name_; }
  [[nodiscard]] const std::set<std::string>& versions() const { return versions_; }
  [[nodiscard]] std::uint64_t flags_1() const { return flags_1_; }
  [[nodiscard]] std::uint64_t flags() const { return flags_; }
  [[nodiscard]] bool has_executable_stack() const {
    return std::any_of(segments_.begin(), segments_.end(), [](const Elf64_Phdr& segment) {
      return segment.p_type == PT_GNU_STACK && (segment.p_flags & PF_X) != 0;
    });
  }
  [[nodiscard]] bool has_text_relocations() const { return has_text_relocations_; }

 private:
  template <class T>
  [[nodiscard]] T at(std::uint64_t offset) const {
    T value{};
    if (offset + sizeof value <= bytes_.size()) std::memcpy(&value, bytes_.data() + offset, sizeof value);
    return value;
  }
  [[nodiscard]] std::string text(const Elf64_Shdr& table, std::uint64_t offset) const {
    return bytes_.data() + table.sh_offset + offset;
  }

  template <class Entry, class Visitor>
  void for_each(std::uint32_t type, Visitor visit) const {
    for (const Elf64_Shdr& section : sections_) {
      if (section.sh_type != type) continue;
      const Elf64_Shdr& strings = sections_[section.sh_link];
      for (std::uint64_t i = 0; i < section.sh_size / sizeof(Entry); ++i) {
        visit(at<Entry>(section.sh_offset + i * sizeof(Entry)), strings);
      }
    }
  }

  void read_dynamic() {
    for_each<Elf64_Dyn>(SHT_DYNAMIC, [this](const Elf64_Dyn& entry, const Elf64_Shdr& strings) {
      if (entry.d_tag == DT_NEEDED) needed_.insert(text(strings, entry.d_un.d_val));
      if (entry.d_tag == DT_SONAME) soname_ = text(strings, entry.d_un.d_val);
      if (entry.d_tag == DT_FLAGS) flags_ = entry.d_un.d_val;
      if (entry.d_tag == DT_FLAGS_1) flags_1_ = entry.d_un.d_val;
      if (entry.d_tag == DT_TEXTREL) has_text_relocations_ = true;
    });
  }

  void read_symbols() {
    for_each<Elf64_Sym>(SHT_DYNSYM, [this](const Elf64_Sym& symbol, const Elf64_Shdr& strings) {
      const unsigned char binding = ELF64_ST_BIND(symbol.st_info);
      if (symbol.st_shndx == SHN_UNDEF || binding == STB_LOCAL) return;
      (symbol.st_shndx == SHN_ABS ? versions_ : exported_).insert(text(strings, symbol.st_name));
    });
  }

  void read_relocations() {
    for_each<Elf64_Rela>(SHT_RELA, [this](const Elf64_Rela& relocation, const Elf64_Shdr& symbols) {
      const std::uint64_t number = ELF64_R_SYM(relocation.r_info);
      if (number == 0) return;
      const auto symbol = at<Elf64_Sym>(symbols.sh_offset + number * sizeof(Elf64_Sym));
      bound_by_name_.insert(text(sections_[symbols.sh_link], symbol.st_name));
    });
  }

  std::vector<char> bytes_;
  std::vector<Elf64_Shdr> sections_;
  std::vector<Elf64_Phdr> segments_;
  std::string soname_;
  std::set<std::string> needed_;
  std::set<std::string> exported_;
  std::set<std::string> bound_by_name_;
  std::set<std::string> versions_;
  std::uint64_t flags_ = 0;
  std::uint64_t flags_1_ = 0;
  bool has_text_relocations_ = false;
};

}  // namespace gdrkit::tests
