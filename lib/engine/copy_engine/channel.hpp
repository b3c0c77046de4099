// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Channel: one CUDA stream that carries one copy at a time, and the pinned memory that ordinary host memory passes.
#pragma once

#include <array>
#include <cstddef>

#include "engine/engine.hpp"
#include "engine/gpu.hpp"

namespace gdrkit::engine::copy_engine {

/// The pipeline: while the GPU fills or empties one piece, the CPU copies another.
inline constexpr std::size_t piece_bytes = std::size_t{512} * 1024;
inline constexpr std::size_t piece_count = 4;

/// Not thread safe: start() and finish() of one copy follow each other.
class Channel {
 public:
  explicit Channel(Gpu& gpu) noexcept : gpu_(gpu) {}
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;
  ~Channel();

  /// On an error nothing is under way.
  base::Status start(const Copy& copy) noexcept;
  /// Afterwards no copy is in flight, also if an error is returned.
  base::Status finish() noexcept;
  /// Whether the stream has completed all its work.
  [[nodiscard]] bool is_idle() const noexcept {
    return gpu_.calls().stream_query(stream_) != driver::cuda_error_not_ready;
  }

 private:
  base::Status make_staging() noexcept;
  [[nodiscard]] std::size_t size_of(std::size_t piece) const noexcept;
  [[nodiscard]] std::size_t pieces() const noexcept { return (copy_.size_bytes + piece_bytes - 1) / piece_bytes; }
  [[nodiscard]] char* staging(std::size_t piece) const noexcept {
    return staging_.bytes() + piece % piece_count * piece_bytes;
  }
  /// Appends to the stream a copy from or to host memory that the GPU reaches.
  base::Status enqueue(std::uint64_t device, void* host, std::size_t size_bytes) noexcept;
  base::Status start_piece(std::size_t piece) noexcept;
  base::Status wait_for_piece(std::size_t piece) noexcept;
  base::Status finish_pipeline() noexcept;
  base::Status quiesce() noexcept;

  Gpu& gpu_;
  void* stream_ = nullptr;
  std::array<void*, piece_count> events_{};
  PinnedMemory staging_;
  Copy copy_;
  bool is_staged_ = false;
  std::size_t started_ = 0;  ///< pieces appended to the stream
};

}  // namespace gdrkit::engine::copy_engine
