// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "diag/topology/machine_view.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cerrno>
#include <filesystem>
#include <string>

#include "written_machine.hpp"

namespace gdrkit::diag::topology {
namespace {

namespace files = std::filesystem;

class MachineViewTest : public testing::Test, protected WrittenMachine {};

TEST_F(MachineViewTest, ReadsBytesFromAnOffsetOn) {
  put("/lib", "0123456789");
  const MachineView machine = view();
  EXPECT_EQ(machine.bytes_at("/lib", 4, 3).value, (std::vector<std::uint8_t>{'4', '5', '6'}));
  EXPECT_EQ(machine.bytes_at("/lib", 8, 100).value, (std::vector<std::uint8_t>{'8', '9'}));
  for (const std::uint64_t offset : {std::uint64_t{10}, std::uint64_t{1} << 40, ~std::uint64_t{0}}) {
    const auto nothing = machine.bytes_at("/lib", offset, 3);
    EXPECT_TRUE(nothing.is_found() && nothing.value.empty()) << offset;
  }
  EXPECT_TRUE(machine.bytes_at("/none", 0, 3).is_absent());
  EXPECT_EQ(machine.bytes_at("/", 0, 3).outcome, Outcome::malformed);
}

TEST_F(MachineViewTest, FindsWordsAcrossChunksOfALargeFile) {
  const std::string words = "ib_register_peer_memory_client";
  for (const std::size_t before :
       {std::size_t{0}, std::size_t{65536} - 7, 3 * std::size_t{65536} + 1, std::size_t{5'000'000}}) {
    put("/kallsyms", std::string(before, 'x') + words + std::string(70000, 'y'));
    EXPECT_TRUE(view().holds("/kallsyms", words).value) << before;
    EXPECT_FALSE(view().holds("/kallsyms", words + "z").value) << before;
  }
  const auto absent = view().holds("/none", words);
  EXPECT_TRUE(absent.is_absent() && !absent.value);
  put("/gdrkit-recording", "unreadable /kallsyms\n");
  EXPECT_EQ(view().holds("/kallsyms", words).outcome, Outcome::unreadable);
}

TEST_F(MachineViewTest, FailsOnAFileThatExceedsTheScanLimit) {
  put("/huge", "");
  files::resize_file(root() + "/huge", MachineView::scan_limit + 1);
  EXPECT_EQ(view().holds("/huge", "words").outcome, Outcome::malformed);
}

TEST_F(MachineViewTest, ReadsTextLinesNumbersNamesAndBytes) {
  put("/sys/a/number", " 0x1f \n");
  put("/sys/a/minus", "-1\n");
  put("/sys/a/text", "one\ntwo\n");
  const MachineView machine = view();
  EXPECT_EQ(machine.number("/sys/a/number").value, 31);
  EXPECT_EQ(machine.number("/sys/a/minus").value, -1);
  EXPECT_EQ(machine.line("/sys/a/text").value, "one");
  EXPECT_EQ(machine.text("/sys/a/text").value, "one\ntwo\n");
  EXPECT_EQ(machine.bytes("/sys/a/text", 2).value, (std::vector<std::uint8_t>{'o', 'n'}));
  EXPECT_EQ(machine.names("/sys/a").value, (std::vector<std::string>{"minus", "number", "text"}));
  EXPECT_FALSE(machine.is_live());
}

TEST_F(MachineViewTest, SeesChangedFilesAndRecreatedDirectories) {
  put("/a/b/file", "1");
  const MachineView machine = view();
  EXPECT_EQ(machine.number("/a/b/file").value, 1);
  put("/a/b/file", "2");
  put("/a/b/other", "3");
  EXPECT_EQ(machine.number("/a/b/file").value, 2);
  EXPECT_EQ(machine.number("/a/b/other").value, 3);
  remove("/a");
  EXPECT_TRUE(machine.number("/a/b/file").is_absent());
  put("/a/b/file", "4");
  EXPECT_EQ(machine.number("/a/b/file").value, 4);
  EXPECT_TRUE(machine.line("/a/b/file/x").is_absent());
  EXPECT_TRUE(machine.names("/a/b").is_found());
}

TEST_F(MachineViewTest, FindsTheSameFileByEveryPath) {
  put("/a/b/file", "1");
  put("/c/file", "2");
  link("/c/link", "../a/b");
  link("/a/b/up", "/c/file");
  const MachineView machine = view();
  for (int round = 0; round < 2; ++round) {
    EXPECT_EQ(machine.number("/c/link/file").value, 1);
    EXPECT_EQ(machine.number("/c/link/../../c/file").value, 2);
    EXPECT_EQ(machine.number("/a/b/up").value, 2);
    EXPECT_EQ(machine.resolved("/c/link/up").value, "/c/file");
    EXPECT_EQ(machine.number("/c//link//file").value, 1);
    EXPECT_EQ(machine.resolved("/c/link").value, "/a/b");
  }
}

TEST_F(MachineViewTest, DistinguishesAbsentUnreadableAndMalformed) {
  put("/empty", "");
  put("/binary", std::string("a\0b", 3));
  put("/words", "12 of them");
  put("/large", std::string(MachineView::text_limit + 1, 'x'));
  put("/fits", std::string(MachineView::text_limit, 'x'));
  put("/refused", "secret");
  put("/gdrkit-recording", "# what a copy lacks\nunreadable /refused\nunreadable /closed\n");
  const MachineView machine = view();
  EXPECT_EQ(machine.text("/none").outcome, Outcome::absent);
  EXPECT_EQ(machine.text("/empty/below").outcome, Outcome::absent) << "a file is not a directory";
  EXPECT_EQ(machine.text("/refused").outcome, Outcome::unreadable);
  EXPECT_EQ(machine.names("/closed/below").outcome, Outcome::unreadable);
  EXPECT_EQ(machine.names("/").value, (std::vector<std::string>{"binary", "closed", "empty", "fits", "gdrkit-recording",
                                                                "large", "refused", "words"}));
  EXPECT_EQ(machine.text("/empty").outcome, Outcome::found);
  EXPECT_EQ(machine.line("/empty").outcome, Outcome::malformed);
  EXPECT_EQ(machine.text("/binary").outcome, Outcome::malformed);
  EXPECT_EQ(machine.number("/words").outcome, Outcome::malformed);
  EXPECT_EQ(machine.text("/large").outcome, Outcome::malformed);
  EXPECT_EQ(machine.text("/fits").outcome, Outcome::found);
  EXPECT_EQ(machine.text("/").outcome, Outcome::malformed) << "a directory is not a file";
  EXPECT_EQ(machine.names("/empty").outcome, Outcome::malformed) << "a file is not a directory";
  EXPECT_NE(machine.text("/large").reason.find("/large: is larger"), std::string::npos);
}

TEST_F(MachineViewTest, NeverLeavesItsRoot) {
  put("/outside", "inside");
  put("/sys/file", "here");
  link("/sys/up", "../../../../../outside");
  link("/sys/absolute", "/outside");
  const WrittenMachine other;
  other.put("/outside", "canary");
  link("/sys/named", other.root() + "/outside");
  link("/parent", "..");
  const MachineView machine = view();
  for (const char* path : {"/sys/up", "/sys/absolute", "/../outside", "/parent/parent/../outside", "outside"}) {
    EXPECT_EQ(machine.text(path).value, "inside") << path;
    EXPECT_EQ(machine.resolved(path).value, "/outside") << path;
  }
  EXPECT_EQ(machine.text("/sys/named").outcome, Outcome::absent);
}

TEST_F(MachineViewTest, ResolvesLinksLikeTheMachine) {
  put("/sys/devices/pci0000:00/0000:00:01.0/0000:01:00.0/vendor", "0x10de\n");
  link("/sys/bus/pci/devices/0000:01:00.0", "../../../devices/pci0000:00/0000:00:01.0/0000:01:00.0");
  const MachineView machine = view();
  EXPECT_EQ(machine.resolved("/sys/bus/pci/devices/0000:01:00.0").value,
            "/sys/devices/pci0000:00/0000:00:01.0/0000:01:00.0");
  EXPECT_EQ(machine.number("/sys/bus/pci/devices/0000:01:00.0/vendor").value, 0x10de);
  EXPECT_EQ(machine.names("/sys/bus/pci/devices/0000:01:00.0/..").value, std::vector<std::string>{"0000:01:00.0"});
}

TEST_F(MachineViewTest, TerminatesInLoopsAndDeepDirectories) {
  link("/a", "b");
  link("/b", "a");
  link("/loop", "loop/loop");
  std::string deep;
  for (std::size_t i = 0; i < MachineView::depth_limit + 10; ++i) deep += "/d";
  put(deep + "/file", "x");
  const MachineView machine = view();
  EXPECT_EQ(machine.text("/a").outcome, Outcome::malformed);
  EXPECT_EQ(machine.text("/loop").outcome, Outcome::malformed);
  EXPECT_EQ(machine.text(deep + "/file").outcome, Outcome::malformed);
}

TEST_F(MachineViewTest, InspectsNodesWithoutOpeningThem) {
  put("/file", "x");
  ASSERT_EQ(::mkfifo((root() + "/pipe").c_str(), 0644), 0);
  put("/gdrkit-recording", "character_device /dev/nvidia0 195 0 0660 0 44\n");
  files::create_directory(root() + "/dev");
  const MachineView machine = view();
  EXPECT_EQ(machine.node("/file").value.kind, NodeKind::file);
  EXPECT_EQ(machine.node("/").value.kind, NodeKind::directory);
  // Opening a pipe without a writer would block forever.
  EXPECT_EQ(machine.text("/pipe").outcome, Outcome::malformed);
  EXPECT_EQ(machine.node("/pipe").value.kind, NodeKind::other);
  const Fact<Node> node = machine.node("/dev/nvidia0");
  ASSERT_TRUE(node.is_found()) << node.reason;
  EXPECT_EQ(node.value.kind, NodeKind::character_device);
  EXPECT_EQ(node.value.major, 195u);
  EXPECT_EQ(node.value.mode, 0660u);
  EXPECT_EQ(node.value.group, 44u);
  EXPECT_EQ(machine.text("/dev/nvidia0").outcome, Outcome::malformed);
  EXPECT_EQ(machine.names("/dev").value, std::vector<std::string>{"nvidia0"});
}

TEST_F(MachineViewTest, RejectsAnInvalidRootAndADamagedList) {
  const auto none = MachineView::open(root() + "/none");
  ASSERT_FALSE(none.has_value());
  EXPECT_EQ(none.error().errno_value, ENOENT);
  put("/file", "x");
  EXPECT_FALSE(MachineView::open(root() + "/file").has_value());
  for (const char* line : {"unreadable\n", "character_device /dev/x 1 2 999 0 0\n", "what /is/this\n"}) {
    put("/gdrkit-recording", line);
    const auto damaged = MachineView::open(root());
    ASSERT_FALSE(damaged.has_value()) << line;
    EXPECT_NE(std::string(damaged.error().text()).find("line 1 of gdrkit-recording"), std::string::npos);
  }
}

TEST(MachineViewLive, ReadsThisMachine) {
  const auto machine = MachineView::open("/");
  ASSERT_TRUE(machine.has_value()) << machine.error().text();
  EXPECT_TRUE(machine->is_live());
  EXPECT_NE(machine->text("/proc/self/status").value.find("Name:"), std::string::npos);
  EXPECT_EQ(machine->node("/dev/null").value.kind, NodeKind::character_device);
}

}  // namespace
}  // namespace gdrkit::diag::topology
