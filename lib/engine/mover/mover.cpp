// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The engine mover: a GPU kernel that stays on the GPU for a bounded time and performs the copies of command lines.
//
// No late write can reach memory that is reused. A command is written only while all blocks of one launch run, each
// launch has a bound, and complete() returns only when every block has performed the command or has ended.
#include <sched.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>
#include <new>
#include <thread>
#include <utility>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "backend/backend.hpp"
#include "copy/copier.hpp"
#include "cpu/features.hpp"
#include "cpu/ordering.hpp"
#include "engine/engine.hpp"
#include "engine/gpu.hpp"
#include "engine/mover/mover_code.hpp"
#include "engine/mover/resident_kernel.hpp"

namespace gdrkit::engine {
namespace mover {
namespace {

using Phase = ResidentKernel::Phase;
using Progress = ResidentKernel::Progress;

constexpr std::size_t staging_bytes = 65536;  // of each command, for ordinary host memory
constexpr std::size_t largest_bytes = std::size_t{4} << 20;
constexpr std::size_t unit_bytes = 16;
constexpr std::int64_t rest_after_failed_start_ns = 10'000'000;  // in an error message too
constexpr unsigned polls_at_full_speed = 512;                    // some 20 us; then the thread lets others run

/// The ring of command lines in device memory, written by the CPU through its own mapping of it. Not thread safe.
class CommandLines {
 public:
  [[nodiscard]] static base::Result<std::unique_ptr<CommandLines>> make(backend::Backend& backend,
                                                                        int device) noexcept {
    std::unique_ptr<CommandLines> lines(new (std::nothrow) CommandLines);
    if (lines == nullptr) return base::fail_literal(ENOMEM, "out of memory while opening copy engine 'mover'");
    if (base::Status mapped = lines->map(backend, device); !mapped) return base::pass(mapped);
    return lines;
  }
  CommandLines(const CommandLines&) = delete;
  CommandLines& operator=(const CommandLines&) = delete;

  [[nodiscard]] std::uint64_t device_address() const noexcept { return buffer_->address(); }
  /// Observers: the GPU kernel's blocks, which read the line until its pieces carry the tag. What this thread stored
  /// before, in host memory or through a mapping, is there when they see the tag: the store fence in front of the line
  /// orders the first, the bus the second. The line has left this CPU core on return.
  void write(std::uint32_t tag, const Command& command) noexcept {
    const Line line = encode(tag, command);
    cpu::flush_write_combining();
    copier_.to_device(lines_ + tag % ring_lines, &line, sizeof line);
  }

 private:
  CommandLines() = default;
  base::Status map(backend::Backend& backend, int device) noexcept;

  // In this order: the pin, and its mapping with it, ends before the memory.
  std::unique_ptr<backend::BackendBuffer> buffer_;
  std::unique_ptr<backend::BackendPin> pin_;
  Line* lines_ = nullptr;
  copy::Copier copier_;
};

base::Status CommandLines::map(backend::Backend& backend, int device) noexcept {
  constexpr std::size_t buffer_bytes = 65536;  // a GPU's page
  static constexpr Line empty_lines[ring_lines] = {};
  auto allocated = backend.allocate(device, buffer_bytes);
  if (!allocated) return base::pass(allocated);
  buffer_ = std::move(*allocated);
  if (base::Status cleared = buffer_->copy_from_host(0, empty_lines, sizeof empty_lines); !cleared) return cleared;
  backend::PinRequest request;
  request.address = buffer_->address();
  request.size_bytes = sizeof empty_lines;
  auto pinned = backend.pin(request);
  if (!pinned) return base::pass(pinned);
  pin_ = std::move(*pinned);
  const std::size_t offset = buffer_->address() - pin_->page_address();
  const auto region = pin_->map(offset + sizeof empty_lines, backend::MappingType::none);
  if (!region) return base::pass(region);
  const auto copier = copy::choose(cpu::detect(), region->type, nullptr);
  if (!copier) return base::pass(copier);
  copier_ = *copier;
  lines_ = reinterpret_cast<Line*>(static_cast<char*>(region->address) + offset);
  return {};
}

class Mover final : public Engine {
 public:
  explicit Mover(const Place& place) noexcept : limits_(place.residence), gpu_(place.gpu) {}
  ~Mover() override;
  base::Status open(const Place& place) noexcept;

