// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "measure/pplat/match.hpp"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>

#include "cli/interface/demand.hpp"
#include "measure/baseline/raw_loops.hpp"
#include "measure/harness/samples.hpp"
#include "platform/host/stopwatch.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace gdrkit::measure::pplat {
namespace {

// Offsets in the mapped buffer and in the host's memory: each flag in its own line, data on its own page.
constexpr std::size_t ping_at = 0;
constexpr std::size_t pong_at = 256;
constexpr std::size_t end_at = 512;
constexpr std::size_t data_at = 4096;

/// Drains the write-combining buffers: the flag is in flight when the CPU begins to wait for the reply.
void send_stores() {
#if defined(__x86_64__)
  _mm_sfence();
#else
  std::atomic_thread_fence(std::memory_order_seq_cst);
#endif
}
void finish_load() {
#if defined(__x86_64__)
  _mm_lfence();
#else
  std::atomic_thread_fence(std::memory_order_acquire);
#endif
}

/// In host memory, which both sides access. With data, release pairs with the GPU's ld.acquire.sys, acquire with its
/// st.release.sys. Both are plain moves on x86-64.
void store_host(volatile std::uint32_t* word, std::uint32_t value) {
  std::atomic_ref(*const_cast<std::uint32_t*>(word)).store(value, std::memory_order_release);
}
std::uint32_t load_host(const volatile std::uint32_t* word) {
  return std::atomic_ref(*const_cast<std::uint32_t*>(word)).load(std::memory_order_acquire);
}

}  // namespace

std::size_t MatchRequest::device_bytes() const { return data_at + (is_data_in_host ? 0 : data_bytes); }

bool MatchRequest::uses_mapping() const {
  return !is_gpu_flag_in_host || is_cpu_flag_on_device || (data_bytes != 0 && !is_data_in_host);
}

/// The CPU's accesses by calls of the library.
struct PingPongMatch::MappingSide {
  const Words& words;

  void write_ping(std::uint32_t value) const {
    if (!words.is_ping_mapped) return store_host(words.ping, value);
    (void)gdr_copy_to_mapping(words.handle, const_cast<std::uint32_t*>(words.ping), &value, sizeof value);
  }
  [[nodiscard]] std::uint32_t read_pong() const {
    if (!words.is_pong_mapped) return load_host(words.pong);
    std::uint32_t value = 0;
    (void)gdr_copy_from_mapping(words.handle, &value, const_cast<std::uint32_t*>(words.pong), sizeof value);
    return value;
  }
  void write_data(const std::uint32_t* content) const {
    if (!words.is_data_mapped) {
      std::memcpy(words.data, content, words.data_bytes);
    } else {
      (void)gdr_copy_to_mapping(words.handle, words.data, content, words.data_bytes);
    }
  }
  void read_data(std::uint32_t* content) const {
    if (!words.is_data_mapped) {
      std::memcpy(content, words.data, words.data_bytes);
    } else {
      finish_load();  // orders the drop-in's read after that of the flag
      (void)gdr_copy_from_mapping(words.handle, content, words.data, words.data_bytes);
    }
  }
};

/// The same accesses without the library.
struct PingPongMatch::RawSide {
  const Words& words;
  measure::RawKind kind;

  void write_ping(std::uint32_t value) const {
    if (!words.is_ping_mapped) return store_host(words.ping, value);
    *words.ping = value;
    send_stores();
  }
  [[nodiscard]] std::uint32_t read_pong() const {
    if (!words.is_pong_mapped) return load_host(words.pong);
    const std::uint32_t value = *words.pong;
    finish_load();
    return value;
  }
  /// Powers of two, the largest first: each begins at a multiple of its size, or of a line.
  template <class Copy>
  void in_pieces(Copy&& copy) const {
    std::size_t at = 0;
    for (std::size_t left = words.data_bytes; left != 0;) {
      const std::size_t piece = std::bit_floor(left);
      copy(at, piece);
      at += piece;
      left -= piece;
    }
  }
  void write_data(const std::uint32_t* content) const {
    const auto* source = reinterpret_cast<const std::uint8_t*>(content);
    if (!words.is_data_mapped) {
      std::memcpy(words.data, source, words.data_bytes);
    } else {
      in_pieces([&](std::size_t at, std::size_t size) {
        (void)measure::raw_store(kind, words.data + at, source + at, size);
      });
    }
  }
  void read_data(std::uint32_t* content) const {
    auto* target = reinterpret_cast<std::uint8_t*>(content);
    if (!words.is_data_mapped) {
      std::memcpy(target, words.data, words.data_bytes);
    } else {
      in_pieces(
          [&](std::size_t at, std::size_t size) { (void)measure::raw_load(kind, target + at, words.data + at, size); });
    }
  }
};

