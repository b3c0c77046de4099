// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Every conversation recorded on a real machine: the rm backend makes the same calls today, byte for byte, and the
// fakes return the same results as that machine. Conversations made on the fakes themselves test record and replay.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <system_error>

#include "fakes/recording/flows.hpp"
#include "fakes/recording/transcript.hpp"

namespace gdrkit::fakes {
namespace {

const Flow& flow_named(const std::string& name) {
  for (const Flow& flow : recorded_flows()) {
    if (name == flow.name) return flow;
  }
  throw std::runtime_error("unknown flow " + name);
}

/// Runs the recorded flow on its replay.
FlowOutcome run_on(Replay& replay, const Conversation& conversation) {
  const Words pin = conversation.header_line("pin");
  return run_rm_flow(replay.system(), replay.cuda(), pin.number("address"), pin.number("size"), {});
}

void expect_replays(const Conversation& conversation) {
  Replay replay(conversation);
  const FlowOutcome outcome = run_on(replay, conversation);
  EXPECT_EQ(replay.failure(), "");
  EXPECT_EQ(outcome.words().line(), conversation.header_line("outcome").line());
}

void expect_same_calls(const Conversation& recorded, const Conversation& made) {
  const std::size_t common = std::min(recorded.calls.size(), made.calls.size());
  for (std::size_t i = 0; i < common; ++i) {
    ASSERT_EQ(made.calls[i].input, recorded.calls[i].input) << "call " << i << " (made on the fakes, recorded)";
    ASSERT_EQ(made.calls[i].output, recorded.calls[i].output) << "call " << i << ": " << recorded.calls[i].input;
  }
  EXPECT_EQ(made.calls.size(), recorded.calls.size());
  EXPECT_EQ(made.header_line("outcome").line(), recorded.header_line("outcome").line());
}

std::vector<std::string> recordings() {
  std::vector<std::string> paths;
  std::error_code failed;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(GDRKIT_RECORDINGS, failed)) {
    if (entry.path().extension() == ".txt")
      paths.push_back(std::filesystem::relative(entry.path(), GDRKIT_RECORDINGS).string());
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

class Recording : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    auto loaded = load_conversation(std::string(GDRKIT_RECORDINGS) + "/" + GetParam());
    ASSERT_TRUE(loaded) << GetParam();
    conversation = std::move(*loaded);
  }
  Conversation conversation;
};
TEST(Recordings, Exist) { EXPECT_FALSE(recordings().empty()) << "no recordings below " << GDRKIT_RECORDINGS; }

TEST_P(Recording, IsRepeatedByteForByte) { expect_replays(conversation); }

TEST_P(Recording, IsReproducedByTheFakes) {
  const std::string name = conversation.header_line("flow").text("name");
  const Flow& flow = flow_named(name);
  expect_same_calls(conversation, record_on_fakes(conversation, flow));
}

INSTANTIATE_TEST_SUITE_P(Real, Recording, ::testing::ValuesIn(recordings()), [](const auto& tested) {
  std::string name = tested.param;
  std::replace_if(
      name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  return name;
});

/// Conversations made on the fakes, stored in a temporary file like the real ones in the repository.
class FakeRecording : public ::testing::TestWithParam<Flow> {
 protected:
  void SetUp() override {
    const Flow& flow = GetParam();
    FakeRm rm(driver_model("580.159.04"), {make_gpu(0), make_gpu(1)});
    FakeCuda::Options options;
    options.gpus = {1, 0};
    FakeCuda cuda(rm, options);
    if (flow.ordinal != 0) {
      cuda.activate_primary(flow.ordinal);
      cuda.threads().push(cuda.primary(flow.ordinal));
    }
    const Conversation machine = describe_machine(rm, "580.159.04", 13000, options.gpus);
    if (flow.kind == CudaKind::malloc)
      address = cuda.malloc(4096, flow.ordinal), address = cuda.malloc(flow.bytes(), flow.ordinal);
    if (flow.kind == CudaKind::vmm) address = cuda.vmm(flow.part_bytes, flow.is_exportable, 0, flow.ordinal);
    if (flow.kind == CudaKind::pool) address = cuda.pool_malloc(flow.bytes());
    if (flow.kind == CudaKind::managed) address = cuda.managed(flow.bytes());
    if (flow.kind == CudaKind::host) address = cuda.host(flow.bytes());
    const bool has_content = flow.kind != CudaKind::managed && flow.kind != CudaKind::host && !flow.is_plain;
    if (has_content) cuda.fill_pattern(address, flow.bytes());
    const Conversation made = record_flow(flow, rm, cuda, machine, address, [&] {
      if (flow.is_freed_first) cuda.free(address);
    });
    const std::string path = ::testing::TempDir() + "gdrkit_replay_" + std::to_string(::getpid()) + ".txt";
    ASSERT_TRUE(made.save(path));
    auto loaded = load_conversation(path);
    std::filesystem::remove(path);
    ASSERT_TRUE(loaded);
    ASSERT_EQ(loaded->text(), made.text());
    conversation = std::move(*loaded);
  }
  std::uint64_t address = 0;
  Conversation conversation;
};

TEST_P(FakeRecording, EndsAsExpectedByItsFlow) {
  const Flow& flow = GetParam();
  const bool is_refused =
      flow.kind == CudaKind::managed || flow.kind == CudaKind::host || flow.is_freed_first || flow.until > flow.bytes();
  const Words outcome = conversation.header_line("outcome");
  EXPECT_EQ(outcome.text("step"), is_refused ? "pin" : "done");
  EXPECT_EQ(outcome.text("verification"), is_refused ? "0" : flow.is_plain ? "3" : "1");
}

TEST_P(FakeRecording, IsRepeatedByteForByte) { expect_replays(conversation); }

TEST_P(FakeRecording, IsReproducedByTheFakes) {
  expect_same_calls(conversation, record_on_fakes(conversation, GetParam()));
}

TEST_P(FakeRecording, DetectsEveryChangedCall) {
  for (std::size_t i = 0; i < conversation.calls.size(); ++i) {
    Conversation changed = conversation;
    std::string& input = changed.calls[i].input;
    input.back() = input.back() == '0' ? '1' : '0';
    Replay replay(changed);
    (void)run_on(replay, changed);
    EXPECT_NE(replay.failure().find("call " + std::to_string(i) + "\n"), std::string::npos) << replay.failure();
  }
}

TEST_P(FakeRecording, DetectsAnAdditionalOrMissingCall) {
  Conversation shorter = conversation, longer = conversation;
  shorter.calls.pop_back();
  longer.calls.push_back({"sys.close fd=100", "result=0"});
  for (const Conversation& changed : {shorter, longer}) {
    Replay replay(changed);
    (void)run_on(replay, changed);
    EXPECT_NE(replay.failure(), "");
  }
}

INSTANTIATE_TEST_SUITE_P(Made, FakeRecording, ::testing::ValuesIn(recorded_flows()),
                         [](const auto& tested) { return tested.param.name; });

}  // namespace
}  // namespace gdrkit::fakes