  [[nodiscard]] const Traits& traits() const noexcept override {
    static constexpr Traits own = {largest_bytes, staging_bytes, ring_lines};
    return own;
  }
  [[nodiscard]] base::Result<Ticket> submit(const Copy& copy) noexcept override { return submit_to(copy, false); }
  [[nodiscard]] base::Result<Ticket> submit_if_warm(const Copy& copy) noexcept override {
    return submit_to(copy, true);
  }
  [[nodiscard]] base::Status complete(Ticket ticket) noexcept override;
  [[nodiscard]] bool is_done(Ticket ticket) const noexcept override {
    return kernel_->progress(static_cast<std::uint32_t>(ticket >> 32), static_cast<std::uint32_t>(ticket)) !=
           Progress::waiting;
  }
  [[nodiscard]] bool is_warm() const noexcept override {
    return kernel_->phase() == Phase::running && !is_about_to_end(now_ns());
  }
  void warm_up() noexcept override;

 private:
  /// A copy from submit() to complete(), and the part of the staging memory that is its own.
  struct Outstanding {
    std::atomic<bool> is_taken{false};
    bool is_staged = false;
    std::atomic<std::uint32_t> tag{0};
    Copy copy;
  };

  [[nodiscard]] bool is_about_to_end(std::int64_t now) const noexcept {
    const std::int64_t launched = launched_ns_.load(std::memory_order_relaxed);
    const std::int64_t used = std::max(launched, last_command_ns_.load(std::memory_order_relaxed));
    return now - used > limits_.idle.count() / 4 * 3 || now - launched > limits_.busy.count() / 8 * 7;
  }
  base::Status check(const Copy& copy, bool* is_staged) const noexcept;
  base::Status start() noexcept;
  base::Status wait_until_running(std::int64_t begin) noexcept;
  base::Result<Ticket> submit_to(const Copy& copy, bool is_warm_one) noexcept;
  void stop() noexcept;
  [[nodiscard]] bool is_line_free() const noexcept {
    return kernel_->progress(kernel_->launch_number(), next_tag_ - ring_lines) != Progress::waiting;
  }
  [[nodiscard]] Command command_of(const Outstanding& slot) const noexcept;
  [[nodiscard]] std::size_t staging_offset(const Outstanding& slot) const noexcept {
    const auto index = static_cast<std::size_t>(&slot - outstanding_.data());
    return index * (staging_bytes + unit_bytes) + slot.copy.device % unit_bytes;
  }
  base::Status wait_for(std::uint32_t launch, std::uint32_t tag) noexcept;

  const ResidenceLimits limits_;
  Gpu& gpu_;
  std::unique_ptr<CommandLines> lines_;
  PinnedMemory staging_;
  std::unique_ptr<ResidentKernel> kernel_;

