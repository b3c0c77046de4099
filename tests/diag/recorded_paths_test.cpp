// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "diag/snapshot/recorded_paths.hpp"

#include <gtest/gtest.h>

#include "diag/snapshot/recording.hpp"
#include "diag/topology/archive_tree.hpp"
#include "diag/topology/machine_view.hpp"

namespace gdrkit::diag::snapshot {
namespace {

TEST(RecordedPaths, BracesListAlternatives) {
  EXPECT_EQ(without_braces("/a"), (std::vector<std::string>{"/a"}));
  EXPECT_EQ(without_braces("/{a,b/c}/{x,y}"), (std::vector<std::string>{"/a/x", "/a/y", "/b/c/x", "/b/c/y"}));
  EXPECT_EQ(without_braces("/{,a}b"), (std::vector<std::string>{"/b", "/ab"}));
  EXPECT_EQ(without_braces("/{a"), (std::vector<std::string>{"/{a"}));
}

TEST(RecordedPaths, AStarMatchesAnyPartOfAName) {
  EXPECT_TRUE(is_described("cpu12", "cpu*"));
  EXPECT_TRUE(is_described("cpu", "cpu*"));
  EXPECT_TRUE(is_described("aXbXXc", "a*b*c"));
  EXPECT_TRUE(is_described("", "*"));
  EXPECT_FALSE(is_described("cp", "cpu*"));
  EXPECT_FALSE(is_described("aXbXXcd", "a*b*c"));
  EXPECT_FALSE(is_described("a", ""));
}

TEST(RecordedPaths, SecretsAreNotRecorded) {
  for (const char* name : {"NCCL_DEBUG", "UCX_TLS", "SLURM_LOCALID", "RANK", "UCX_IB_PKEY"})
    EXPECT_TRUE(is_recorded_variable(name)) << name;
  for (const char* name : {"SLURM_JWT", "NVIDIA_API_KEY", "CUDA_TOKEN", "PMI_PASSWD", "OMPI_AUTH", "HOME", "PATH",
                           "RANKS", "XNCCL_DEBUG", "NVIDIA_KEY", ""})
    EXPECT_FALSE(is_recorded_variable(name)) << name;
}

TEST(Recording, IsReadBackCompletely) {
  Recording recording;
  const std::string directory = "/" + std::string(180, 'f');
  const auto add = [&](const std::string& path, topology::NodeKind kind, const std::string& content) {
    Item& item = recording.items[path];
    item.node.kind = kind;
    item.node.mode = 0640;
    item.content = content;
    return &item;
  };
  add(directory, topology::NodeKind::directory, "");
  add(directory + "/file", topology::NodeKind::file, std::string(1000, 'x'));
  add("/link", topology::NodeKind::other, directory + "/file")->is_link = true;
  add("/refused file", topology::NodeKind::file, "")->is_refused = true;
  add("/pipe", topology::NodeKind::other, "");
  Item* device = add("/nvidia0", topology::NodeKind::character_device, "");
  device->node.major = 195;
  device->node.group = 44;
  Item* missed = add("/two\nlines", topology::NodeKind::file, "");
  missed->is_refused = missed->is_missed = true;
  EXPECT_EQ(recording.missed(), std::vector<std::string>{"/two\nlines"})
      << "content that was not requested is not missed";
  const auto tree = topology::ArchiveTree::parse(recording.to_archive(), "x.tar");
  ASSERT_TRUE(tree.has_value()) << tree.error().text();
  const auto view = topology::MachineView::over(*tree, false);
  ASSERT_TRUE(view.has_value()) << view.error().text();
  EXPECT_EQ(view->text("/link").value, std::string(1000, 'x'));
  EXPECT_EQ(view->resolved("/link").value, directory + "/file");
  EXPECT_EQ(view->node("/link").value.mode, 0640u);
  EXPECT_EQ(view->text("/refused file").outcome, topology::Outcome::unreadable);
  EXPECT_EQ(view->presence("/refused file"), topology::Outcome::found);
  EXPECT_EQ(view->node("/pipe").value.kind, topology::NodeKind::other);
  EXPECT_EQ(view->node("/nvidia0").value.major, 195u);
  EXPECT_EQ(view->node("/nvidia0").value.group, 44u);
  EXPECT_EQ(view->presence("/two\nlines"), topology::Outcome::absent) << "nothing can be reported about it";
}

}  // namespace
}  // namespace gdrkit::diag::snapshot