PingPongMatch::PingPongMatch(platform::Device* device, platform::GpuKernels* kernels, const AlignedAllocation& memory,
                             const MappedBuffer& buffer, const MatchRequest& request)
    : device_(device), kernels_(kernels), request_(request), content_(request.data_bytes / sizeof(std::uint32_t)) {
  host_ = cli::demand(
      device->allocate(platform::AllocationKind::host, data_at + (request.is_data_in_host ? request.data_bytes : 0)));
  state_ = cli::demand(device->allocate(platform::AllocationKind::cuda_malloc, sizeof(platform::PingPongState)));
  auto* host_bytes = reinterpret_cast<std::uint8_t*>(host_.address());
  std::memset(host_bytes, 0, host_.size_bytes());
  const std::uint64_t host_on_device = cli::demand(device->device_address(host_bytes));

  const auto cpu_side = [&](bool is_mapped, std::size_t at) {
    return (is_mapped ? buffer.user_pointer() : host_bytes) + at;
  };
  const auto gpu_side = [&](bool is_mapped, std::size_t at) {
    return (is_mapped ? memory.address() : host_on_device) + at;
  };
  words_.handle = buffer.handle();
  words_.is_ping_mapped = !request.is_gpu_flag_in_host;
  words_.is_pong_mapped = request.is_cpu_flag_on_device;
  words_.is_data_mapped = !request.is_data_in_host;
  words_.ping = reinterpret_cast<std::uint32_t*>(cpu_side(words_.is_ping_mapped, ping_at));
  words_.pong = reinterpret_cast<std::uint32_t*>(cpu_side(words_.is_pong_mapped, pong_at));
  words_.data = cpu_side(words_.is_data_mapped, data_at);
  words_.data_bytes = request.data_bytes;
  words_.end = reinterpret_cast<std::uint32_t*>(host_bytes + end_at);
  parameters_.ping = gpu_side(words_.is_ping_mapped, ping_at);
  parameters_.pong = gpu_side(words_.is_pong_mapped, pong_at);
  parameters_.data = request.data_bytes == 0 ? 0 : gpu_side(words_.is_data_mapped, data_at);
  parameters_.data_bytes = request.data_bytes;
  parameters_.state = state_.address();
  parameters_.end = host_on_device + end_at;
  parameters_.limit_ns = request.limit_ns;
  parameters_.is_gpu_first = request.is_gpu_first ? 1 : 0;
  stream_ = cli::demand(device->create_stream());
}

PingPongMatch::~PingPongMatch() {
  if (is_playing_) stop();
  (void)device_->synchronize(stream_);
  (void)device_->destroy_stream(stream_);
}

void PingPongMatch::stop() noexcept {
  RawSide{words_, {}}.write_ping(platform::stop_word);
  (void)device_->synchronize(stream_);  // the GPU kernel's own limit bounds it
  is_playing_ = false;
}

void PingPongMatch::launch(std::size_t rounds) {
  if (next_ > platform::stop_word / 2) next_ = 1;
  const RawSide side{words_, {}};
  side.write_ping(0);
  if (words_.is_pong_mapped) {
    *words_.pong = 0;
    send_stores();
  } else {
    store_host(words_.pong, 0);
  }
  store_host(words_.end, static_cast<std::uint32_t>(platform::KernelEnd::running));
  if (words_.is_ping_mapped) (void)*words_.ping;  // a read through the bus pushes earlier stores
  cli::demand(device_->fill(parameters_.state, 0, sizeof(platform::PingPongState)));
  parameters_.first = next_;
  parameters_.rounds = static_cast<std::uint32_t>(rounds);
  cli::demand(kernels_->launch(parameters_, request_.shape, stream_));
  is_playing_ = true;
}

void PingPongMatch::throw_no_reply(std::uint32_t value) {
  const auto finished = device_->is_finished(stream_);
  const bool is_there = finished.has_value() && !*finished;
  const auto end = static_cast<platform::KernelEnd>(load_host(words_.end));
  const std::string what = !finished.has_value() ? std::string("the GPU reports: ") + finished.error().text()
                           : end == platform::KernelEnd::expired ? "the GPU kernel reached its own time limit and ended"
                           : is_there                            ? "the GPU kernel is still running"
                                                                 : "the GPU kernel has ended";
  stop();
  throw NoReply(cli::format("the GPU did not reply in round %u within %.3g s: %s", value - parameters_.first + 1,
                            static_cast<double>(request_.limit_ns) / 1e9, what.c_str()),
                is_there);
}

