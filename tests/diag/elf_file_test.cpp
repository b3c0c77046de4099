// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "diag/machine/elf_file.hpp"

#include <dlfcn.h>
#include <gnu/libc-version.h>
#include <gtest/gtest.h>

#include "diag/topology/archive_tree.hpp"
#include "support/elf_bytes.hpp"
#include "support/tar_bytes.hpp"

namespace gdrkit::diag {
namespace {

using test::ElfBytes;
using test::TarBytes;

MachineView machine_with(const std::string& file) {
  auto tree = topology::ArchiveTree::parse(TarBytes().file("lib", file).bytes(), "x.tar");
  EXPECT_TRUE(tree.has_value());
  return *MachineView::over(*tree, false);
}

std::string verbs() {
  ElfBytes elf;
  elf.add_symbols({{"ibv_reg_mr", ""}, {"ibv_reg_dmabuf_mr", "IBVERBS_1.12"}, {"ibv_x", "OTHER"}, {"!malloc", ""}});
  return elf.bytes();
}

TEST(ElfFile, ListsExportedSymbolsWithVersions) {
  const MachineView machine = machine_with(verbs());
  const auto file = ElfFile::open(machine, "/lib");
  ASSERT_TRUE(file.is_found()) << file.reason;
  const auto all = file.value.exports();
  ASSERT_TRUE(all.is_found()) << all.reason;
  ASSERT_EQ(all.value.size(), 3u);
  EXPECT_EQ(all.value[1].name + "@" + all.value[1].version, "ibv_reg_dmabuf_mr@IBVERBS_1.12");
  EXPECT_TRUE(exports(machine, "/lib", "ibv_reg_dmabuf_mr", "IBVERBS_1.12").value);
  EXPECT_FALSE(exports(machine, "/lib", "ibv_reg_dmabuf_mr", "IBVERBS_1.1").value);
  EXPECT_FALSE(exports(machine, "/lib", "malloc", "").value) << "it is imported";
  EXPECT_TRUE(exports(machine, "/none", "malloc", "").is_absent());
}

TEST(ElfFile, AgreesWithTheDynamicLinkerAboutThisProgramsCLibrary) {
  Dl_info place;
  ASSERT_NE(::dladdr(reinterpret_cast<void*>(::dlsym(RTLD_DEFAULT, "gnu_get_libc_version")), &place), 0);
  const auto live = MachineView::open("/");
  ASSERT_TRUE(live.has_value());
  const auto file = ElfFile::open(*live, place.dli_fname);
  ASSERT_TRUE(file.is_found()) << file.reason;
  const auto all = file.value.exports();
  ASSERT_TRUE(all.is_found()) << all.reason;
  EXPECT_GT(all.value.size(), 1000u);
  std::size_t versioned = 0;
  for (const Export& exported : all.value) {
    // Each version is also a symbol, which no program can link to.
    if (!exported.version.starts_with("GLIBC_2") || exported.name == exported.version) continue;
    ++versioned;
    if (versioned % 10 != 0) continue;
    EXPECT_NE(::dlvsym(RTLD_DEFAULT, exported.name.c_str(), exported.version.c_str()), nullptr)
        << exported.name << "@" << exported.version;
  }
  EXPECT_GT(versioned, 1000u);
}

TEST(ElfFile, ReadsTheModinfoOfAModule) {
  ElfBytes elf;
  elf.add(".modinfo", SHT_PROGBITS, std::string("version=2.5\0description=built for opensource NVIDIA driver\0x", 60));
  const MachineView machine = machine_with(elf.bytes());
  const auto file = ElfFile::open(machine, "/lib");
  ASSERT_TRUE(file.is_found()) << file.reason;
  EXPECT_EQ(file.value.modinfo("version").value, "2.5");
  EXPECT_EQ(file.value.modinfo("description").value, "built for opensource NVIDIA driver");
  EXPECT_TRUE(file.value.modinfo("license").is_absent());
  EXPECT_EQ(file.value.exports().outcome, Outcome::malformed);
  const MachineView library = machine_with(verbs());
  EXPECT_EQ(ElfFile::open(library, "/lib").value.modinfo("version").outcome, Outcome::malformed);
}

TEST(ElfFile, RejectsOtherAndTruncatedFiles) {
  const std::string whole = verbs();
  for (std::size_t size = 0; size < whole.size(); size += 7) {
    const MachineView machine = machine_with(whole.substr(0, size));
    const auto file = ElfFile::open(machine, "/lib");
    EXPECT_EQ(file.outcome, Outcome::malformed) << size;
    EXPECT_NE(file.reason, "");
  }
  for (const std::size_t at :
       {std::size_t{0}, std::size_t{EI_CLASS}, std::size_t{EI_DATA}, offsetof(Elf64_Ehdr, e_shnum),
        offsetof(Elf64_Ehdr, e_shentsize), offsetof(Elf64_Ehdr, e_shstrndx)}) {
    std::string damaged = whole;
    damaged[at] = at == offsetof(Elf64_Ehdr, e_shnum) ? '\0' : '\x7e';
    EXPECT_EQ(ElfFile::open(machine_with(damaged), "/lib").outcome, Outcome::malformed) << at;
  }
}

TEST(ElfFile, TerminatesOnCyclicVersionLists) {
  ElfBytes elf;
  Elf64_Verdef loop{};
  loop.vd_aux = sizeof(loop);
  loop.vd_next = 0xfffffff0;
  const std::uint32_t texts = elf.add(".dynstr", SHT_STRTAB, std::string(2, '\0'));
  elf.add(".dynsym", SHT_DYNSYM, std::string(sizeof(Elf64_Sym), '\0'), texts);
  std::string content(sizeof(loop) + sizeof(Elf64_Verdaux), '\0');
  std::memcpy(content.data(), &loop, sizeof(loop));
  elf.add(".gnu.version_d", SHT_GNU_verdef, content, texts);
  EXPECT_EQ(exports(machine_with(elf.bytes()), "/lib", "x", "").outcome, Outcome::found)
      << "one entry has place: one is read";
}

TEST(ElfFile, RejectsSectionsThatAreTooLarge) {
  ElfBytes elf;
  const std::uint32_t texts = elf.add(".dynstr", SHT_STRTAB, std::string(2, '\0'));
  elf.add(".dynsym", SHT_DYNSYM, std::string(40001 * sizeof(Elf64_Sym), '\0'), texts);
  const auto result = exports(machine_with(elf.bytes()), "/lib", "x", "");
  EXPECT_EQ(result.outcome, Outcome::malformed);
  EXPECT_NE(result.reason.find("too many"), std::string::npos) << result.reason;
}

}  // namespace
}  // namespace gdrkit::diag
