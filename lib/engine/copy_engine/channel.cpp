// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "engine/copy_engine/channel.hpp"

#include <algorithm>
#include <cstring>

#include "driver/cuda.hpp"

namespace gdrkit::engine::copy_engine {
namespace {

base::Status check(int result, const char* call) noexcept {
  if (result == 0) return {};
  return driver::cuda_failure(result, "cannot copy data with CUDA's copy engine: %s", call);
}

}  // namespace

Channel::~Channel() {
  const auto scope = gpu_.enter();  // if it fails, the destructor still releases what it can
  for (void* event : events_) {
    if (event != nullptr) (void)gpu_.calls().event_destroy(event);
  }
  if (stream_ != nullptr) (void)gpu_.calls().stream_destroy(stream_);
}

base::Status Channel::make_staging() noexcept {
  for (void*& event : events_) {
    if (event != nullptr) continue;
    constexpr unsigned without_times = 2;  // CU_EVENT_DISABLE_TIMING
    if (base::Status made = check(gpu_.calls().event_create(&event, without_times), "cuEventCreate"); !made)
      return made;
  }
  if (staging_.bytes() != nullptr) return {};
  auto memory = PinnedMemory::make(gpu_, piece_bytes * piece_count);
  if (!memory) return base::pass(memory);
  staging_ = std::move(*memory);
  return {};
}

std::size_t Channel::size_of(std::size_t piece) const noexcept {
  return std::min(piece_bytes, copy_.size_bytes - piece * piece_bytes);
}

base::Status Channel::start(const Copy& copy) noexcept {
  const auto scope = gpu_.enter();
  if (!scope) return base::pass(scope);
  copy_ = copy;
  started_ = 0;
  is_staged_ = copy.host_memory == HostMemory::ordinary;
  if (stream_ == nullptr) {
    const int result = gpu_.calls().stream_create(&stream_, driver::cuda_stream_non_blocking);
    if (result != 0) return check(result, "cuStreamCreate");
  }
  if (!is_staged_) return enqueue(copy.device, copy.host, copy.size_bytes);
  if (base::Status made = make_staging(); !made) return made;
  base::Status begun;
  const std::size_t ahead = copy.direction == Direction::from_device ? std::min(pieces(), piece_count) : 0;
  for (std::size_t piece = 0; begun && piece < ahead; ++piece) begun = start_piece(piece);
  if (!begun) (void)quiesce();
  return begun;
}

base::Status Channel::enqueue(std::uint64_t device, void* host, std::size_t size_bytes) noexcept {
  const driver::CudaCalls& calls = gpu_.calls();
  if (copy_.direction == Direction::from_device)
    return check(calls.memcpy_device_to_host_async(host, device, size_bytes, stream_), "cuMemcpyDtoHAsync");
  return check(calls.memcpy_host_to_device_async(device, host, size_bytes, stream_), "cuMemcpyHtoDAsync");
}

base::Status Channel::start_piece(std::size_t piece) noexcept {
  base::Status enqueued = enqueue(copy_.device + piece * piece_bytes, staging(piece), size_of(piece));
  if (!enqueued) return enqueued;
  ++started_;
  return check(gpu_.calls().event_record(events_[piece % piece_count], stream_), "cuEventRecord");
}

base::Status Channel::wait_for_piece(std::size_t piece) noexcept {
  return check(gpu_.calls().event_synchronize(events_[piece % piece_count]), "cuEventSynchronize");
}

base::Status Channel::finish_pipeline() noexcept {
  auto* const host = static_cast<char*>(copy_.host);
  for (std::size_t piece = 0; piece < pieces(); ++piece) {
    if (copy_.direction == Direction::from_device) {
      if (base::Status there = wait_for_piece(piece); !there) return there;
      std::memcpy(host + piece * piece_bytes, staging(piece), size_of(piece));
      if (started_ == pieces()) continue;
      if (base::Status begun = start_piece(started_); !begun) return begun;
    } else {
      if (piece >= piece_count) {
        if (base::Status gone = wait_for_piece(piece - piece_count); !gone) return gone;
      }
      std::memcpy(staging(piece), host + piece * piece_bytes, size_of(piece));
      if (base::Status begun = start_piece(piece); !begun) return begun;
    }
  }
  return {};
}

base::Status Channel::quiesce() noexcept {
  return check(gpu_.calls().stream_synchronize(stream_), "cuStreamSynchronize");
}

base::Status Channel::finish() noexcept {
  const auto scope = gpu_.enter();
  if (!scope) {
    // Synchronising a stream needs no current context; without it the copy could still be under way.
    (void)quiesce();
    return base::pass(scope);
  }
  base::Status moved = is_staged_ ? finish_pipeline() : base::Status();
  base::keep_first(moved, quiesce());
  return moved;
}

}  // namespace gdrkit::engine::copy_engine
