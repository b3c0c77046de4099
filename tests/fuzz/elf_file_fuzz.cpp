// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// An arbitrary file as a library or a kernel module: nothing is read out of bounds, and the results are bounded.
#include "diag/machine/elf_file.hpp"
#include "diag/topology/archive_tree.hpp"
#include "fuzz_target.hpp"
#include "support/elf_bytes.hpp"
#include "support/tar_bytes.hpp"

using gdrkit::diag::ElfFile;
using gdrkit::diag::topology::ArchiveTree;
using gdrkit::diag::topology::MachineView;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string content(reinterpret_cast<const char*>(data), size);
  const auto tree = ArchiveTree::parse(gdrkit::test::TarBytes().file("lib", content).bytes(), "x.tar");
  FUZZ_CHECK(tree.has_value());
  const auto view = MachineView::over(*tree, false);
  FUZZ_CHECK(view.has_value());
  const auto file = ElfFile::open(*view, "/lib");
  FUZZ_CHECK(file.is_found() == file.reason.empty());
  if (!file.is_found()) return 0;
  const auto exports = file.value.exports();
  FUZZ_CHECK(exports.is_found() == exports.reason.empty());
  FUZZ_CHECK(exports.value.size() <= size / 24);
  for (const auto& exported : exports.value) {
    FUZZ_CHECK(exported.name.size() < size && exported.version.size() < size);
  }
  const auto line = file.value.modinfo("description");
  FUZZ_CHECK(line.is_found() == line.reason.empty() && line.value.size() < size);
  return 0;
}

std::vector<gdrkit::fuzz::Bytes> gdrkit::fuzz::seeds() {
  test::ElfBytes library;
  library.add_symbols({{"ibv_reg_mr", ""}, {"ibv_reg_dmabuf_mr", "IBVERBS_1.12"}, {"!malloc", ""}});
  test::ElfBytes module;
  module.add(".modinfo", SHT_PROGBITS, std::string("version=2.5\0description=opensource\0", 35));
  return to_seeds({library.bytes(), module.bytes()});
}
