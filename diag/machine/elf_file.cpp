// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "diag/machine/elf_file.hpp"

#include <elf.h>

#include <algorithm>
#include <cstring>

namespace gdrkit::diag {
namespace {

using topology::found;
using topology::pass;

constexpr std::size_t section_limit = 4096;
constexpr std::size_t name_limit = 256;
constexpr std::size_t symbol_limit = 40000;     // the libraries of interest have a few hundred
constexpr std::uint16_t version_mask = 0x7fff;  // of .gnu.version; the bit above marks a non-default symbol

/// Reads a structure of the file at `at`; returns false if it is not within `bytes`.
template <class T>
bool take(const std::vector<std::uint8_t>& bytes, std::uint64_t at, T* value) {
  if (at > bytes.size() || bytes.size() - at < sizeof(T)) return false;
  std::memcpy(value, bytes.data() + at, sizeof(T));
  return true;
}

/// The zero-terminated name at `at`; "" if it is not within `bytes` or not terminated within the limit.
std::string text_at(const std::vector<std::uint8_t>& bytes, std::uint64_t at) {
  if (at >= bytes.size()) return "";
  const auto begin = bytes.begin() + static_cast<std::ptrdiff_t>(at);
  const auto limit = begin + static_cast<std::ptrdiff_t>(std::min<std::uint64_t>(name_limit, bytes.size() - at));
  const auto end = std::find(begin, limit, 0);
  return end == limit ? "" : std::string(begin, end);
}

}  // namespace

template <class T>
Fact<T> ElfFile::damaged(const char* what) const {
  return {Outcome::malformed, {}, path_ + ": " + what};
}

Fact<ElfFile> ElfFile::open(const MachineView& view, const std::string& path) {
  ElfFile file(view, path);
  const auto read = file.read_sections();
  return read.is_found() ? found(std::move(file)) : pass<ElfFile>(read);
}

Fact<bool> ElfFile::read_sections() {
  const auto head = view_->bytes_at(path_, 0, sizeof(Elf64_Ehdr));
  if (!head.is_found()) return pass<bool>(head);
  Elf64_Ehdr header;
  if (!take(head.value, 0, &header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
      header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB) {
    return damaged<bool>("the file is not a 64-bit little-endian ELF file");
  }
  if (header.e_shentsize != sizeof(Elf64_Shdr) || header.e_shnum == 0 || header.e_shnum > section_limit) {
    return damaged<bool>("the file has no section table");
  }
  const auto table = view_->bytes_at(path_, header.e_shoff, header.e_shnum * sizeof(Elf64_Shdr));
  if (!table.is_found()) return pass<bool>(table);
  std::vector<std::uint32_t> names;
  for (unsigned index = 0; index < header.e_shnum; ++index) {
    Elf64_Shdr raw;
    if (!take(table.value, index * sizeof(Elf64_Shdr), &raw))
      return damaged<bool>("the file ends inside its section table");
    sections_.push_back({"", raw.sh_type, raw.sh_link, raw.sh_offset, raw.sh_size});
    names.push_back(raw.sh_name);
  }
  if (header.e_shstrndx >= sections_.size()) return damaged<bool>("the file has no section names");
  const auto text = content_of(sections_[header.e_shstrndx]);
  if (!text.is_found()) return pass<bool>(text);
  for (std::size_t index = 0; index < sections_.size(); ++index) {
    sections_[index].name = text_at(text.value, names[index]);
  }
  return found(true);
}

Fact<ElfFile::Bytes> ElfFile::content_of(const Section& section) const {
  if (section.type == SHT_NOBITS) return damaged<Bytes>("a section is outside of the file");
  if (section.size > MachineView::text_limit) return damaged<Bytes>("a section is too large");
  auto content = view_->bytes_at(path_, section.offset, static_cast<std::size_t>(section.size));
  if (content.is_found() && content.value.size() != section.size)
    return damaged<Bytes>("the file ends inside a section");
  return content;
}

const ElfFile::Section* ElfFile::find(std::uint32_t type) const {
  const auto at = std::ranges::find_if(sections_, [&](const Section& s) { return s.type == type; });
  return at == sections_.end() ? nullptr : &*at;
}

/// Names of versions, indexed by the numbers in .gnu.version.
Fact<std::vector<std::string>> ElfFile::versions() const {
  using Names = std::vector<std::string>;
  const Section* section = find(SHT_GNU_verdef);
  if (section == nullptr) return found(Names());
  if (section->link >= sections_.size()) return damaged<Names>("the file has no strings for its symbol versions");
  const auto content = content_of(*section);
  if (!content.is_found()) return pass<Names>(content);
  const auto text = content_of(sections_[section->link]);
  if (!text.is_found()) return pass<Names>(text);
  Names names;
  // Offsets are relative and increase. A list cannot have more entries than fit into the section.
  std::uint64_t at = 0;
  for (std::size_t left = content.value.size() / sizeof(Elf64_Verdef); left > 0; --left) {
    Elf64_Verdef definition;
    Elf64_Verdaux name;
    if (!take(content.value, at, &definition) || !take(content.value, at + definition.vd_aux, &name)) {
      return damaged<Names>("the file has a damaged list of symbol versions");
    }
    const std::size_t number = definition.vd_ndx & version_mask;
    if (number >= names.size()) names.resize(number + 1);
    names[number] = text_at(text.value, name.vda_name);
    if (definition.vd_next == 0) break;
    at += definition.vd_next;
  }
  return found(std::move(names));
}

Fact<std::vector<Export>> ElfFile::exports() const {
  using Exports = std::vector<Export>;
  const Section* section = find(SHT_DYNSYM);
  if (section == nullptr || section->link >= sections_.size())
    return damaged<Exports>("the file has no dynamic symbols");
  if (section->size / sizeof(Elf64_Sym) > symbol_limit)
    return damaged<Exports>("the file has too many dynamic symbols");
  const auto symbols = content_of(*section);
  if (!symbols.is_found()) return pass<Exports>(symbols);
  const auto text = content_of(sections_[section->link]);
  if (!text.is_found()) return pass<Exports>(text);
  const auto names = versions();
  if (!names.is_found()) return pass<Exports>(names);
  Fact<Bytes> numbers;
  if (const Section* versym = find(SHT_GNU_versym); versym != nullptr) {
    numbers = content_of(*versym);
    if (!numbers.is_found()) return pass<Exports>(numbers);
  }
  Exports all;
  for (std::size_t index = 0; index < symbols.value.size() / sizeof(Elf64_Sym); ++index) {
    Elf64_Sym symbol;
    if (!take(symbols.value, index * sizeof(Elf64_Sym), &symbol)) break;
    const unsigned binding = ELF64_ST_BIND(symbol.st_info);
    if (symbol.st_shndx == SHN_UNDEF || (binding != STB_GLOBAL && binding != STB_WEAK)) continue;
    Export exported{text_at(text.value, symbol.st_name), ""};
    std::uint16_t number = 0;
    if (take(numbers.value, index * sizeof(number), &number) && (number & version_mask) < names.value.size()) {
      exported.version = names.value[number & version_mask];
    }
    all.push_back(std::move(exported));
  }
  return found(std::move(all));
}

Fact<std::string> ElfFile::modinfo(const std::string& key) const {
  const auto at = std::ranges::find_if(sections_, [](const Section& s) { return s.name == ".modinfo"; });
  if (at == sections_.end()) return damaged<std::string>("the file is not a kernel module: it has no section .modinfo");
  const auto content = content_of(*at);
  if (!content.is_found()) return pass<std::string>(content);
  for (auto begin = content.value.begin(); begin != content.value.end();) {
    const auto end = std::find(begin, content.value.end(), 0);
    const std::string line(begin, end);
    if (line.starts_with(key + "=")) return found(line.substr(key.size() + 1));
    begin = end == content.value.end() ? end : end + 1;
  }
  Fact<std::string> absent;
  absent.reason = path_ + ": its .modinfo has no '" + key + "'";
  return absent;
}

Fact<bool> exports(const MachineView& view, const std::string& path, const std::string& name,
                   const std::string& version) {
  const auto file = ElfFile::open(view, path);
  if (!file.is_found()) return pass<bool>(file);
  const auto all = file.value.exports();
  if (!all.is_found()) return pass<bool>(all);
  return found(std::ranges::any_of(
      all.value, [&](const Export& exported) { return exported.name == name && exported.version == version; }));
}

}  // namespace gdrkit::diag
