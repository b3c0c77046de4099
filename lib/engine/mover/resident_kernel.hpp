// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// ResidentKernel: the mover's GPU kernel from the CPU's side: its launches, and its blocks' status words.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "base/result.hpp"
#include "engine/engine.hpp"
#include "engine/gpu.hpp"
#include "engine/mover/mover_code.hpp"

namespace gdrkit::engine::mover {

class ResidentKernel {
 public:
  /// EOPNOTSUPP where it must not run: on a GPU that other processes share through MPS, or that is in an exclusive
  /// mode, since it would keep multiprocessors from them.
  [[nodiscard]] static base::Result<std::unique_ptr<ResidentKernel>> open(Gpu& gpu,
                                                                          const ResidenceLimits& limits) noexcept;
  ResidentKernel(const ResidentKernel&) = delete;
  ResidentKernel& operator=(const ResidentKernel&) = delete;
  ~ResidentKernel();

  /// Launches it for commands from `first_tag` on, behind earlier launches; the caller serialises launches. EAGAIN
  /// while a graph is being captured.
  base::Status launch(std::uint64_t lines, std::uint32_t first_tag) noexcept;
  /// Number of the latest launch, 0 before the first.
  [[nodiscard]] std::uint32_t launch_number() const noexcept { return launch_.load(std::memory_order_acquire); }

  /// Before the command with this tag is written (mover_code.hpp, last_tag_offset).
  void note_command(std::uint32_t tag) noexcept {
    auto* const word = reinterpret_cast<std::uint32_t*>(status_.bytes() + last_tag_offset);
    std::atomic_ref(*word).store(tag, std::memory_order_release);
  }

  /// Of the latest launch: starting while a block is not there yet, ending from the first to the last block's end.
  enum class Phase : std::uint8_t { none, starting, running, ending, ended };
  [[nodiscard]] Phase phase() const noexcept;

  /// Of a command written while `launch` ran. lost: not all of it was done, and that launch touches nothing any more.
  enum class Progress : std::uint8_t { waiting, done, lost };
  [[nodiscard]] Progress progress(std::uint32_t launch, std::uint32_t tag) const noexcept;

  /// EIO once the GPU gave up this context's work: then none of it runs any more.
  [[nodiscard]] base::Status check_gpu() const noexcept;
  /// For a GPU that does not respond. Releases nothing, because the GPU may still write.
  void abandon() noexcept;

 private:
  ResidentKernel(Gpu& gpu, const ResidenceLimits& limits) noexcept : gpu_(gpu), limits_(limits) {}
  base::Status load() noexcept;
  base::Status refuse_during_capture() const noexcept;
  [[nodiscard]] Status status_of(unsigned block) const noexcept;

  Gpu& gpu_;
  const ResidenceLimits limits_;
  PinnedMemory status_;
  void* module_ = nullptr;
  void* function_ = nullptr;
  void* stream_ = nullptr;
  std::atomic<std::uint32_t> launch_{0};
};

}  // namespace gdrkit::engine::mover