  std::mutex mutex_;  ///< guards what follows, the launches and the lines; never held while a copy is waited for
  std::uint32_t next_tag_ = 1;
  std::int64_t rest_until_ns_ = 0;
  std::atomic<std::int64_t> launched_ns_{0};
  std::atomic<std::int64_t> last_command_ns_{0};
  std::atomic<bool> is_lost_{false};
  std::array<Outstanding, ring_lines> outstanding_;
};

base::Status Mover::open(const Place& place) noexcept {
  auto kernel = ResidentKernel::open(gpu_, limits_);
  if (!kernel) return base::pass(kernel);
  auto lines = CommandLines::make(place.backend, gpu_.device());
  if (!lines) return base::pass(lines);
  const auto scope = gpu_.enter();
  if (!scope) return base::pass(scope);
  auto staging = PinnedMemory::make(gpu_, ring_lines * (staging_bytes + unit_bytes));
  if (!staging) return base::pass(staging);
  kernel_ = std::move(*kernel);
  lines_ = std::move(*lines);
  staging_ = std::move(*staging);
  return {};
}

Mover::~Mover() {
  if (kernel_ == nullptr) return;
  if (!is_lost_.load()) {
    stop();
    return;
  }
  kernel_->abandon();
  staging_.leak();
  static std::atomic<CommandLines*> kept;  // its memory could not be freed while the GPU kernel runs
  kept.store(lines_.release());
}

base::Status Mover::check(const Copy& copy, bool* is_staged) const noexcept {
  const auto host = reinterpret_cast<std::uint64_t>(copy.host);
  const bool is_ordinary = copy.host_memory == HostMemory::ordinary;
  const bool is_congruent = (host ^ copy.device) % unit_bytes == 0;
  *is_staged = is_ordinary || (!is_congruent && copy.size_bytes <= staging_bytes);
  const std::size_t limit = is_ordinary ? staging_bytes : largest_bytes;
  if (copy.size_bytes == 0 || copy.size_bytes > limit) {
    return base::fail(EINVAL, "cannot copy %zu bytes with copy engine 'mover': the size must be from 1 to %zu bytes",
                      copy.size_bytes, limit);
  }
  if (*is_staged || is_congruent) return {};
  return base::fail(EOPNOTSUPP,
                    "cannot copy between 0x%llx and 0x%llx with copy engine 'mover': the addresses differ modulo 16; "
                    "use copy engine 'copy_engine'",
                    static_cast<unsigned long long>(copy.device), static_cast<unsigned long long>(host));
}

void Mover::stop() noexcept {
  const Phase phase = kernel_->phase();
  if (phase == Phase::none || phase == Phase::ended) return;
  // A line that a command still waits in is not overwritten: the GPU kernel then ends by its own bound.
  if (!is_line_free()) return;
  lines_->write(next_tag_++, Command{});
}

/// Launches the GPU kernel unless a launch has not begun to run yet. The launch before may still run: it is stopped,
/// and the new one is behind it in its stream.
base::Status Mover::start() noexcept {
  const Phase phase = kernel_->phase();
  if (phase == Phase::starting) return {};
  if (phase == Phase::running || phase == Phase::ending) stop();
  base::Status launched = kernel_->launch(lines_->device_address(), next_tag_);
  if (launched) launched_ns_.store(now_ns(), std::memory_order_relaxed);
  return launched;
}

base::Status Mover::wait_until_running(std::int64_t begin) noexcept {
  if (begin < rest_until_ns_) {
    return base::fail_literal(
        EAGAIN,
        "cannot start the GPU kernel of copy engine 'mover': a launch failed or timed out less than 10 "
        "ms ago; retry later or use copy engine 'copy_engine'");
  }
  bool is_fresh = !is_about_to_end(begin);
  for (;;) {
    const Phase phase = kernel_->phase();
    if (phase == Phase::running && is_fresh) return {};
    if (phase != Phase::starting) {
      if (base::Status started = start(); !started) return started;
      is_fresh = true;
    }
    if (now_ns() - begin > limits_.start.count()) {
      rest_until_ns_ = now_ns() + rest_after_failed_start_ns;
      if (base::Status alive = kernel_->check_gpu(); !alive) return alive;
      return base::fail(
          EAGAIN,
          "cannot start the GPU kernel of copy engine 'mover' within %lld us: the GPU may be busy; retry later or "
          "use copy engine 'copy_engine'",
          static_cast<long long>(limits_.start.count() / 1000));
    }
    ::sched_yield();
  }
}

void Mover::warm_up() noexcept {
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock.owns_lock() || is_lost_.load() || now_ns() < rest_until_ns_) return;
  if (is_warm()) return;
  if (base::Status started = start(); !started) rest_until_ns_ = now_ns() + rest_after_failed_start_ns;
}

Command Mover::command_of(const Outstanding& slot) const noexcept {
  const Copy& copy = slot.copy;
  const std::uint64_t host =
      slot.is_staged ? staging_.device_address() + staging_offset(slot) : reinterpret_cast<std::uint64_t>(copy.host);
  const auto size = static_cast<std::uint32_t>(copy.size_bytes);
  if (copy.direction == Direction::from_device) return {Kind::from_device, size, copy.device, host};
  return {Kind::to_device, size, host, copy.device};
}

base::Result<Ticket> Mover::submit_to(const Copy& copy, bool is_warm_one) noexcept {
  bool is_staged = false;
  if (base::Status possible = check(copy, &is_staged); !possible) return base::pass(possible);
  const std::lock_guard lock(mutex_);
  if (is_lost_.load())
    return base::fail_literal(
        EIO, "cannot use copy engine 'mover': the GPU stopped responding during an earlier copy; restart the process");
  const std::int64_t now = now_ns();  // the clock costs as much as the rest of a short copy's way to the GPU
  if (kernel_->phase() != Phase::running || is_about_to_end(now)) {
    if (is_warm_one)
      return base::fail_literal(
          EAGAIN,
          "cannot start the copy immediately: the GPU kernel of copy engine 'mover' is not running; retry later");
    if (base::Status running = wait_until_running(now); !running) return base::pass(running);
  }
  Outstanding* const slot = std::find_if(outstanding_.begin(), outstanding_.end(), [](const Outstanding& each) {
    return !each.is_taken.load(std::memory_order_acquire);
  });
  if (slot == outstanding_.end() || !is_line_free()) {
    return base::fail(EAGAIN, "copy engine 'mover' already has %u outstanding copies; finish a copy first", ring_lines);
  }
  slot->copy = copy;
  slot->is_staged = is_staged;
  slot->tag = next_tag_++;
  if (is_staged && copy.direction == Direction::to_device) {
    std::memcpy(staging_.bytes() + staging_offset(*slot), copy.host, copy.size_bytes);
  }
  kernel_->note_command(slot->tag);
  lines_->write(slot->tag, command_of(*slot));
  slot->is_taken.store(true, std::memory_order_release);
  last_command_ns_.store(now, std::memory_order_relaxed);
  return Ticket{kernel_->launch_number()} << 32 | slot->tag;
}

base::Status Mover::wait_for(std::uint32_t launch, std::uint32_t tag) noexcept {
  const std::int64_t begin = now_ns();
  bool is_revoked = false;
  for (unsigned polls = 1;; ++polls) {
    switch (kernel_->progress(launch, tag)) {
      case Progress::done:
        // The GPU kernel idles from now on; after a short wait that is as good as since the command.
        if (polls >= polls_at_full_speed) last_command_ns_.store(now_ns(), std::memory_order_relaxed);
        return {};
      case Progress::lost:
        return base::fail_literal(EAGAIN,
                                  "cannot complete the copy: the GPU kernel of copy engine 'mover' ended before the "
                                  "copy was complete; submit the copy again");
      case Progress::waiting: break;
    }
#if defined(__x86_64__)
    _mm_pause();
#endif
    if (polls < polls_at_full_speed) continue;
    if (is_revoked) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    } else {
      ::sched_yield();
      if (polls % 64 != 0) continue;
    }
    const std::int64_t waited = now_ns() - begin;
    if (waited < limits_.response.count()) continue;
    if (base::Status alive = kernel_->check_gpu(); !alive) return alive;
    if (!is_revoked) {
      is_revoked = true;
      const std::lock_guard lock(mutex_);
      if (kernel_->launch_number() == launch) stop();
    }
    if (waited < limits_.response.count() + limits_.end.count()) continue;
    is_lost_.store(true);
    return base::fail(
        ETIMEDOUT,
        "cannot complete a copy with copy engine 'mover': the GPU has not responded for %lld ms; do not reuse the "
        "source or target of the copy, and end the process",
        static_cast<long long>(waited / 1000000));
  }
}

base::Status Mover::complete(Ticket ticket) noexcept {
  const auto tag = static_cast<std::uint32_t>(ticket);
  Outstanding& slot = *std::find_if(outstanding_.begin(), outstanding_.end(), [tag](const Outstanding& each) {
    return each.is_taken.load(std::memory_order_acquire) && each.tag == tag;
  });
  base::Status waited = wait_for(static_cast<std::uint32_t>(ticket >> 32), tag);
  if (waited && slot.is_staged && slot.copy.direction == Direction::from_device) {
    std::memcpy(slot.copy.host, staging_.bytes() + staging_offset(slot), slot.copy.size_bytes);
  }
  // The GPU may still write there: this part of the staging memory is not reused.
  if (!is_lost_.load()) slot.is_taken.store(false, std::memory_order_release);
  return waited;
}

}  // namespace
}  // namespace mover

base::Result<std::unique_ptr<Engine>> open_mover(const Place& place) noexcept {
  std::unique_ptr<mover::Mover> engine(new (std::nothrow) mover::Mover(place));
  if (engine == nullptr) return base::fail_literal(ENOMEM, "out of memory while opening copy engine 'mover'");
  if (base::Status opened = engine->open(place); !opened) return base::pass(opened);
  return std::unique_ptr<Engine>(std::move(engine));
}

}  // namespace gdrkit::engine
