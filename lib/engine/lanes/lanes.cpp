// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The engine lanes: a large copy cut into chunks, which the completing thread and a few helper threads take one by one:
// through the mapping to the device, through pinned memory of each thread's own from the device.
#include <sched.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <new>
#include <thread>
#include <vector>

#include "base/blocked_signals.hpp"
#include "base/cpu_set.hpp"
#include "engine/copy_engine/channel.hpp"
#include "engine/engine.hpp"
#include "engine/gpu.hpp"

namespace gdrkit::engine {
namespace lanes {
namespace {

using copy_engine::Channel;

constexpr unsigned most_jobs = 8;
constexpr unsigned most_lanes = 4;  // measured on an H200: 2 take 1.5 times as long from the device, 6 gain 5 to 10 %
constexpr std::size_t smallest_chunk = std::size_t{64} * 1024;
constexpr std::size_t largest_chunk = copy_engine::piece_bytes;
constexpr std::chrono::microseconds awake_after_work{50};

/// One copy. Chunks are claimed by `next`; a helper counts in `helpers` while it may touch the copy's memory.
struct Job {
  bool is_taken = false;  ///< these two under the engine's mutex
  bool is_open = false;   ///< helpers may join
  Copy copy;
  std::size_t chunk_bytes = 0;
  unsigned chunks = 0;
  std::atomic<unsigned> next{0};
  std::atomic<unsigned> helpers{0};
  std::mutex failing;
  base::Status outcome;
  std::unique_ptr<Channel> channel;  ///< of the thread that completes it

  [[nodiscard]] std::size_t begin_of(unsigned chunk) const noexcept {
    if (chunk == 0) return 0;
    return std::min(copy.size_bytes, chunk * chunk_bytes - copy.device % 64);  // no line belongs to two threads
  }
  void fail(base::Status failed) noexcept {
    const std::lock_guard lock(failing);
    base::keep_first(outcome, std::move(failed));
    next.store(chunks, std::memory_order_relaxed);
  }
};

base::Status move_chunk(const Copy& copy, std::size_t begin, std::size_t end, Channel& channel) noexcept {
  const Copy chunk = copy.part(begin, end - begin);
  if (copy.direction == Direction::to_device) {
    copy_by_cpu(*copy.copier, copy.direction, chunk.mapped, chunk.host, chunk.size_bytes);
    return {};
  }
  if (base::Status started = channel.start(chunk); !started) return started;
  return channel.finish();
}

void work_on(Job& job, Channel& channel) noexcept {
  for (;;) {
    const unsigned chunk = job.next.fetch_add(1, std::memory_order_relaxed);
    if (chunk >= job.chunks) return;
    base::Status moved = move_chunk(job.copy, job.begin_of(chunk), job.begin_of(chunk + 1), channel);
    if (!moved) job.fail(std::move(moved));
  }
}

class Lanes final : public Engine {
 public:
  explicit Lanes(Gpu& gpu) noexcept : gpu_(gpu) {}
  ~Lanes() override;

  [[nodiscard]] const Traits& traits() const noexcept override {
    static constexpr Traits own = {SIZE_MAX, SIZE_MAX, most_jobs};
    return own;
  }
  [[nodiscard]] base::Result<Ticket> submit(const Copy& copy) noexcept override;
  [[nodiscard]] base::Status complete(Ticket ticket) noexcept override;
  [[nodiscard]] bool is_done(Ticket ticket) const noexcept override {
    const Job& job = jobs_[ticket];
    return helpers_.empty() || !job.is_open || (job.next.load() >= job.chunks && job.helpers.load() == 0);
  }
  [[nodiscard]] bool is_warm() const noexcept override { return awake_.load(std::memory_order_relaxed) != 0; }
  void warm_up() noexcept override {
    const std::lock_guard lock(mutex_);
    start_helpers();
    signals_.fetch_add(1, std::memory_order_release);
    changed_.notify_all();
  }

 private:
  void start_helpers() noexcept;
  void help() noexcept;
  Job* join() noexcept;
  void doze(unsigned seen) noexcept;

