// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// CollectiveSide: one PE of a job, its buffers, and both ways to call a collective: from the CPU and on a stream.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "platform/device/device.hpp"
#include "support/device_access.hpp"
#include "support/results.hpp"
#include "support/shmem_job.hpp"

namespace gdrkit::tests {

enum class Way { host, stream };
inline constexpr shmem_impl::collective::Team world = GDRKIT_SHMEM_TEAM_WORLD;

class CollectiveSide {
 public:
  CollectiveSide(shmem_impl::core::Pe& pe, std::size_t size_bytes) : room_bytes(size_bytes), pe_(pe) {
    const platform::DeviceScope scope(pe_.device());
    stream_ = *pe_.device().create_stream();
    target = zeroed<std::uint8_t>(pe, room_bytes);
    source = zeroed<std::uint8_t>(pe, room_bytes);
  }
  ~CollectiveSide() {
    const platform::DeviceScope scope(pe_.device());
    EXPECT_TRUE(succeeded(pe_.device().destroy_stream(stream_)));
  }
  CollectiveSide(const CollectiveSide&) = delete;
  CollectiveSide& operator=(const CollectiveSide&) = delete;

  [[nodiscard]] platform::Stream stream() const noexcept { return stream_; }

  base::Status call(const shmem_impl::collective::CollectiveCall& call, Way way) {
    if (way == Way::host) return pe_.collectives().run(call);
    if (auto launched = pe_.collectives().launch(call, stream_); !launched) return launched;
    const platform::DeviceScope scope(pe_.device());
    return pe_.device().synchronize(stream_);
  }

  void write(void* at, const void* bytes, std::size_t size_bytes) {
    const platform::DeviceScope scope(pe_.device());
    EXPECT_TRUE(succeeded(pe_.device().copy_to_device(reinterpret_cast<std::uint64_t>(at), bytes, size_bytes)));
  }
  void write(void* at, const std::vector<std::uint8_t>& bytes) { write(at, bytes.data(), bytes.size()); }
  [[nodiscard]] std::vector<std::uint8_t> read(const void* at, std::size_t size_bytes) {
    return device_bytes(pe_, at, size_bytes);
  }

  const std::size_t room_bytes;
  std::uint8_t* target = nullptr;
  std::uint8_t* source = nullptr;

 private:
  shmem_impl::core::Pe& pe_;
  platform::Stream stream_;
};

/// Teams of this job have 16 KiB of scratch memory, so that the routes for large data start at a few KiB.
[[nodiscard]] inline ShmemJobOptions little_scratch(int n_pes) {
  return {.n_pes = n_pes, .heap_bytes = std::uint64_t{1} << 20, .heap_max_bytes = std::uint64_t{32} << 20};
}

/// The most PEs of a job. The thread sanitizer checks few PEs only, because those of more take minutes on few CPUs and
/// run the same code.
#if defined(__SANITIZE_THREAD__)
inline constexpr int most_pes = 4;
#else
inline constexpr int most_pes = 64;
#endif

/// A size that the route in shares has with so many PEs (plan_test.cpp). The shares are not equal.
struct InShares {
  int n_pes;
  std::size_t size_bytes;

  /// GPU kernels of 64 PEs do not run at the same time on one GPU, which has fewer queues.
  [[nodiscard]] bool can_run() const { return n_pes <= most_pes && (n_pes <= 8 || !is_gpu_place()); }
  /// Of 64 PEs, which are all in one process, the scratch memory is small.
  [[nodiscard]] ShmemJobOptions options() const {
    ShmemJobOptions made = little_scratch(n_pes);
    made.heap_max_bytes = std::uint64_t{n_pes > 8 ? 64U : 4096U} << 20;
    return made;
  }
};
inline constexpr InShares broadcasts_in_shares[] = {{3, 200'003}, {4, 110'001}, {5, 80'004}, {8, 40'007}, {64, 3'907}};
inline constexpr InShares reductions_in_shares[] = {{3, 300'008}, {4, 140'004}, {5, 90'008}, {8, 40'004}, {64, 3'900}};

}  // namespace gdrkit::tests
