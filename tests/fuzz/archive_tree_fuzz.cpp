// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// A recording of arbitrary bytes: rejected with an error text, or a tree whose paths can all be walked and read within
// bounds.
#include <cstring>
#include <string>

#include "diag/topology/archive_tree.hpp"
#include "diag/topology/machine_view.hpp"
#include "fuzz_target.hpp"
#include "support/tar_bytes.hpp"

using gdrkit::diag::topology::ArchiveTree;
using gdrkit::diag::topology::MachineView;
using gdrkit::diag::topology::NodeKind;
using gdrkit::fuzz::Bytes;

namespace {

/// Corrects the checksums, because mutation would never produce a valid one and no input would reach the code after the
/// check.
std::string with_right_checksums(std::string bytes) {
  for (std::size_t at = 0; at + 512 <= bytes.size(); at += 512) {
    if (bytes.compare(at + 257, 5, "ustar") != 0) continue;
    std::memset(&bytes[at + 148], ' ', 8);
    unsigned sum = 0;
    for (std::size_t i = 0; i < 512; ++i) sum += static_cast<unsigned char>(bytes[at + i]);
    char text[8];
    std::snprintf(text, sizeof(text), "%06o", sum);
    bytes.replace(at + 148, 7, text, 7);
  }
  return bytes;
}

void walk(const MachineView& view, const std::string& path, std::size_t content_limit, unsigned depth, unsigned* left) {
  if (*left == 0 || depth > 200) return;
  --*left;
  const auto node = view.node(path);
  const auto text = view.text(path);
  const auto names = view.names(path);
  FUZZ_CHECK(text.value.size() <= content_limit);
  FUZZ_CHECK(text.is_found() == text.reason.empty());
  FUZZ_CHECK(node.is_found() || (!text.is_found() && !names.is_found()));
  if (!node.is_found()) return;
  const auto place = view.resolved(path);
  FUZZ_CHECK(place.is_found() && place.value.front() == '/');
  FUZZ_CHECK(view.resolved(place.value).value == place.value);
  if (node.value.kind != NodeKind::directory) return;
  // A link would lead to the same directories again.
  if (place.value != path) return;
  for (const std::string& name : names.value) {
    if (name.find('/') == std::string::npos)
      walk(view, (path == "/" ? path : path + "/") + name, content_limit, depth + 1, left);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string bytes = with_right_checksums({reinterpret_cast<const char*>(data), size});
  const auto tree = ArchiveTree::parse(bytes, "x.tar");
  if (!tree.has_value()) {
    FUZZ_CHECK(std::string(tree.error().text()).rfind("cannot read the recording x.tar", 0) == 0);
    return 0;
  }
  const auto view = MachineView::over(*tree, false);
  if (!view.has_value()) return 0;
  unsigned left = 400;
  walk(*view, "/", size, 0, &left);
  return 0;
}

std::vector<Bytes> gdrkit::fuzz::seeds() {
  using gdrkit::test::TarBytes;
  const std::string facts = "unreadable /a/b\ncharacter_device /d 1 2 644 0 0\n";
  return to_seeds(
      {TarBytes().add({"a/", '5'}).file("a/b", "text\n").link("l", "/a/b").link("m", "../../l").bytes(),
       TarBytes().pax("path", "x/" + std::string(120, 'n')).file("cut", "pax").add({"hard", '1', "x"}).bytes(),
       TarBytes().add({"././@LongLink", 'L'}, "g/" + std::string(130, 'n')).file("cut", "gnu").add({"d", '3'}).bytes(),
       TarBytes().file("gdrkit-recording", facts).file("a/b", "x").bytes()});
}