  Gpu& gpu_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::atomic<unsigned> signals_{0};  ///< grows when there is something to do
  std::atomic<unsigned> awake_{0};    ///< helpers that are not asleep
  bool is_started_ = false;           ///< from here on under the mutex
  bool is_ending_ = false;
  std::array<Job, most_jobs> jobs_;
  std::vector<std::thread> helpers_;
};

/// Fewer than requested, or none, is not an error: the completing thread performs the rest. They inherit the
/// CPUs that the calling thread may use, and take no signals of the program's.
void Lanes::start_helpers() noexcept {
  if (std::exchange(is_started_, true)) return;
  base::CpuSet usable;
  const int cpus = usable.read() == 0 ? usable.count() : 1;
  const base::BlockedSignals blocked;
  try {
    const unsigned lanes = std::min(most_lanes, static_cast<unsigned>(std::max(cpus, 1)));
    for (unsigned lane = 1; lane < lanes; ++lane) helpers_.emplace_back([this] { help(); });
  } catch (const std::exception&) {  // no more threads
  }
}

Lanes::~Lanes() {
  {
    const std::lock_guard lock(mutex_);
    is_ending_ = true;
    signals_.fetch_add(1, std::memory_order_release);
  }
  changed_.notify_all();
  for (std::thread& helper : helpers_) helper.join();
}

/// Waits until signals_ is no longer `seen`: for a while awake, then asleep.
void Lanes::doze(unsigned seen) noexcept {
  const auto begin = std::chrono::steady_clock::now();
  while (signals_.load(std::memory_order_acquire) == seen) {
    if (std::chrono::steady_clock::now() - begin < awake_after_work) continue;
    std::unique_lock lock(mutex_);
    awake_.fetch_sub(1, std::memory_order_relaxed);
    changed_.wait(lock, [&] { return signals_.load(std::memory_order_relaxed) != seen; });
    awake_.fetch_add(1, std::memory_order_relaxed);
    return;
  }
}

Job* Lanes::join() noexcept {
  const std::lock_guard lock(mutex_);
  for (Job& job : jobs_) {
    if (!job.is_open || job.next.load(std::memory_order_relaxed) >= job.chunks) continue;
    job.helpers.fetch_add(1, std::memory_order_relaxed);
    changed_.notify_one();  // each helper wakes the next, so that submit() pays for one alone
    return &job;
  }
  return nullptr;
}

void Lanes::help() noexcept {
  Channel channel(gpu_);
  awake_.fetch_add(1, std::memory_order_relaxed);
  for (;;) {
    const unsigned seen = signals_.load(std::memory_order_acquire);
    while (Job* const job = join()) {
      work_on(*job, channel);
      job->helpers.fetch_sub(1, std::memory_order_release);
    }
    {
      const std::lock_guard lock(mutex_);
      if (is_ending_) return;
    }
    doze(seen);
  }
}

base::Result<Ticket> Lanes::submit(const Copy& copy) noexcept {
  const std::lock_guard lock(mutex_);
  const auto job = std::find_if(jobs_.begin(), jobs_.end(), [](const Job& each) { return !each.is_taken; });
  if (job == jobs_.end())
    return base::fail(EAGAIN, "copy engine 'lanes' already has %u outstanding copies; finish a copy first", most_jobs);
  if (job->channel == nullptr) job->channel.reset(new (std::nothrow) Channel(gpu_));
  if (job->channel == nullptr) return base::fail_literal(ENOMEM, "out of memory while starting a copy");
  job->copy = copy;
  // From the device each chunk waits for a copy of its own; to the device a small one costs nothing.
  const std::size_t chunks_per_lane = copy.direction == Direction::to_device ? 4 : 1;
  const std::size_t share = (copy.size_bytes / (most_lanes * chunks_per_lane) + 4095) / 4096 * 4096;
  job->chunk_bytes = std::clamp(share, smallest_chunk, largest_chunk);
  job->chunks = static_cast<unsigned>((copy.size_bytes + copy.device % 64 + job->chunk_bytes - 1) / job->chunk_bytes);
  job->next.store(0, std::memory_order_relaxed);
  job->outcome = {};
  job->is_taken = true;
  job->is_open = job->chunks > 1;
  if (job->is_open) {
    start_helpers();
    signals_.fetch_add(1, std::memory_order_release);
    changed_.notify_one();
  }
  return static_cast<Ticket>(job - jobs_.begin());
}

base::Status Lanes::complete(Ticket ticket) noexcept {
  Job& job = jobs_[static_cast<std::size_t>(ticket)];
  work_on(job, *job.channel);
  {
    const std::lock_guard lock(mutex_);
    job.is_open = false;
  }
  while (job.helpers.load(std::memory_order_acquire) != 0) ::sched_yield();
  base::Status outcome = std::move(job.outcome);
  const std::lock_guard lock(mutex_);
  job.is_taken = false;
  return outcome;
}

}  // namespace
}  // namespace lanes

base::Result<std::unique_ptr<Engine>> open_lanes(const Place& place) noexcept {
  std::unique_ptr<Engine> engine(new (std::nothrow) lanes::Lanes(place.gpu));
  if (engine == nullptr) return base::fail_literal(ENOMEM, "out of memory while opening copy engine 'lanes'");
  return engine;
}

}  // namespace gdrkit::engine