template <class Side>
void PingPongMatch::wait_for_pong(Side side, std::uint32_t value) {
  // The emulated device's other side may need this very core. A GPU replies within a few thousand polls of a cached
  // word, so the clock is not read in a successful round; polls through the bus take 1 us each.
  const bool shares_cpu = device_->is_emulated();
  const int polls_per_clock = shares_cpu ? 64 : 16384;
  std::int64_t begin = 0;
  for (;;) {
    for (int poll = 0; poll < polls_per_clock; ++poll) {
      if (side.read_pong() == value) return;
    }
    const std::int64_t now = platform::now_ns();
    if (begin == 0) begin = now;
    if (now - begin > static_cast<std::int64_t>(request_.limit_ns)) throw_no_reply(value);
    if (shares_cpu) ::sched_yield();
  }
}

template <class Side>
void PingPongMatch::one_trip(Side side, std::uint32_t value) {
  if (!content_.empty()) side.write_data(content_.data());
  side.write_ping(value);
  wait_for_pong(side, value);
}

template <class Side>
double PingPongMatch::play_cpu_first(Side side, const Trips& trips, const Clock& clock,
                                     std::vector<double>* singles_ns) {
  const auto next_value = [this] {
    if (!content_.empty()) std::fill(content_.begin(), content_.end(), next_);
    return next_++;
  };
  for (std::size_t trip = 0; trip < trips.warm_up; ++trip) one_trip(side, next_value());
  // A round trip does not include the preparation of the next data, so with data each batch has one round trip.
  const std::size_t most = content_.empty() ? most_batch_trips : 1;
  std::vector<double> batches_ns;
  for (std::size_t done = 0; done < trips.in_batches;) {
    const std::size_t count = std::min(most, trips.in_batches - done);
    const std::uint32_t value = next_value();
    const std::uint64_t begin = clock.now();
    one_trip(side, value);
    for (std::size_t trip = 1; trip < count; ++trip) one_trip(side, next_++);
    batches_ns.push_back(clock.ns(clock.now() - begin) / static_cast<double>(count));
    done += count;
  }
  for (std::size_t trip = 0; trip < trips.single; ++trip) {
    const std::uint32_t value = next_value();
    const std::uint64_t begin = clock.now();
    one_trip(side, value);
    singles_ns->push_back(clock.ns(clock.now() - begin));
  }
  return median(std::move(batches_ns));
}

template <class Side>
void PingPongMatch::play_gpu_first(Side side, std::size_t count) {
  for (std::size_t round = 0; round < count; ++round) {
    const std::uint32_t value = next_++;
    wait_for_pong(side, value);
    if (!content_.empty()) {
      side.read_data(content_.data());
      check_data(value, content_);
    }
    side.write_ping(value);
  }
}

void PingPongMatch::check_data(std::uint32_t value, const std::vector<std::uint32_t>& seen) {
  wrong_words_ += seen.size() - static_cast<std::size_t>(std::count(seen.begin(), seen.end(), value));
}

double PingPongMatch::end(std::size_t rounds) {
  cli::demand(device_->synchronize(stream_));
  is_playing_ = false;
  platform::PingPongState state{};
  cli::demand(device_->copy_to_host(&state, parameters_.state, sizeof state));
  const std::size_t wrong = state.mismatches + wrong_words_;
  if (wrong != 0) {
    cli::fail(cli::format("the data are wrong: %zu of %zu words differ from those that were written before the flag",
                          wrong, rounds * content_.size()));
  }
  return static_cast<double>(state.elapsed_ns) / static_cast<double>(rounds);
}

double PingPongMatch::play(Way way, std::size_t warm_up, std::size_t count, const Clock& clock,
                           std::vector<double>* singles_ns) {
  measure::RawKind kind{};
  const bool needs_raw_loops = way == Way::raw && words_.data_bytes != 0 && words_.is_data_mapped;
  if (needs_raw_loops && !measure::widest_raw_kind(&kind)) {
    cli::cannot_run("cannot copy data with --raw: this CPU supports none of SSE4.1, AVX2 and AVX-512");
  }
  const Trips trips{warm_up, count, singles_ns == nullptr || request_.is_gpu_first ? 0 : count};
  const std::size_t rounds = trips.warm_up + trips.in_batches + trips.single;
  launch(rounds);
  if (request_.is_gpu_first) {
    if (way == Way::raw) {
      play_gpu_first(RawSide{words_, kind}, rounds);
    } else {
      play_gpu_first(MappingSide{words_}, rounds);
    }
    return end(rounds);
  }
  const double middle = way == Way::raw ? play_cpu_first(RawSide{words_, kind}, trips, clock, singles_ns)
                                        : play_cpu_first(MappingSide{words_}, trips, clock, singles_ns);
  (void)end(rounds);
  return middle;
}

}  // namespace gdrkit::measure::pplat
