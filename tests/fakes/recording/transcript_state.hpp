// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// State: the conversation of a transcript, and one call of it.
#pragma once

#include <memory>
#include <string>

#include "driver/cuda.hpp"
#include "driver/system.hpp"
#include "fakes/recording/device_view.hpp"
#include "fakes/recording/transcript.hpp"

namespace gdrkit::fakes {

struct Transcript::State {
  State(driver::System& system, const driver::CudaCalls& cuda) : inner_system(&system), inner_cuda(&cuda) {}
  explicit State(Conversation recorded) : conversation(std::move(recorded)), names(true) {
    for (const Words& region : conversation.header_lines("region"))
      names.add_region(region.number("first"), region.number("bytes"));
  }
  [[nodiscard]] bool is_replay() const noexcept { return inner_system == nullptr; }

  /// Returns the recorded result, or nullptr if another call was recorded.
  const std::string* expect(const std::string& input) {
    if (!failure.empty()) return nullptr;
    if (next == conversation.calls.size()) {
      failure = "after the last recorded call: " + input;
      return nullptr;
    }
    const Conversation::Call& call = conversation.calls[next];
    if (call.input != input) {
      failure = "call " + std::to_string(next) + "\n  recorded " + call.input + "\n  now      " + input;
      return nullptr;
    }
    ++next;
    return &call.output;
  }

  /// One call. A recording makes it by `make`, and `output` writes its results to the words; in a replay the words are
  /// the recorded ones, from which `output` reads. Returns `failed` if another call was recorded.
  template <class Result, class Make, class Output>
  Result exchange(const std::string& call, const Words& arguments, Result failed, Make make, Output output) {
    const std::string line = arguments.line();
    const std::string input = line.empty() ? call : call + ' ' + line;
    Words words;
    auto result = failed;
    if (is_replay()) {
      const std::string* const recorded = expect(input);
      if (recorded == nullptr) return failed;
      words = Words(*recorded);
      result = static_cast<Result>(words.signed_number("result"));
    } else {
      result = make();
      words.add_signed("result", result);
    }
    output(words, result);
    if (!is_replay()) conversation.calls.push_back({input, words.line()});
    return result;
  }

  // The seams that a recording calls; nullptr in a replay.
  driver::System* inner_system = nullptr;
  const driver::CudaCalls* inner_cuda = nullptr;
  Conversation conversation;
  CanonicalNames names;
  // Of a replay.
  DeviceView view;
  std::size_t next = 0;
  std::string failure;
};

/// The whole range around `address` that CUDA reports as one: the reservation of mapped handles, else the blocks of the
/// allocation.
struct DeviceRegion {
  std::uint64_t first = 0;
  std::uint64_t bytes = 0;
};

[[nodiscard]] DeviceRegion region_around(const driver::CudaCalls& cuda, std::uint64_t address);

[[nodiscard]] std::unique_ptr<driver::System> make_system(Transcript::State& state);
[[nodiscard]] std::shared_ptr<const driver::CudaCalls> make_cuda(Transcript::State& state);

}  // namespace gdrkit::fakes
