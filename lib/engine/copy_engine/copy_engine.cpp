// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The engine copy_engine: CUDA's asynchronous copies, each on a stream of its own.
#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <new>

#include "engine/copy_engine/channel.hpp"
#include "engine/engine.hpp"
#include "engine/gpu.hpp"

namespace gdrkit::engine {
namespace {

constexpr unsigned most_channels = 16;

class CopyEngine final : public Engine {
 public:
  explicit CopyEngine(Gpu& gpu) noexcept : gpu_(gpu) {}
  [[nodiscard]] const Traits& traits() const noexcept override {
    static constexpr Traits own = {SIZE_MAX, SIZE_MAX, most_channels};
    return own;
  }

  [[nodiscard]] base::Result<Ticket> submit(const Copy& copy) noexcept override {
    const base::Result<unsigned> taken = take();
    if (!taken) return base::pass(taken);
    base::Status started = channels_[*taken]->start(copy);
    if (started) return Ticket{*taken};
    release(*taken);
    return base::pass(started);
  }

  [[nodiscard]] base::Status complete(Ticket ticket) noexcept override {
    const auto channel = static_cast<unsigned>(ticket);
    base::Status finished = channels_[channel]->finish();
    release(channel);
    return finished;
  }

  [[nodiscard]] bool is_done(Ticket ticket) const noexcept override { return channels_[ticket]->is_idle(); }

 private:
  base::Result<unsigned> take() noexcept {
    const std::lock_guard lock(mutex_);
    for (unsigned channel = 0; channel < most_channels; ++channel) {
      if ((taken_ >> channel & 1) != 0) continue;
      if (channels_[channel] == nullptr) channels_[channel].reset(new (std::nothrow) copy_engine::Channel(gpu_));
      if (channels_[channel] == nullptr) return base::fail_literal(ENOMEM, "out of memory while starting a copy");
      taken_ |= 1u << channel;
      return channel;
    }
    return base::fail(EAGAIN, "copy engine 'copy_engine' already has %u outstanding copies; finish a copy first",
                      most_channels);
  }
  void release(unsigned channel) noexcept {
    const std::lock_guard lock(mutex_);
    taken_ &= ~(1u << channel);
  }

  Gpu& gpu_;
  std::mutex mutex_;  ///< guards taken_ and the making of channels
  unsigned taken_ = 0;
  std::array<std::unique_ptr<copy_engine::Channel>, most_channels> channels_;
};

}  // namespace

base::Result<std::unique_ptr<Engine>> open_copy_engine(const Place& place) noexcept {
  std::unique_ptr<Engine> engine(new (std::nothrow) CopyEngine(place.gpu));
  if (engine == nullptr) return base::fail_literal(ENOMEM, "out of memory while opening copy engine 'copy_engine'");
  return engine;
}

}  // namespace gdrkit::engine
