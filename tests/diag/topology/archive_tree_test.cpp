// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "diag/topology/archive_tree.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "diag/topology/machine_view.hpp"
#include "support/tar_bytes.hpp"
#include "written_machine.hpp"

namespace gdrkit::diag::topology {
namespace {

using test::TarBytes;

MachineView view_of(const std::string& bytes) {
  auto tree = ArchiveTree::parse(bytes, "x.tar");
  EXPECT_TRUE(tree.has_value()) << tree.error().text();
  auto view = MachineView::over(tree.has_value() ? *tree : *ArchiveTree::parse(TarBytes().bytes(), "empty"), false);
  EXPECT_TRUE(view.has_value()) << view.error().text();
  return *view;
}

/// The error message for invalid bytes.
std::string refusal(const std::string& bytes) {
  const auto tree = ArchiveTree::parse(bytes, "x.tar");
  EXPECT_FALSE(tree.has_value());
  return tree.has_value() ? "" : tree.error().text();
}

void expect_refusal(const std::string& bytes, const std::string& words) {
  const std::string sentence = refusal(bytes);
  EXPECT_NE(sentence.find(words), std::string::npos) << sentence;
  EXPECT_EQ(sentence.rfind("cannot read the recording x.tar", 0), 0u) << sentence;
}

TEST(ArchiveTree, ReadsLikeADirectory) {
  const MachineView view = view_of(TarBytes()
                                       .add({"./sys/bus/", '5'})
                                       .file("./sys/bus/a", "0x1f\n")
                                       .file("proc/cpuinfo", "one\ntwo\n")
                                       .link("sys/class", "/sys/bus")
                                       .link("sys/up", "../../../../proc/cpuinfo")
                                       .link("loop", "loop")
                                       .add({"hard", '1', "sys/bus/a"})
                                       .add({"dev/nvidia7", '3'})
                                       .add({"dev/pipe", '6'})
                                       .file("gdrkit-recording", "unreadable /proc/kallsyms\nunreadable /sys/bus/a\n")
                                       .bytes());
  EXPECT_FALSE(view.is_live());
  EXPECT_EQ(view.text("/proc/cpuinfo").value, "one\ntwo\n");
  EXPECT_EQ(view.text("/sys/up").value, "one\ntwo\n") << ".. at the root stays there";
  EXPECT_EQ(view.resolved("/sys/class/a").value, "/sys/bus/a");
  EXPECT_EQ(view.number("/hard").value, 31);
  EXPECT_EQ(view.bytes("/proc/cpuinfo", 2).value, (std::vector<std::uint8_t>{'o', 'n'}));
  EXPECT_EQ(view.names("/sys").value, (std::vector<std::string>{"bus", "class", "up"}));
  EXPECT_EQ(view.names("/proc").value, (std::vector<std::string>{"cpuinfo", "kallsyms"}));
  EXPECT_EQ(view.text("/loop").outcome, Outcome::malformed);
  EXPECT_EQ(view.text("/none/at/all").outcome, Outcome::absent);
  EXPECT_EQ(view.text("/proc/cpuinfo/below").outcome, Outcome::absent);
  EXPECT_EQ(view.text("/proc/kallsyms").outcome, Outcome::unreadable);
  EXPECT_EQ(view.text("/sys/bus/a").outcome, Outcome::unreadable);
  EXPECT_EQ(view.node("/sys/bus/a").value.kind, NodeKind::file) << "seen, only not readable";
  EXPECT_EQ(view.text("/sys").outcome, Outcome::malformed);
  EXPECT_EQ(view.names("/proc/cpuinfo").outcome, Outcome::malformed);
  EXPECT_EQ(view.text("/dev/pipe").outcome, Outcome::malformed);
  const auto device = view.node("/dev/nvidia7");
  EXPECT_EQ(device.value.kind, NodeKind::character_device);
  EXPECT_EQ(device.value.major, 195u);
  EXPECT_EQ(device.value.minor, 7u);
  EXPECT_EQ(device.value.mode, 0644u);
  EXPECT_EQ(device.value.group, 44u);
}

TEST(ArchiveTree, ReadsPartsOfALargeFileLikeADirectory) {
  const MachineView machine = view_of(TarBytes().file("a", std::string(200000, 'x') + "words").bytes());
  EXPECT_EQ(machine.bytes_at("/a", 200001, 3).value, (std::vector<std::uint8_t>{'o', 'r', 'd'}));
  EXPECT_TRUE(machine.bytes_at("/a", 200005, 3).value.empty());
  EXPECT_TRUE(machine.holds("/a", "xwords").value);
  EXPECT_FALSE(machine.holds("/a", "words ").value);
  EXPECT_TRUE(machine.holds("/b", "words").is_absent());
}

TEST(ArchiveTree, ReadsLongNamesOfEachKind) {
  const std::string directory = std::string(140, 'f');
  const std::string name = directory + "/" + std::string(60, 'n');
  TarBytes tar;
  tar.add({std::string(60, 'u'), '0', "", directory}, "ustar");
  tar.pax("path", name).file("cut", "pax");
  tar.pax("linkpath", "/" + name).link("to-pax", "cut");
  tar.add({"././@LongLink", 'L'}, name + "/gnu" + std::string(1, '\0')).file("cut", "never");
  EXPECT_NE(refusal(tar.bytes()).find("whose parent is not a directory"), std::string::npos);
  TarBytes good;
  good.add({std::string(60, 'u'), '0', "", directory}, "ustar");
  good.pax("path", name).file("cut", "pax");
  good.pax("linkpath", "/" + name).link("to-pax", "cut");
  good.add({"././@LongLink", 'L'}, directory + "/gnu" + std::string(1, '\0')).file("cut", "gnu");
  good.add({"././@LongLink", 'K'}, "/" + directory + "/gnu" + std::string(1, '\0')).link("to-gnu", "cut");
  good.add({"old", '0', "", "times-of-gnu", "ustar  "}, "old");
  const MachineView view = view_of(good.bytes());
  EXPECT_EQ(view.text("/" + directory + "/" + std::string(60, 'u')).value, "ustar");
  EXPECT_EQ(view.text("/" + name).value, "pax");
  EXPECT_EQ(view.text("/to-pax").value, "pax");
  EXPECT_EQ(view.text("/to-gnu").value, "gnu");
  EXPECT_EQ(view.text("/old").value, "old");
  EXPECT_EQ(view.presence("/cut"), Outcome::absent);
}

TEST(ArchiveTree, UsesTheLaterOfTwoMembers) {
  const MachineView view = view_of(TarBytes().file("a", "old").link("a", "b").file("b", "1").file("b", "2").bytes());
  EXPECT_EQ(view.text("/a").value, "2");
}

TEST(ArchiveTree, ReportsTheFaultAndItsPosition) {
  const std::string good = TarBytes().file("a", "content").file("b", std::string(600, 'x')).bytes();
  expect_refusal("", "truncated at byte 0");
  expect_refusal(TarBytes().file("a", "content").unended(), "truncated at byte 1024");
  expect_refusal(good.substr(0, 1024 + 512 + 88),
                 "the member at byte 1024, 'b', has 600 bytes, but only 88 are present");
  std::string flipped = good;
  flipped[1030] ^= 1;
  expect_refusal(flipped, "checksum in the header at byte 1024");
  expect_refusal(std::string(4096, 'x'), "checksum in the header at byte 0");
  expect_refusal(TarBytes().add({"a", '0', "", "", "ustar", "99999999999"}).bytes(), "damaged number");
  expect_refusal(TarBytes().add({"a", '0', "", "", "ustar", "\xff" + std::string(11, '\xff')}).bytes(), "damaged");
  expect_refusal(TarBytes().file("a/../../b", "x").bytes(), "at byte 0, which leads out of the archive");
  expect_refusal(TarBytes().file("a", "x").file("a/b", "x").bytes(),
                 "'a/b' at byte 1024, whose parent is not a directory");
  expect_refusal(TarBytes().link("a", "b").file("a/b", "x").bytes(), "whose parent is not a directory");
  expect_refusal(TarBytes().file("a/b", "x").file("a", "x").bytes(), "but a directory of this name already exists");
  expect_refusal(TarBytes().file("", "x").bytes(), "but a directory of this name already exists");
  expect_refusal(TarBytes().add({"a", '1', "none"}).bytes(), "a hard link at byte 0 to 'none'");
  expect_refusal(TarBytes().add({"a", 'S'}).bytes(), "member of type 0x53 at byte 0");
  expect_refusal(TarBytes().pax("GNU.sparse.major", "1").file("a", "").bytes(), "--sparse");
  for (const char* records : {"99 path=a\n", "x path=a\n", "9 path=ab\n", "3 \n", "8 pathx\n", "12 size=nine\n"}) {
    expect_refusal(TarBytes().add({"x", 'x'}, records).file("a", "").bytes(), "extended header at byte 0");
  }
  expect_refusal("\x1f\x8b\x08 and so on", "gzip -dc x.tar > ");
  expect_refusal("\x28\xb5\x2f\xfd and so on", "zstd -dc x.tar > ");
}

TEST(ArchiveTree, LimitsDepthAndFileCount) {
  std::string deep;
  for (std::size_t i = 0; i <= ArchiveTree::depth_limit; ++i) deep += "d/";
  expect_refusal(TarBytes().pax("path", deep + "f").file("cut", "").bytes(),
                 "at byte 1024 nested deeper than 128 directories");
  TarBytes many;
  for (std::size_t i = 0; i <= ArchiveTree::node_limit; ++i) many.file(std::to_string(i), "");
  expect_refusal(many.bytes(), "more than 65536 files");
}

TEST(ArchiveTree, OpensOnlyFilesAndPipes) {
  const WrittenMachine directory;
  directory.put("/x.tar", TarBytes().file("a", "in a file").bytes());
  const std::string path = directory.root() + "/x.tar";
  const auto view = MachineView::open(path);
  ASSERT_TRUE(view.has_value()) << view.error().text();
  EXPECT_EQ(view->text("/a").value, "in a file");
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const std::string bytes = TarBytes().file("a", "in a pipe").bytes();
  ASSERT_EQ(::write(ends[1], bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
  ::close(ends[1]);
  const auto piped = MachineView::open("/dev/fd/" + std::to_string(ends[0]));
  ASSERT_TRUE(piped.has_value()) << piped.error().text();
  EXPECT_EQ(piped->text("/a").value, "in a pipe");
  ::close(ends[0]);
  const auto device = MachineView::open("/dev/zero");
  ASSERT_FALSE(device.has_value());
  EXPECT_NE(std::string(device.error().text()).find("neither a directory nor a tar archive"), std::string::npos);
  std::filesystem::resize_file(path, ArchiveTree::size_limit + 1);
  const auto large = MachineView::open(path);
  ASSERT_FALSE(large.has_value());
  EXPECT_EQ(large.error().errno_value, EFBIG);
}

TEST(ArchiveTree, DamagedListOfRecordedFactsIsAnError) {
  const auto tree = ArchiveTree::parse(TarBytes().file("gdrkit-recording", "unreadable\n").bytes(), "x.tar");
  ASSERT_TRUE(tree.has_value());
  const auto view = MachineView::over(*tree, false);
  ASSERT_FALSE(view.has_value());
  EXPECT_NE(std::string(view.error().text()).find("line 1 of gdrkit-recording"), std::string::npos);
}

}  // namespace
}  // namespace gdrkit::diag::topology
