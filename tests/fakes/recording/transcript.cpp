// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "fakes/recording/transcript.hpp"

#include "fakes/recording/transcript_state.hpp"

namespace gdrkit::fakes {

Transcript::Transcript(std::unique_ptr<State> state)
    : state_(std::move(state)), system_(make_system(*state_)), cuda_(make_cuda(*state_)) {}

Transcript::~Transcript() = default;

Recorder::Recorder(driver::System& system, const driver::CudaCalls& cuda)
    : Transcript(std::make_unique<State>(system, cuda)) {}

CanonicalNames& Recorder::names() noexcept { return state_->names; }
Conversation& Recorder::conversation() noexcept { return state_->conversation; }

std::uint64_t Recorder::add_region_of(std::uint64_t address) {
  const DeviceRegion region = region_around(*state_->inner_cuda, address);
  const std::uint64_t canonical = state_->names.add_region(region.first, region.bytes);
  state_->conversation.header.emplace_back("region", Words().add("first", canonical).add("bytes", region.bytes));
  return state_->names.address(address);
}

Replay::Replay(Conversation recorded) : Transcript(std::make_unique<State>(std::move(recorded))) {}

std::string Replay::failure() const {
  if (!state_->failure.empty()) return state_->failure;
  if (state_->next == state_->conversation.calls.size()) return "";
  return "recorded but not called: " + state_->conversation.calls[state_->next].input;
}

}  // namespace gdrkit::fakes
