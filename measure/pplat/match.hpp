// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// PingPongMatch: one CPU thread and one GPU kernel that reply to each other, through the library's mapping or by raw
// accesses to the same words.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/interface/exit_code.hpp"
#include "measure/harness/clock.hpp"
#include "measure/tool_parts/mapped_buffer.hpp"
#include "platform/gpu_code/gpu_kernels.hpp"
#include "platform/gpu_code/ping_pong_params.hpp"

namespace gdrkit::measure::pplat {

/// mapping: calls of the library. raw: a plain store through the mapping's pointer and a fence, without a call.
enum class Way { mapping, raw };
[[nodiscard]] constexpr const char* way_name(Way way) { return way == Way::mapping ? "mapping" : "raw"; }

struct MatchRequest {
  bool is_gpu_first = false;           ///< the GPU produces, the CPU consumes
  bool is_gpu_flag_in_host = false;    ///< the GPU polls a word in host memory instead of GPU memory
  bool is_cpu_flag_on_device = false;  ///< the CPU polls a word in GPU memory instead of host memory
  bool is_data_in_host = false;
  std::size_t data_bytes = 0;  ///< a multiple of 4; 0: only the flag
  platform::LaunchShape shape;
  std::uint64_t limit_ns = 0;  ///< for each wait, on both sides

  [[nodiscard]] std::size_t device_bytes() const;  ///< of the mapped buffer
  /// Whether some CPU access uses the mapping; otherwise there is nothing to compare.
  [[nodiscard]] bool uses_mapping() const;
};

/// Reading the clock takes a thirtieth of a round trip, so it is read once per this many.
inline constexpr std::size_t most_batch_trips = 100;

/// The other side did not reply in time.
class NoReply : public cli::Failure {
 public:
  NoReply(const std::string& message, bool is_gpu_kernel_there)
      : cli::Failure(cli::ExitCode::failed, message), is_gpu_kernel_there_(is_gpu_kernel_there) {}
  [[nodiscard]] bool is_gpu_kernel_there() const noexcept { return is_gpu_kernel_there_; }  ///< still running

 private:
  bool is_gpu_kernel_there_;
};

class PingPongMatch {
 public:
  /// `memory` has device_bytes() and is mapped by `buffer`; all must outlive the match. Allocates host memory and a
  /// stream. Throws Failure.
  PingPongMatch(platform::Device* device, platform::GpuKernels* kernels, const AlignedAllocation& memory,
                const MappedBuffer& buffer, const MatchRequest& request);
  /// Stops the GPU kernel if it still runs, and waits for its end.
  ~PingPongMatch();
  PingPongMatch(const PingPongMatch&) = delete;
  PingPongMatch& operator=(const PingPongMatch&) = delete;

  /// Makes `warm_up` round trips and then `count`, with one launch.
  ///
  /// CPU first: the `count` are timed in batches of up to most_batch_trips (with data: one); the clock is read only
  /// between them. Returns the median of the batches' means. If `singles_ns` is not nullptr, the same number again is
  /// timed one by one and appended to it, including the clock's overhead.
  ///
  /// GPU first: returns the GPU's measurement of the mean; *singles_ns is unchanged.
  ///
  /// Throws NoReply, and Failure if data was wrong.
  double play(Way way, std::size_t warm_up, std::size_t count, const Clock& clock, std::vector<double>* singles_ns);

  /// For tests that make the GPU miss its turn.
  [[nodiscard]] platform::Stream stream() const noexcept { return stream_; }

 private:
  struct Trips {
    std::size_t warm_up;
    std::size_t in_batches;
    std::size_t single;
  };
  template <class Side>
  void one_trip(Side side, std::uint32_t value);
  template <class Side>
  double play_cpu_first(Side side, const Trips& trips, const Clock& clock, std::vector<double>* singles_ns);
  template <class Side>
  void play_gpu_first(Side side, std::size_t count);
  template <class Side>
  void wait_for_pong(Side side, std::uint32_t value);
  void launch(std::size_t rounds);
  double end(std::size_t rounds);
  void stop() noexcept;
  [[noreturn]] void throw_no_reply(std::uint32_t value);
  void check_data(std::uint32_t value, const std::vector<std::uint32_t>& seen);

  platform::Device* device_;
  platform::GpuKernels* kernels_;
  const MatchRequest request_;
  platform::Stream stream_;
  platform::Allocation host_;   // flags, end and data in host memory, pinned and accessible to the GPU
  platform::Allocation state_;  // of the GPU kernel, in device memory
  struct Words {
    gdr_mh_t handle{};
    volatile std::uint32_t* ping = nullptr;
    volatile std::uint32_t* pong = nullptr;
    std::uint32_t* end = nullptr;
    std::uint8_t* data = nullptr;
    std::size_t data_bytes = 0;
    bool is_ping_mapped = false;
    bool is_pong_mapped = false;
    bool is_data_mapped = false;
  } words_;
  struct RawSide;
  struct MappingSide;
  platform::PingPongParameters parameters_{};
  std::vector<std::uint32_t> content_;  // host memory, source or target of the data
  std::size_t wrong_words_ = 0;         // detected by the CPU
  std::uint32_t next_ = 1;              // value of the next round; the flags are initially 0
  bool is_playing_ = false;
};

}  // namespace gdrkit::measure::pplat
