// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// ElfBytes: builds a shared library or a kernel module section by section, valid or invalid.
#pragma once

#include <elf.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

namespace gdrkit::test {

class ElfBytes {
 public:
  struct Section {
    std::string name;
    std::uint32_t type = SHT_PROGBITS;
    std::uint32_t link = 0;
    std::string content;
  };

  /// Sections count from 1; section 0 is the empty one at the start of each file.
  std::uint32_t add(const std::string& name, std::uint32_t type, const std::string& content, std::uint32_t link = 0) {
    sections_.push_back({name, type, link, content});
    return static_cast<std::uint32_t>(sections_.size());
  }

  /// Adds dynamic symbols. A symbol with version "" has number 1 (global); a name that starts with '!' is undefined
  /// in this file.
  void add_symbols(const std::vector<std::pair<std::string, std::string>>& symbols) {
    std::string text(1, '\0');
    const auto put = [&](const std::string& name) {
      text += name + '\0';
      return static_cast<std::uint32_t>(text.size() - name.size() - 1);
    };
    std::string table(sizeof(Elf64_Sym), '\0');
    std::string numbers(2, '\0');
    std::string definitions;
    for (const auto& [name, version] : symbols) {
      const bool is_defined = name.front() != '!';
      Elf64_Sym symbol{};
      symbol.st_name = put(is_defined ? name : name.substr(1));
      symbol.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC);
      symbol.st_shndx = is_defined ? 1 : SHN_UNDEF;
      table += bytes(symbol);
      const auto number = static_cast<std::uint16_t>(version.empty() ? 1 : 2 + definitions.size() / version_size);
      numbers += bytes(number);
      if (!version.empty()) definitions += definition(number, put(version));
    }
    for (std::size_t at = 0; at + version_size < definitions.size(); at += version_size) {
      const std::uint32_t next = version_size;
      std::memcpy(&definitions[at + offsetof(Elf64_Verdef, vd_next)], &next, sizeof(next));
    }
    const std::uint32_t texts = add(".dynstr", SHT_STRTAB, text);
    const std::uint32_t own = add(".dynsym", SHT_DYNSYM, table, texts);
    add(".gnu.version", SHT_GNU_versym, numbers, own);
    add(".gnu.version_d", SHT_GNU_verdef, definitions, texts);
  }

  [[nodiscard]] std::string bytes() const {
    std::string names(1, '\0');
    std::string body(sizeof(Elf64_Ehdr), '\0');
    std::vector<Elf64_Shdr> headers(1);
    std::vector<Section> all = sections_;
    all.push_back({".shstrtab", SHT_STRTAB, 0, ""});
    for (Section& section : all) {
      Elf64_Shdr header{};
      header.sh_name = static_cast<std::uint32_t>(names.size());
      names += section.name + '\0';
      if (section.name == ".shstrtab") section.content = names;
      header.sh_type = section.type;
      header.sh_link = section.link;
      header.sh_offset = body.size();
      header.sh_size = section.content.size();
      body += section.content;
      headers.push_back(header);
    }
    Elf64_Ehdr head{};
    std::memcpy(head.e_ident, ELFMAG, SELFMAG);
    head.e_ident[EI_CLASS] = ELFCLASS64;
    head.e_ident[EI_DATA] = ELFDATA2LSB;
    head.e_shoff = body.size();
    head.e_shentsize = sizeof(Elf64_Shdr);
    head.e_shnum = static_cast<std::uint16_t>(headers.size());
    head.e_shstrndx = static_cast<std::uint16_t>(headers.size() - 1);
    std::memcpy(body.data(), &head, sizeof(head));
    for (const Elf64_Shdr& header : headers) body += bytes(header);
    return body;
  }

 private:
  static constexpr std::size_t version_size = sizeof(Elf64_Verdef) + sizeof(Elf64_Verdaux);

  template <class T>
  static std::string bytes(const T& value) {
    return {reinterpret_cast<const char*>(&value), sizeof(value)};
  }
  static std::string definition(std::uint16_t number, std::uint32_t name) {
    Elf64_Verdef head{};
    head.vd_ndx = number;
    head.vd_cnt = 1;
    head.vd_aux = sizeof(Elf64_Verdef);
    Elf64_Verdaux own{};
    own.vda_name = name;
    return bytes(head) + bytes(own);
  }

  std::vector<Section> sections_;
};

}  // namespace gdrkit::test
